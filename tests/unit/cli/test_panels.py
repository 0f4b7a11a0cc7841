from io import StringIO

import pytest
from google.protobuf.json_format import ParseDict
from rich.console import Console

from clausegate.answer.v1.query_service_pb2 import QueryResponse
from cli.panels import Asked, response_panel

TEXT = "4.2 Fees. Each Subscriber shall pay USD 95.00 a month. Interest accrues later."
QUOTE = "Each Subscriber shall pay USD 95.00 a month."
START = 100 + TEXT.index(QUOTE)
CLAUSE = {
    "document": "northgate/fees.pdf",
    "documentLabel": "Fee Schedule · Northgate",
    "section": "4.2 Fees",
    "page": 3,
    "lastPage": 4,
    "text": TEXT,
    "span": {"start": 100, "end": 100 + len(TEXT)},
    "quoted": [{"start": START, "end": START + len(QUOTE)}],
    "grade": 3,
    "probability": 0.91,
}
ANSWER = {
    "outcome": "OUTCOME_ANSWERED",
    "statements": [{"text": QUOTE, "sourcePrefixes": ["NORTHGATE"], "citationNumbers": [1]}],
    "citations": [
        {
            "number": 1,
            "document": "northgate/fees.pdf",
            "documentLabel": "Fee Schedule · Northgate",
            "section": "4.2 Fees",
            "page": 3,
            "lastPage": 3,
            "quote": QUOTE,
        },
        {
            "number": 2,
            "document": "northgate/terms.txt",
            "title": "Terms of Use",
            "section": "Definitions",
            "quote": "Subscriber means you.",
        },
    ],
    "supportingClauses": [CLAUSE],
    "definitions": [{"term": "Subscriber", "citationNumber": 2, "depth": 1}],
    "notes": [{"text": "Clause 9 is referred to.", "citationNumbers": [1]}],
    "metadata": {"model": "extractive", "grader": "local", "contextTokens": 1234, "latency": "0.043s"},
}
REFUSAL = {
    "outcome": "OUTCOME_REFUSED",
    "refusal": {
        "reason": "REFUSAL_REASON_CONFIDENCE_TOO_LOW",
        "message": "This is not addressed in the provided NORTHGATE documents.",
        "missing": "Nothing is said about parking.",
        "gate": {
            "tier": "GATE_TIER_GRADED",
            "rule": "GATE_RULE_BELOW_THRESHOLD",
            "topScore": 0.12,
            "threshold": 0.2,
        },
        "nearestClauses": [{**CLAUSE, "quoted": [], "grade": 1}],
        "absence": {
            "documentsSearched": 12,
            "pagesSearched": 1430,
            "unreadablePages": 2,
            "termHits": [{"term": "parking", "chunks": 0}],
        },
    },
}


def shown(response, *, width=120, sources=("northgate",), full=True):
    console = Console(file=StringIO(), width=width, height=100, force_terminal=True, color_system=None)
    asked = Asked("What is the fee?", sources, full)
    console.print(response_panel(ParseDict(response, QueryResponse()), asked))
    return console.file.getvalue()


@pytest.mark.parametrize(
    "part",
    [
        "Answer · NORTHGATE",
        f"[NORTHGATE] {QUOTE} [1]",
        "Fee Schedule · Northgate › 4.2 Fees · pages 3–4",
        "speaks to the question",
        "[1] Fee Schedule · Northgate › 4.2 Fees · page 3",
        "[2] Terms of Use › Definitions",
        "Subscriber means you.",
        "Clause 9 is referred to. [1]",
        "extractive · local grading · 1,234 tokens · 43 ms",
    ],
)
def test_an_answer_shows(part):
    assert part in shown(ANSWER)


@pytest.mark.parametrize(
    "part",
    [
        "Not addressed · NORTHGATE",
        "This is not addressed in the provided NORTHGATE documents.",
        "Nothing is said about parking.",
        "no clause reaches the threshold: best score 0.120, needed 0.200",
        "not calibrated for this embedding model",
        "touches on the question",
        "12 documents, 1,430 pages, 2 pages without readable text",
        "parking 0",
    ],
)
def test_a_refusal_shows(part):
    assert part in shown(REFUSAL)


def test_each_of_several_documents_has_its_statements_below_its_title():
    related = {"text": "Fees may change.", "citationNumbers": [2], "possiblyRelated": True}
    documents = [
        {"documentId": "a/b", "label": "Lease", "outcome": "OUTCOME_ANSWERED", "statementNumbers": [1]},
        {"documentId": "a/c", "label": "Note", "outcome": "OUTCOME_RELATED", "statementNumbers": [2]},
        {"documentId": "a/d", "label": "Deed", "outcome": "OUTCOME_REFUSED"},
    ]
    statements = [*ANSWER["statements"], related]
    panel = shown({**ANSWER, "statements": statements, "documents": documents})
    places = [
        panel.index(text)
        for text in (
            "Answer · Lease",
            QUOTE,
            "Possibly related · Note",
            "Fees may change.",
            "Not addressed · Deed",
            "a/d",
        )
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("response", [ANSWER, REFUSAL])
@pytest.mark.parametrize("full", [True, False])
def test_a_panel_keeps_its_width(response, width, full):
    assert {len(line) for line in shown(response, width=width, full=full).splitlines()} == {width}


QUOTED = {**ANSWER["citations"][0], "parts": [{"span": CLAUSE["quoted"][0], "text": QUOTE}]}


@pytest.mark.parametrize(
    "part",
    [
        "─ Answer · NORTHGATE ─",
        "[1] Fee Schedule · Northgate › 4.2 Fees · page 3",
        f"▌ 4.2 Fees. {QUOTE} Interest accrues later.",
        "! Clause 9 is referred to. [1]",
        "1 supporting clause, 1 definition: --full",
    ],
)
def test_a_short_answer_shows(part):
    assert part in shown({**ANSWER, "citations": [QUOTED, ANSWER["citations"][1]]}, full=False)


def test_a_short_answer_folds_definitions_grades_and_further_notes():
    notes = [{"text": f"See Section {n}."} for n in range(1, 9)]
    panel = shown({**ANSWER, "notes": notes}, full=False)
    assert "Subscriber means you." not in panel
    assert "grade 3" not in panel
    assert "See Section 5." in panel
    assert "See Section 6." not in panel
    assert "and 3 more" in panel
    assert "1 supporting clause, 1 definition, 3 notes: --full" in panel


def test_a_short_answer_shows_only_the_quote_where_what_governs_it_stands_elsewhere():
    clause = {**CLAUSE, "contextBefore": [{"text": "You shall not:"}]}
    panel = shown({**ANSWER, "citations": [QUOTED], "supportingClauses": [clause]}, full=False)
    assert f"▌ {QUOTE} " in panel
    assert "Interest accrues later." not in panel


def test_a_short_refusal_shows_where_the_nearest_clauses_stand_and_what_was_searched():
    panel = shown(REFUSAL, full=False)
    assert "Nothing is said about parking." in panel
    assert "Fee Schedule · Northgate › 4.2 Fees · pages 3–4" in panel
    assert "12 documents, 1,430 pages, 2 pages without readable text" in panel
    assert QUOTE not in panel
    assert "why, and the words of the clauses: --full" in panel


def test_what_models_did_is_in_the_footer_and_in_notes():
    usage = [{"model": "gpt-4.1", "calls": 2, "promptTokens": 7000, "completionTokens": 90, "priced": True}]
    metadata = {"model": "gpt-4.1", "grader": "gpt-4.1", "latency": "2s", "droppedStatements": 1}
    panel = shown({**ANSWER, "usage": usage, "metadata": metadata})
    assert "0 tokens · 2 calls, 7,000 tokens sent, 90 received, $0.0000 · 2,000 ms" in panel
    assert "! 1 quote of the model left out" in panel


def test_a_refusal_says_too_what_went_wrong_with_the_model():
    metadata = {"model": "gpt-4.1", "grader": "local", "gradingFailure": "CONTRACT_FAILED"}
    assert "! the model's grading failed (CONTRACT_FAILED)" in shown({**REFUSAL, "metadata": metadata})


@pytest.mark.parametrize(
    ("reason", "gate", "why"),
    [
        (
            "CONFIDENCE_TOO_LOW",
            {"rule": "GATE_RULE_PASSED"},
            "a model that was shown the best clauses declined",
        ),
        (
            "EMPTY_CONTEXT_AFTER_BUDGET",
            {"rule": "GATE_RULE_PASSED"},
            "no relevant clause fits the token budget",
        ),
        ("VALIDATION_FAILED", {"rule": "GATE_RULE_PASSED"}, "no statement kept its quotes"),
        (
            "CONFIDENCE_TOO_LOW",
            {"rule": "GATE_RULE_TOO_FEW_CHUNKS", "chunksAboveThreshold": 1, "minChunksRequired": 3},
            "too few clauses reach the threshold, 1 of 3",
        ),
    ],
    ids=["declined", "budget", "verification", "too few"],
)
def test_a_refusal_says_what_refused(reason, gate, why):
    refusal = {**REFUSAL["refusal"], "reason": f"REFUSAL_REASON_{reason}", "gate": gate}
    assert why in shown({"refusal": refusal})


def test_no_asked_source_means_all():
    assert "Answer · all sources" in shown(ANSWER, sources=())


def test_sections_without_content_are_left_out():
    assert "Notes" not in shown({**ANSWER, "notes": []})


def test_words_of_documents_are_never_markup():
    note = {"text": "see [bold]Clause 9[/bold]"}

    assert "see [bold]Clause 9[/bold]" in shown({**ANSWER, "notes": [note]})


def test_an_answer_on_weak_evidence_alone_is_titled_as_possibly_related():
    weak = {**ANSWER["statements"][0], "possiblyRelated": True}
    related = {**ANSWER, "outcome": "OUTCOME_RELATED", "statements": [weak]}
    assert "─ Possibly related · NORTHGATE ─" in shown(related)
    assert "─ Answer · NORTHGATE ─" in shown(ANSWER)


def test_a_doubtful_statement_among_others_stands_apart_from_the_answer():
    doubtful = {**ANSWER["statements"][0], "text": "Doubtful words.", "possiblyRelated": True}
    text = shown({**ANSWER, "statements": [*ANSWER["statements"], doubtful]})
    assert "─ Answer · NORTHGATE ─" in text
    assert text.index("Answer ─") < text.index("Possibly related ─") < text.index("Doubtful words.")


def test_a_clause_is_shown_with_what_governs_it_from_elsewhere():
    clause = {
        **CLAUSE,
        "contextBefore": [{"text": "You shall not:"}],
        "contextAfter": [{"text": "unless asked."}],
    }
    text = shown({**ANSWER, "supportingClauses": [clause]})
    assert "You shall not: …" in text
    assert "… unless asked." in text


MARK = {"start": QUOTE.index("USD"), "end": QUOTE.index(".", QUOTE.index("95.00") + 3)}


@pytest.mark.parametrize("full", [True, False])
def test_a_summary_stands_above_the_quotes_as_the_models_words(full):
    sentence = {"text": "USD 95.00 a month.", "citationNumbers": [1]}
    panel = shown({**ANSWER, "summary": [sentence]}, full=full)
    heading, words = (
        panel.index("In the model's words (the quotes decide)"),
        panel.index("USD 95.00 a month. [1]"),
    )
    assert heading < words < panel.index(QUOTE)


@pytest.mark.parametrize("full", [True, False])
def test_the_words_that_answer_stand_first_where_there_is_no_summary(full):
    marked = {**ANSWER["citations"][0], "highlights": [MARK]}
    answer = {**ANSWER, "citations": [marked, ANSWER["citations"][1]]}
    assert "USD 95.00 a month [1]" in shown(answer, full=full).partition(QUOTE)[0]
    summed = {**answer, "summary": [{"text": "It costs USD 95.00.", "citationNumbers": [1]}]}
    assert "USD 95.00 a month [1]" not in shown(summed, full=full)


def test_what_is_only_related_has_no_headline():
    related = [{**ANSWER["statements"][0], "possiblyRelated": True}]
    marked = [{**ANSWER["citations"][0], "highlights": [MARK]}]
    panel = shown({"statements": related, "citations": marked, "outcome": "OUTCOME_RELATED"})
    assert "USD 95.00 a month [1]" not in panel
