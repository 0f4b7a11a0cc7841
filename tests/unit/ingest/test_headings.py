import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.documents import DocumentFormat
from corpus.spans import Span
from services.ingest import headings
from services.ingest.documents import Block, BlockKind, ExtractedDocument, Style

BODY = "The Licensee shall pay the fees that are set out in the schedule within thirty days of each invoice."


def flat(*paragraphs: str, styles: dict[str, Style] | None = None) -> ExtractedDocument:
    blocks, text = [], ""
    for paragraph in paragraphs:
        text += "\n\n" if text else ""
        span = Span(len(text), len(text) + len(paragraph))
        style = (styles or {}).get(paragraph, Style(10.0, bold=False)) if styles is not None else None
        blocks.append(Block(BlockKind.PARAGRAPH, span, style=style))
        text += paragraph
    return ExtractedDocument(DocumentFormat.TEXT, None, text, tuple(blocks))


def chains(document: ExtractedDocument) -> list[tuple[str, ...]]:
    return [heading.chain for heading in headings.find(document)]


def test_articles_sections_and_captioned_items_nest():
    document = flat(
        "ARTICLE I DEFINITIONS",
        f"Section 1.1 Terms. {BODY}",
        f"(a) Usage. {BODY}",
        f"(b) Reading. {BODY}",
        f"Section 1.2 Forms. {BODY}",
        "ARTICLE II FEES",
        f"Section 2.1 Amount. {BODY}",
    )
    assert chains(document) == [
        ("ARTICLE I DEFINITIONS",),
        ("ARTICLE I DEFINITIONS", "Section 1.1 Terms"),
        ("ARTICLE I DEFINITIONS", "Section 1.1 Terms", "(a) Usage"),
        ("ARTICLE I DEFINITIONS", "Section 1.1 Terms", "(b) Reading"),
        ("ARTICLE I DEFINITIONS", "Section 1.2 Forms"),
        ("ARTICLE II FEES",),
        ("ARTICLE II FEES", "Section 2.1 Amount"),
    ]


def test_headings_in_running_text_are_found():
    document = flat(f"1. Fees. {BODY} 2. Taxes. {BODY} 3. TERM AND TERMINATION {BODY}")
    assert chains(document) == [("1. Fees",), ("2. Taxes",), ("3. TERM AND TERMINATION",)]


def test_a_caption_without_punctuation_ends_before_its_text():
    document = flat(f"1. Maintenance of Records {BODY} 2. Governing Law This Agreement is governed by law.")
    assert chains(document) == [("1. Maintenance of Records",), ("2. Governing Law",)]


def test_an_article_alone_on_its_line_takes_the_caption_below():
    document = flat("ARTICLE V", "COMMERCIALIZATION", BODY)
    assert chains(document) == [("ARTICLE V COMMERCIALIZATION",)]


@pytest.mark.parametrize(
    "reference",
    [
        "The fees under Section 4.1 Payment are due and Article 5 Term applies to them as well.",
        "It was signed on March 18, 2021 and costs 5 Euro or 7.5 Dollars a day in all.",
        "See (a) Fees and (b) Taxes of the schedule for what the Licensee owes to the Licensor.",
    ],
)
def test_references_and_amounts_head_nothing(reference):
    assert chains(flat(BODY, reference)) == []


def test_a_stray_number_does_not_derail_the_clauses_after_it():
    document = flat(f"1. Fees. {BODY}", f"2. Taxes. {BODY}", "1. apples", "2. pears", f"3. Term. {BODY}")
    assert chains(document) == [("1. Fees",), ("2. Taxes",), ("3. Term",)]


def test_a_clause_without_caption_is_headed_by_its_number():
    document = flat(f"1. Fees. {BODY}", "1.1 The Licensee shall pay.", "1.2 The Licensor shall collect.")
    assert chains(document) == [("1. Fees",), ("1. Fees", "1.1"), ("1. Fees", "1.2")]


def test_exhibits_stand_outside_the_clauses_and_begin_anew():
    document = flat(f"1. Fees. {BODY}", "EXHIBIT A PRICE LIST", f"1. Discounts. {BODY}")
    assert chains(document)[1:] == [
        ("EXHIBIT A PRICE LIST",),
        ("EXHIBIT A PRICE LIST", "1. Discounts"),
    ]


def test_capitals_and_short_lines_above_text_are_headings():
    document = flat("CONFIDENTIAL TREATMENT", BODY, "Term of Use", BODY)
    assert chains(document) == [
        ("CONFIDENTIAL TREATMENT",),
        ("CONFIDENTIAL TREATMENT", "Term of Use"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "THE LICENSOR DISCLAIMS ALL WARRANTIES OF ANY KIND WHETHER EXPRESS OR IMPLIED",
        "IN WITNESS WHEREOF",
        "ACME TRADING CORPORATION",
        "ACME, INC. AND OTHERS",
        "BY: ____________",
        "TABLE OF CONTENTS",
        "Exhibit 10.5",
        "January 5, 2020",
        "Dear Mr. Smith",
        "Source: ACME, 10-K, 1/5/2020",
        "Very Truly Yours",
    ],
)
def test_lines_that_only_look_like_headings_are_not(line):
    assert chains(flat(BODY, line, BODY)) == []


def test_running_heads_are_not_headings():
    pages = [part for number in range(4) for part in (f"LICENCE AGREEMENT PAGE {number}", BODY)]
    assert chains(flat(*pages)) == []


def test_large_and_bold_lines_of_a_pdf_are_headings_by_size():
    styles = {"Fee schedule 2024": Style(18.0, bold=True), "Discounts for members": Style(10.0, bold=True)}
    document = flat("Fee schedule 2024", BODY, "Discounts for members", BODY, styles=styles)
    assert chains(document) == [("Fee schedule 2024",), ("Fee schedule 2024", "Discounts for members")]


def test_markup_decides_over_looks():
    text = f"Policy\n\nScope\n\nACCEPTABLE USE\n\n{BODY}"
    spans = [Span(0, 6), Span(8, 13), Span(15, 29), Span(31, len(text))]
    document = ExtractedDocument(
        DocumentFormat.HTML,
        None,
        text,
        (
            Block(BlockKind.HEADING, spans[0], level=1),
            Block(BlockKind.HEADING, spans[1], level=2),
            Block(BlockKind.PARAGRAPH, spans[2]),
            Block(BlockKind.PARAGRAPH, spans[3]),
        ),
    )
    assert chains(document) == [("Policy",), ("Policy", "Scope")]


def test_a_paragraph_that_is_marked_as_a_heading_heads_nothing():
    text = f"Policy\n\n{BODY * 20}\n\n{BODY}"
    marked = Span(8, 8 + len(BODY * 20))
    blocks = (
        Block(BlockKind.HEADING, Span(0, 6), level=1),
        Block(BlockKind.HEADING, marked, level=2),
        Block(BlockKind.PARAGRAPH, Span(marked.end + 2, len(text))),
    )
    assert len(BODY * 20) > headings.LONGEST
    assert chains(ExtractedDocument(DocumentFormat.HTML, None, text, blocks)) == [("Policy",)]


def test_table_rows_head_nothing():
    text = "1. Fees | 10\n2. Taxes | 20"
    rows = (Block(BlockKind.TABLE_HEADER, Span(0, 12)), Block(BlockKind.TABLE_ROW, Span(13, len(text))))
    assert chains(ExtractedDocument(DocumentFormat.DOCX, None, text, rows)) == []


PIECES = st.sampled_from(
    [
        "1. ",
        "1.1 ",
        "ARTICLE I",
        "Section 2.",
        "(a) ",
        "(i) ",
        "A. ",
        "Fees. ",
        "TERM",
        " the ",
        "\n",
        "2 ",
        '"',
        "§ 3 ",
    ]
)


@settings(deadline=None)
@given(st.lists(st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(str.strip), max_size=12))
def test_headings_ascend_without_overlap_and_end_their_own_chain(paragraphs):
    document = flat(*(paragraph.strip() for paragraph in paragraphs))
    found = headings.find(document)
    edges = [edge for heading in found for edge in (heading.span.start, heading.span.end)]
    assert edges == sorted(edges)
    for heading in found:
        assert heading.chain[-1] == " ".join(document.text[heading.span.start : heading.span.end].split())


@pytest.mark.parametrize(
    "filler", ["1.\n", "(a) A.\n", "1 A ", "ARTICLE I\n", "A\n", "I. B.\n", "Section 1.1 "]
)
def test_any_ten_thousand_numbers_are_read(filler):
    assert headings.find(flat((filler * 10_000).strip())) is not None


def test_a_number_that_the_line_above_leads_to_heads_nothing():
    document = flat(
        f"4.1 Fees. {BODY}",
        "The Licensee pays what is due under Section\n4.2 Taxes and Duties of the Schedule, and from\n"
        "5 March on such other fees as are set out there.",
    )
    assert chains(document) == [("4.1 Fees",)]
