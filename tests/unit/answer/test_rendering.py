from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from corpus.citations import Certificate, Citation, Highlight, MatchLevel, QuotePart
from corpus.spans import Span
from services.answer.answers import (
    AbsenceEvidence,
    Answer,
    DefinitionInUse,
    DocumentAnswer,
    DryRun,
    GateDecision,
    GateRule,
    GateTier,
    Note,
    NoteKind,
    Outcome,
    Refusal,
    RefusalReason,
    StageEstimate,
    Statement,
    SummarySentence,
    SupportingClause,
    TermHits,
)
from services.answer.query.rendering import render_markdown, render_markdown_full, render_text

QUOTE = "The fee is\nUSD 100 per month."
CITATION = Citation(
    number=1,
    document="cme/fees.pdf",
    source="cme",
    title="Fee Schedule",
    section="4.2 Fees",
    page=3,
    last_page=3,
    quote=QUOTE,
    span=Span(0, len(QUOTE)),
    chunk_id="id",
    chunk_alias="cme__fees.pdf_0",
    match_level=MatchLevel.EXACT,
    certificate=Certificate("d" * 64, "q" * 64, "g", "extractive", "", "", "c" * 64),
    document_label="Fee Schedule",
)
CLAUSE = SupportingClause(
    chunk_id="id",
    chunk_alias="cme__fees.pdf_0",
    document="cme/fees.pdf",
    source="cme",
    title="Fee Schedule",
    document_label="Fee Schedule",
    section="4.2 Fees",
    page=3,
    last_page=4,
    text=f"4.2 Fees\n\n{QUOTE}",
    span=Span(0, 40),
    quoted=(),
    grade=3,
    probability=0.81,
    score=0.7,
)
UNCERTAIN = "These passages bear on the question; it is not certain that they answer it:"
ANSWER = Answer(
    citations=(CITATION, dataclasses.replace(CITATION, number=2, page=None, last_page=None)),
    statements=(Statement(QUOTE, ("CME",), (1,)),),
    supporting_clauses=(CLAUSE,),
    definitions=(DefinitionInUse("Fee", 2, (1,), 1, ""),),
    notes=(Note(NoteKind.CROSS_REFERENCE, "The quoted clause refers to Schedule B.", (1,)),),
)
GATE = GateDecision(True, False, GateTier.GRADED, GateRule.BELOW_THRESHOLD, 0.1, 0.2, 1, 0, None, True)
REFUSAL = Refusal(
    reason=RefusalReason.CONFIDENCE_TOO_LOW,
    message="This is not addressed in the provided CME documents.",
    missing="No passage mentions “refund”.",
    gate=GATE,
    nearest_clauses=(CLAUSE,),
    absence=AbsenceEvidence("1", 4, 12, 2, (TermHits("refund", 0),)),
)


def test_text_has_one_statement_a_line_with_source_and_number():
    assert render_text(ANSWER) == "[CME] The fee is USD 100 per month. [1]"


def test_text_of_a_refusal_is_its_message_and_what_is_missing():
    assert render_text(Answer(refusal=REFUSAL)) == (
        "This is not addressed in the provided CME documents. No passage mentions “refund”."
    )


def test_markdown_has_the_five_sections_in_order():
    headings = [line for line in render_markdown_full(ANSWER).splitlines() if line.startswith("#")]
    assert headings == ["## Answer", "## Supporting Clauses", "## Definitions", "## Citations", "## Notes"]


def test_empty_optional_sections_are_left_out():
    markdown = render_markdown_full(dataclasses.replace(ANSWER, definitions=(), notes=()))
    assert [line for line in markdown.splitlines() if line.startswith("#")] == [
        "## Answer",
        "## Supporting Clauses",
        "## Citations",
    ]


def test_a_citation_names_its_page_only_where_there_is_one():
    markdown = render_markdown_full(ANSWER)
    assert "\\[1\\] \\[CME\\] Fee Schedule, 4.2 Fees, p. 3: “The fee is USD 100 per month.”" in markdown
    assert "\\[2\\] \\[CME\\] Fee Schedule, 4.2 Fees: “The fee is USD 100 per month.”" in markdown


def test_a_passage_is_quoted_line_by_line_with_its_pages_and_grade():
    markdown = render_markdown_full(ANSWER)
    assert "pp. 3–4**, speaks to the question\n\n> 4.2 Fees\n> The fee is\n> USD 100 per month." in markdown


def test_text_of_a_document_cannot_become_markup():
    hostile = dataclasses.replace(ANSWER, statements=(Statement("# <b>*x*</b> [y](z)", ("CME",), (1,)),))
    assert "\\# \\<b\\>\\*x\\*\\</b\\> \\[y\\](z)" in render_markdown_full(hostile)


IN_QUOTE = 2
"""Level of a paragraph's words right within a block quote."""
LINES = st.one_of(
    st.sampled_from(["---", "===", "- a", "+ a", "-", "12. a", "1)", "~~~", "***", ":-:", "| a |", "&copy;"]),
    st.text(alphabet="-=+*_~`#>|:.()[]<>!&;\\ 12ab\t", max_size=8),
)


@given(st.lists(LINES, max_size=4).map("\n".join).filter(str.strip))
def test_a_clause_is_shown_as_its_words_and_never_as_markup(text):
    clause = dataclasses.replace(CLAUSE, text=text)
    markdown = render_markdown_full(dataclasses.replace(ANSWER, supporting_clauses=(clause,)))
    tokens = MarkdownIt().enable(["table", "strikethrough"]).parse(markdown)
    headings = [one.tag for one in tokens if one.type == "heading_open"]
    paragraphs = [one.children for one in tokens if one.type == "inline" and one.level == IN_QUOTE]

    assert headings == ["h2"] * 5
    assert [spoken(parts) for parts in paragraphs] == [lines(text)]
    assert {part.type for parts in paragraphs for part in parts} <= {"text", "text_special", "softbreak"}


def spoken(parts):
    return "".join("\n" if part.type == "softbreak" else part.content for part in parts)


def lines(text):
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def test_numbers_of_citations_are_never_the_names_of_links():
    markdown = render_markdown_full(ANSWER)
    assert "per month. \\[1\\]" in markdown
    assert "refers to Schedule B. \\[1\\]" in markdown


def test_markdown_of_a_refusal_shows_what_was_searched_and_the_nearest_clauses():
    markdown = render_markdown_full(Answer(refusal=REFUSAL))
    headings = [line for line in markdown.splitlines() if line.startswith("#")]
    assert headings == ["## Answer", "## Nearest Clauses", "## Searched"]
    assert "4 documents, 12 pages, 2 of them unreadable" in markdown
    assert "“refund” in 0" in markdown


def test_statements_that_all_rest_on_weak_evidence_are_not_called_an_answer():
    related = tuple(dataclasses.replace(one, possibly_related=True) for one in ANSWER.statements)
    weak = dataclasses.replace(ANSWER, statements=related)
    assert render_text(weak).startswith(f"{UNCERTAIN}\n[CME]")
    assert (
        "## Answer\n\nThese passages bear on the question; it is not certain that they answer it:\n\n- "
        in render_markdown_full(weak)
    )


def test_a_doubtful_statement_among_others_stands_below_a_caveat():
    second = Statement("The fee is waived.", ("CME",), (2,), possibly_related=True)
    mixed = dataclasses.replace(ANSWER, statements=(ANSWER.statements[0], second))
    assert render_text(mixed).splitlines() == [
        "[CME] The fee is USD 100 per month. [1]",
        "Possibly related:",
        "[CME] The fee is waived. [2]",
    ]
    tokens = MarkdownIt().parse(render_markdown_full(mixed))
    kinds = [token.type for token in tokens if token.type.endswith("_open")]
    assert kinds[1:6] == [
        "bullet_list_open",
        "list_item_open",
        "paragraph_open",
        "paragraph_open",
        "bullet_list_open",
    ]


def test_a_clause_is_shown_with_what_governs_it_from_elsewhere():
    before, after = (QuotePart(Span(0, 1), text) for text in ("You shall\nnot:", "unless asked."))
    clause = dataclasses.replace(
        CLAUSE, text="(b) share it", context_before=(before,), context_after=(after,)
    )
    markdown = render_markdown_full(dataclasses.replace(ANSWER, supporting_clauses=(clause,)))
    assert "> You shall not: …\n> (b) share it\n> … unless asked.\n" in markdown


def test_a_dry_run_says_what_answering_would_cost_and_what_it_would_send():
    grade = StageEstimate("grade", "small", 5_120, 832, 0.0169, priced=True)
    answer = StageEstimate("answer", "large", 4_000, 2_048, 0.0244, priced=True)
    assert render_text(DryRun((grade, answer))) == (
        "Nothing was sent to a model. Answering would cost at most $0.0413.\n"
        "grade: at most 5,120 tokens to small, 832 back, $0.0169\n"
        "answer: at most 4,000 tokens to large, 2,048 back, $0.0244"
    )
    assert render_markdown_full(DryRun((grade, answer))).startswith("## Dry Run\n\nNothing was sent")


def test_a_dry_run_names_a_price_that_is_not_known():
    text = render_text(DryRun((StageEstimate("answer", "own", 4_000, 2_048, 0.0, priced=False),)))
    assert "the price of a model is not known" in text
    assert text.endswith("2,048 back, no price")


def test_a_dry_run_without_a_model_says_that_nothing_would_be_sent():
    assert "would send nothing to a model" in render_text(DryRun())


@pytest.mark.parametrize("address", ["https://evil.example/?q=1", "http://evil.example", "www.evil.example"])
def test_an_address_in_a_statement_becomes_no_link(address):
    statement = Statement(f"See {address} for more.", ("CME",), (1,))
    markdown = render_markdown_full(dataclasses.replace(ANSWER, statements=(statement,)))
    assert address not in markdown


BEFORE, AFTER = "Fees are due monthly.", "Interest accrues."


def in_paragraph(before=BEFORE, quote=QUOTE, after=AFTER, **told):
    """An answer whose quote stands between other words of its paragraph."""
    text = f"{before} {quote} {after}"
    span = Span(len(before) + 1, len(before) + 1 + len(quote))
    citation = dataclasses.replace(CITATION, quote=quote, span=span, parts=(QuotePart(span, quote),))
    clause = dataclasses.replace(CLAUSE, text=text, span=Span(0, len(text)))
    return Answer((citation,), (Statement(quote, ("CME",), (1,)),), (clause,), **told)


def bold_in(markdown):
    """The words in bold, one string a stretch, and all words of block quotes."""
    found, shown, is_bold = [], [], False
    for token in MarkdownIt().parse(markdown):
        for part in token.children or () if token.level == IN_QUOTE else ():
            is_bold = part.type == "strong_open" or (is_bold and part.type != "strong_close")
            if part.type == "strong_open":
                found.append("")
            elif part.type in ("text", "text_special"):
                shown.append(part.content)
                if is_bold:
                    found[-1] += part.content
    return found, "".join(shown)


def test_the_short_form_shows_the_quote_in_bold_within_its_paragraph_and_where_it_stands():
    assert render_markdown(in_paragraph()) == (
        "> Fees are due monthly. **The fee is USD 100 per month.** Interest accrues.\n\n"
        "\\[1\\] \\[CME\\] Fee Schedule, 4.2 Fees, p. 3\n\n"
        "Not shown: 1 supporting clause (ask with --full, or read markdown\\_full).\n"
    )


def test_the_short_form_leaves_out_what_stands_in_other_paragraphs():
    markdown = render_markdown(in_paragraph(before="4.2 Fees\n\nFirst.", after="Then.\n \nOther things."))
    assert bold_in(markdown) == (["The fee is USD 100 per month."], f"First. {' '.join(QUOTE.split())} Then.")


def test_a_long_paragraph_is_cut_at_sentences_around_its_quote():
    markdown = render_markdown(in_paragraph(before="One word more. " * 40, after="And another one. " * 40))
    _, shown = bold_in(markdown)
    assert shown.startswith("… One word more.")
    assert shown.endswith("And another one. …")
    assert len(shown) <= 410


def test_a_quote_is_whole_however_long_it_is():
    quote = "Each Subscriber shall pay what it owes. " * 30 + "So it is."
    bold, shown = bold_in(render_markdown(in_paragraph(quote=quote)))
    assert (bold, shown) == ([quote], f"… {quote} …")


def test_items_of_a_list_are_not_shown_around_a_quote():
    markdown = render_markdown(in_paragraph(before="(a) share it; (b) sell it.", after="(c) copy it."))
    assert bold_in(markdown)[1] == "… The fee is USD 100 per month. …"


def test_what_leads_into_a_quote_is_in_bold_as_well():
    parts = (QuotePart(Span(0, 4), "Not:"), QuotePart(Span(9, 21), "(b) share it"))
    cited = dataclasses.replace(CITATION, quote="Not: … (b) share it", span=Span(9, 21), parts=parts)
    clause = dataclasses.replace(CLAUSE, text="(b) share it", span=Span(9, 21))
    answer = Answer((cited,), (Statement(cited.quote, ("CME",), (1,)),), (clause,))
    assert render_markdown(answer).startswith("> **Not:** … **(b) share it**\n")


def test_further_quotes_have_a_line_each_and_what_is_folded_is_told():
    markdown = render_markdown(
        dataclasses.replace(ANSWER, statements=(*ANSWER.statements, Statement(QUOTE, ("CME",), (2,))))
    )
    assert "\n- \\[2\\] 4.2 Fees: “The fee is USD 100 per month.”\n" in markdown
    assert "\n- The quoted clause refers to Schedule B. \\[1\\]\n" in markdown
    assert "Not shown: 1 supporting clause, 1 definition (ask with --full" in markdown


def test_a_further_quote_names_its_document_only_where_it_is_another():
    other = dataclasses.replace(
        CITATION, number=2, document="opra/a.txt", source="opra", document_label="Lease"
    )
    said = Statement(QUOTE, ("CME",), (1,)), Statement(QUOTE, ("OPRA",), (2,))
    markdown = render_markdown(Answer((CITATION, other), said))
    assert "\n- \\[2\\] \\[OPRA\\] Lease, 4.2 Fees, p. 3: “" in markdown


def test_the_short_form_shows_five_warnings_and_counts_the_rest():
    notes = [Note(NoteKind.CROSS_REFERENCE, f"It refers to Section {n}.", (1,)) for n in range(1, 9)]
    notes += [Note(NoteKind.UNCALIBRATED, "Not calibrated.")]
    markdown = render_markdown(in_paragraph(notes=tuple(notes)))
    assert "Section 5. \\[1\\]\n- and 3 more\n" in markdown
    assert "Section 6" not in markdown
    assert "Not calibrated" not in markdown
    assert "Not shown: 1 supporting clause, 4 notes (" in markdown


def test_the_short_form_calls_nothing_an_answer_that_is_only_related():
    related = Statement(QUOTE, ("CME",), (1,), possibly_related=True)
    markdown = render_markdown(dataclasses.replace(ANSWER, statements=(related,)))
    assert markdown.startswith(f"{UNCERTAIN}\n\n> **The fee")


def test_the_short_form_of_a_refusal_says_where_the_nearest_clauses_stand():
    assert render_markdown(Answer(refusal=REFUSAL)) == (
        "This is not addressed in the provided CME documents. No passage mentions “refund”.\n\n"
        "Nearest, and not an answer:\n\n- Fee Schedule, 4.2 Fees, pp. 3–4\n\n"
        "Searched: 4 documents, 12 pages, 2 of them unreadable.\n\n"
        "Not shown: the words of these clauses (ask with --full, or read markdown\\_full).\n"
    )


WORDS_OF = st.text(alphabet="-=+*_~`#>|:.()[]<>!&;\\“” 12abC\n", min_size=1, max_size=30).filter(str.strip)


@given(WORDS_OF, WORDS_OF, WORDS_OF)
def test_what_is_bold_is_exactly_the_quote(before, quote, after):
    bold, _ = bold_in(render_markdown(in_paragraph(before, quote, after)))
    assert bold == [" ".join(quote.split())]


SEVERAL = dataclasses.replace(
    ANSWER,
    statements=(
        *ANSWER.statements,
        Statement("It may change.", ("CME",), (2,), possibly_related=True),
    ),
    notes=(Note(NoteKind.NOT_NAMED, "No document names “Microsoft”."),),
    documents=(
        DocumentAnswer("cme/fees.pdf", "Fee Schedule", Outcome.ANSWERED, (1,)),
        DocumentAnswer("cme/a.txt", "Notice (a.txt)", Outcome.RELATED, (2,)),
        DocumentAnswer("cme/b.txt", "Notice (b.txt)", Outcome.REFUSED),
    ),
)


def test_several_documents_stand_below_their_titles_and_names_of_none_come_last():
    assert render_text(SEVERAL).splitlines() == [
        "Fee Schedule:",
        "[CME] The fee is USD 100 per month. [1]",
        "Notice (a.txt):",
        "These passages bear on the question; it is not certain that they answer it:",
        "[CME] It may change. [2]",
        "Notice (b.txt):",
        "This document does not address it.",
        "No document names “Microsoft”.",
    ]


def test_several_documents_are_headed_in_markdown():
    answer = render_markdown_full(SEVERAL).partition("## Supporting")[0]
    assert [line for line in answer.splitlines() if line.startswith("**")] == [
        "**Fee Schedule**",
        "**Notice (a.txt)**",
        "**Notice (b.txt)**",
    ]
    html = MarkdownIt().render(answer)
    assert html.count("<strong>") == 3
    assert html.count("<li>") == 2


SUMMED = dataclasses.replace(ANSWER, summary=(SummarySentence("USD 100 <b>monthly</b>.", (1,)),))
MARKED = dataclasses.replace(
    ANSWER,
    citations=(dataclasses.replace(CITATION, highlights=(Highlight(11, 18),)), *ANSWER.citations[1:]),
)
MODELS_WORDS = "In the model's words (the quotes decide):"


def test_a_summary_stands_above_the_quotes_as_the_models_words_with_the_numbers_of_its_quotes():
    said = f"{MODELS_WORDS} USD 100 <b>monthly</b>. [1]"
    assert render_text(SUMMED).splitlines() == [said, "[CME] The fee is USD 100 per month. [1]"]
    for markdown in (render_markdown(SUMMED), render_markdown_full(SUMMED)):
        line = next(line for line in markdown.splitlines() if line.startswith(MODELS_WORDS))
        assert line == f"{MODELS_WORDS} USD 100 \\<b\\>monthly\\</b\\>. \\[1\\]"
        assert markdown.index(line) < markdown.index("The fee is")


def test_the_summary_of_each_document_stands_below_its_label():
    other = dataclasses.replace(CITATION, number=2, document="cme/b.pdf", quote="None.")
    answer = Answer(
        citations=(CITATION, other),
        statements=(Statement(QUOTE, ("CME",), (1,)), Statement("None.", ("CME",), (2,))),
        supporting_clauses=(CLAUSE,),
        documents=(
            DocumentAnswer("cme/fees.pdf", "A", Outcome.ANSWERED, (1,)),
            DocumentAnswer("cme/b.pdf", "B", Outcome.ANSWERED, (2,)),
        ),
        summary=(SummarySentence("USD 100.", (1,)), SummarySentence("No fee.", (2,))),
    )
    lines = render_text(answer).splitlines()
    assert lines[lines.index("A:") + 1] == f"{MODELS_WORDS} USD 100. [1]"
    assert lines[lines.index("B:") + 1] == f"{MODELS_WORDS} No fee. [2]"
    assert f"B · {MODELS_WORDS} No fee." in render_markdown(answer)


@pytest.mark.parametrize("render", [render_markdown, render_markdown_full])
def test_the_words_that_answer_stand_first_where_there_is_no_summary(render):
    assert "**USD 100** \\[1\\]" in render(MARKED).partition("The fee")[0]
    assert "**USD 100**" not in render(dataclasses.replace(MARKED, summary=SUMMED.summary))
    assert "**USD 100**" not in render(
        dataclasses.replace(
            MARKED, statements=(dataclasses.replace(MARKED.statements[0], possibly_related=True),)
        )
    )
