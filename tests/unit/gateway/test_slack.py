import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from chassis.errors import Exhausted, Unauthenticated
from clausegate.answer.v1.answer_pb2 import (
    AbsenceEvidence,
    DocumentAnswer,
    Note,
    NoteKind,
    Outcome,
    Refusal,
    Statement,
    SummarySentence,
    SupportingClause,
    TermHits,
)
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.citation_pb2 import Citation, QuotePart
from clausegate.corpus.v1.span_pb2 import Span
from gateway.slack import signature
from gateway.slack.blocks import Section, fitted, foreign, line, units
from gateway.slack.command import Question, parse_question
from gateway.slack.files import SlackFileBroken, SlackFiles
from gateway.slack.message import answer_message
from gateway.slack.signature import SeenRequests, check_signature, signature_of
from tests.fakes.slack import refused, texts

# The example in Slack's own documentation of its signatures.
EXAMPLE_SECRET = b"8f742231b10e8888abcd99yyyzzz85a5"
EXAMPLE_TIMESTAMP = "1531420618"
EXAMPLE_BODY = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
    b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
    b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554"
    b"%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
EXAMPLE_SIGNATURE = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"


def test_slacks_own_example_has_its_signature():
    assert signature_of(EXAMPLE_SECRET, EXAMPLE_TIMESTAMP, EXAMPLE_BODY) == EXAMPLE_SIGNATURE


@pytest.mark.parametrize("age", [-300, 0, 300])
def test_a_signature_counts_for_five_minutes_either_way(age):
    headers = Headers(
        {"X-Slack-Request-Timestamp": EXAMPLE_TIMESTAMP, "X-Slack-Signature": EXAMPLE_SIGNATURE}
    )
    check_signature(headers, EXAMPLE_BODY, [b"older", EXAMPLE_SECRET], int(EXAMPLE_TIMESTAMP) + age)


@pytest.mark.parametrize("age", [-301, 301])
def test_a_signature_counts_no_longer_than_that(age):
    headers = Headers(
        {"X-Slack-Request-Timestamp": EXAMPLE_TIMESTAMP, "X-Slack-Signature": EXAMPLE_SIGNATURE}
    )
    with pytest.raises(Unauthenticated):
        check_signature(headers, EXAMPLE_BODY, [EXAMPLE_SECRET], int(EXAMPLE_TIMESTAMP) + age)


def test_a_body_is_remembered_as_long_as_its_signature_can_count():
    now = 0.0
    seen = SeenRequests(lambda: now)
    assert seen.first_time(b"one")
    now = 599.0
    assert not seen.first_time(b"one")
    now = 600.0
    assert seen.first_time(b"one")


def test_more_bodies_than_fit_are_refused_until_the_oldest_are_forgotten():
    now = 0.0
    seen = SeenRequests(lambda: now)
    assert all(seen.first_time(b"%d" % number) for number in range(signature.MAX_REMEMBERED))
    with pytest.raises(Exhausted):
        seen.first_time(b"one more")
    now = 600.0
    assert seen.first_time(b"one more")


QUESTIONS = {
    "May I?": Question("May I?"),
    "in:cme May I?": Question("May I?", ("cme",)),
    "May I? in:cme,opra": Question("May I?", ("cme", "opra")),
    "in:cme in:opra,cme  May  I?\nOr not?": Question("May  I?\nOr not?", ("cme", "opra")),
    "to:channel May I? in:cme": Question("May I?", ("cme",), to_channel=True),
    "show:all May I? in:cme": Question("May I?", ("cme",), show_all=True),
    "May I show:all of it?": Question("May I show:all of it?"),
    "Is in:cme part of it?": Question("Is in:cme part of it?"),
    "in: May I?": Question("in: May I?"),
    "in:, May I?": Question("May I?"),
    "in:cme": Question("", ("cme",)),
    "help": Question(""),
    "help me": Question("help me"),
}


@pytest.mark.parametrize(("text", "question"), QUESTIONS.items(), ids=QUESTIONS)
def test_options_stand_before_or_behind_the_question(text, question):
    assert parse_question(text) == question


@given(st.text())
def test_every_text_is_a_question_of_its_own_words(text):
    assert parse_question(text).text in text


FILES = {
    "no secrets": {"secrets": "\n"},
    "a short secret": {"secrets": "abc\n"},
    "secrets that are no text": {"secrets": b"\xff\xfe"},
    "workspaces that are no JSON": {"workspaces.json": "T0ACME acme.key"},
    "workspaces that are no object": {"workspaces.json": '["T0ACME"]'},
    "a workspace that is listed twice": {"workspaces.json": '{"T0ACME": "acme.key", "T0ACME": null}'},
    "a workspace without an id": {"workspaces.json": '{"": "acme.key"}'},
    "a key that is no name": {"workspaces.json": '{"T0ACME": 7}'},
    "a key that is missing": {"workspaces.json": '{"T0ACME": "none.key"}'},
    "a key that is a folder": {"workspaces.json": '{"T0ACME": "."}'},
    "a key of two lines": {"acme.key": "cg_1\ncg_2\n"},
    "an empty key": {"acme.key": ""},
}


def written(folder, **texts):
    defaults = {"secrets": "0123456789abcdef\n", "workspaces.json": '{"T0ACME": "acme.key", "T0DEV": null}'}
    for name, text in (defaults | {"acme.key": "cg_1\n"} | texts).items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return SlackFiles(folder / "secrets", folder / "workspaces.json")


@pytest.mark.parametrize("texts", FILES.values(), ids=FILES)
def test_files_that_cannot_be_used_are_named(tmp_path, texts):
    with pytest.raises(SlackFileBroken, match=r"CLAUSEGATE_SLACK_\w+_FILE: .*: "):
        written(tmp_path, **texts).check()


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path):
    files = written(tmp_path)
    (tmp_path / "acme.key").unlink()
    os.mkfifo(tmp_path / "acme.key")
    with pytest.raises(SlackFileBroken, match=r"acme\.key: not a regular file"):
        files.check()


def test_a_workspace_may_ask_without_a_key_and_an_unknown_one_not_at_all(tmp_path):
    files = written(tmp_path)
    assert files.authorization_of("T0ACME", "") == "Bearer cg_1"
    assert files.authorization_of("T0DEV", "") == ""
    assert files.authorization_of("T0OTHER", "") is None


@given(st.text(max_size=60), st.integers(1, 400))
def test_what_is_shown_of_a_text_is_within_its_limit_and_a_cut_is_said(text, limit):
    shown, *cut = foreign(text, limit)
    assert units(shown.text) <= limit
    assert bool(cut) == (units(foreign(text, 10_000)[0].text) > limit)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1), st.integers(1, 40))
def test_what_is_shown_of_a_text_that_all_can_see_is_its_beginning(text, limit):
    assert text.startswith(foreign(text, limit)[0].text.rstrip(" "))


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(1, 2_900))
def test_a_message_of_any_items_is_one_that_slack_takes(counts, length):
    sections = [
        Section(f"Section {number}", tuple(line("x" * length) for _ in range(count)), number)
        for number, count in enumerate(counts)
    ]
    blocks = fitted(sections)
    assert refused({"response_type": "ephemeral", "text": "x", "blocks": blocks}) == ""


def test_a_clause_begins_with_a_word_shortly_before_its_quote():
    quote = "The fee is USD 120."
    text = "word " * 200 + quote + " more" * 200
    start = text.index(quote)
    clause = SupportingClause(text=text, quoted=[Span(start=start, end=start + len(quote))])
    message = answer_message(
        QueryResponse(supporting_clauses=[clause]), Question("What is the fee?", show_all=True)
    )
    (shown,) = [block for block in message["blocks"] if len(block.get("elements", ())) == 2]
    before, words, _ = (run["text"] for run in shown["elements"][1]["elements"])

    assert words.startswith("word word")
    assert quote in words
    assert before == f"[{start - words.index(quote)} characters before] … "


FEE = "The fee is USD 120."


def quoted(quote, document="a", start=0, **fields):
    """A quote of one document, number 1."""
    parts = [QuotePart(text=quote, span=Span(start=start, end=start + len(quote)))]
    return Citation(number=1, quote=quote, chunk_id="chunk", document_label=document, parts=parts, **fields)


def first_quote(citation, clause):
    """The runs of the first quote in an answer of one statement."""
    response = QueryResponse(
        outcome=Outcome.OUTCOME_ANSWERED,
        statements=[Statement(text=citation.quote, citation_numbers=[1])],
        citations=[citation],
        supporting_clauses=[clause],
    )
    blocks = answer_message(response, Question("What is the fee?"))["blocks"]
    (found,) = [block for block in blocks if len(block.get("elements", ())) == 2]
    return [(run["text"], "style" in run) for run in found["elements"][1]["elements"]]


def test_the_first_quote_is_bold_within_its_paragraph():
    text = f"Terms.\n\nIt pays. {FEE} Taxes apply.\n\nNothing else."
    clause = SupportingClause(chunk_id="chunk", text=text, span=Span(start=50, end=50 + len(text)))

    assert first_quote(quoted(FEE, start=50 + text.index(FEE)), clause) == [
        ("It pays. ", False),
        (FEE, True),
        (" Taxes apply.", False),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"text": f"{FEE} {'Taxes apply. ' * 60}"},
        {"text": f"{FEE} Taxes apply.", "context_before": [QuotePart(text="Unless waived:")]},
        {"text": f"{FEE} Taxes apply.", "chunk_id": "other"},
        {"text": "The charge is USD 120."},
    ],
    ids=["long paragraph", "governed from outside", "another clause", "other words"],
)
def test_the_first_quote_stands_alone_where_its_paragraph_may_mislead(fields):
    clause = SupportingClause(**{"chunk_id": "chunk", "span": Span(start=0, end=900)} | fields)

    assert first_quote(quoted(FEE), clause) == [(FEE, True)]


@pytest.mark.parametrize("show_all", [False, True])
def test_documents_that_are_silent_are_named(show_all):
    documents = [
        DocumentAnswer(label="Lease A", outcome=Outcome.OUTCOME_ANSWERED, statement_numbers=[1]),
        DocumentAnswer(label="Lease B", outcome=Outcome.OUTCOME_REFUSED),
    ]
    response = QueryResponse(
        outcome=Outcome.OUTCOME_ANSWERED,
        statements=[Statement(text=FEE, citation_numbers=[1])],
        citations=[quoted(FEE, "Lease A")],
        documents=documents,
    )
    said = texts(answer_message(response, Question("What is the fee?", show_all=show_all))["blocks"])

    assert said[said.index("Not addressed") + 1] == "Lease B"
    assert "Lease A" not in said[said.index("Not addressed") :][:2]


def test_a_question_for_each_document_begins_with_how_many_answer():
    told = "1 of 2 documents answer this, 1 is silent."
    response = QueryResponse(
        statements=[Statement(text=FEE, citation_numbers=[1])],
        citations=[quoted(FEE)],
        notes=[Note(text=told, kind=NoteKind.NOTE_KIND_ASKED_OF_EACH)],
    )
    said = texts(answer_message(response, Question("Which leases have a fee?"))["blocks"])

    assert said[:3] == ["Which leases have a fee?", told, "Answer"]
    assert said.count(told) == 1


def test_of_many_notes_those_that_warn_are_shown_and_the_rest_is_counted():
    warning = [Note(text=f"Mind {n}.", kind=NoteKind.NOTE_KIND_VALUE_CONFLICT) for n in range(7)]
    response = QueryResponse(
        notes=[Note(text="Uncalibrated.", kind=NoteKind.NOTE_KIND_UNCALIBRATED), *warning]
    )
    said = texts(answer_message(response, Question("What is the fee?"))["blocks"])

    assert [text for text in said if text.startswith("Mind")] == [f"Mind {n}." for n in range(5)]
    assert "Uncalibrated." not in said
    assert "Not shown: 3 notes. Ask with show:all to see all of it." in said


def test_where_not_all_quotes_fit_the_first_and_what_warns_are_shown():
    numbers, warnings = range(1, 21), [f"Mind {n}" + " the date" * 50 for n in range(5)]
    response = QueryResponse(
        outcome=Outcome.OUTCOME_ANSWERED,
        statements=[Statement(text=FEE, citation_numbers=numbers)],
        citations=[Citation(number=n, quote=f"{n} " + "fee " * 300, document_label="a") for n in numbers],
        documents=[DocumentAnswer(label="Lease B", outcome=Outcome.OUTCOME_REFUSED)],
        notes=[Note(text=text, kind=NoteKind.NOTE_KIND_VALUE_CONFLICT) for text in warnings],
    )
    said = texts(answer_message(response, Question("What is the fee?"))["blocks"])

    assert any(text.startswith("1 fee") for text in said)
    assert not any(text.startswith("20 fee") for text in said)
    assert {"Lease B", *warnings} <= set(said)


def test_a_short_refusal_names_the_nearest_clauses_without_their_words():
    refusal = Refusal(
        message="This is not addressed.",
        nearest_clauses=[SupportingClause(document_label="Lease A", text=FEE)],
        absence=AbsenceEvidence(documents_searched=7, term_hits=[TermHits(term="moon")]),
    )
    response = QueryResponse(refusal=refusal, outcome=Outcome.OUTCOME_REFUSED)
    said = texts(answer_message(response, Question("The moon?"))["blocks"])

    assert said[1:3] == ["Not addressed", "This is not addressed."]
    assert "Lease A" in said
    assert FEE not in said
    assert said[said.index("Searched") + 1 :][:2] == [
        "7 documents",
        "Not shown: 1 nearest clause. Ask with show:all to see all of it.",
    ]


def test_no_text_that_is_sent_to_slack_is_empty():
    response = QueryResponse(notes=[Note(text="Mind the date.")], statements=[Statement(text="So it is.")])
    message = answer_message(response, Question("What is the fee?"))
    runs = [
        run for block in message["blocks"] for part in block.get("elements", ()) for run in part["elements"]
    ]

    assert all(run["text"] for run in runs)


@pytest.mark.parametrize("show_all", [False, True])
def test_a_summary_is_headed_as_the_models_words_with_the_numbers_of_its_quotes(show_all):
    response = QueryResponse(
        outcome=Outcome.OUTCOME_ANSWERED,
        statements=[Statement(text=FEE, citation_numbers=[1])],
        citations=[quoted(FEE)],
        summary=[SummarySentence(text="USD 120 a month.", citation_numbers=[1])],
    )
    blocks = answer_message(response, Question("What is the fee?", show_all=show_all))["blocks"]
    said = json.dumps(blocks)
    assert said.index("In the model's words (the quotes decide)") < said.index("USD 120 a month.")
    assert said.index("USD 120 a month.") < said.index(FEE)
