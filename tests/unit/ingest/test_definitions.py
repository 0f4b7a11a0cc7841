import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.documents import DocumentFormat
from corpus.spans import Span
from services.ingest import chunking, definitions
from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.documents import Block, BlockKind, ExtractedDocument, Page

ORIGIN = Origin("cme/a.txt", "cme", "a.txt", "g1", "a.txt")


def document_of(*paragraphs: str) -> ExtractedDocument:
    blocks, text = [], ""
    for paragraph in paragraphs:
        text += "\n\n" if text else ""
        blocks.append(Block(BlockKind.PARAGRAPH, Span(len(text), len(text) + len(paragraph))))
        text += paragraph
    return ExtractedDocument(DocumentFormat.TEXT, None, text, tuple(blocks))


def found(document: ExtractedDocument) -> tuple[definitions.Definition, ...]:
    return definitions.find(document, chunking.cut(document, ORIGIN, ChunkLimits()), ORIGIN)


def terms(*paragraphs: str) -> list[str]:
    return [definition.term for definition in found(document_of(*paragraphs))]


@pytest.mark.parametrize(
    ("entry", "term"),
    [
        ("Subscriber: any party that receives the data.", "Subscriber"),
        ('"Term" means the period of this Agreement.', "Term"),
        ("“Term” means the period of this Agreement.", "Term"),
        ("'Term' means the period of this Agreement.", "Term"),
        ("‘Term’ means the period of this Agreement.", "Term"),
        ("Subscriber shall mean any party that receives data.", "Subscriber"),
        ("Non-Professional: Any natural person who uses data for himself.", "Non-Professional"),
        ("Unit of Count: The basis on which fees are counted and reported.", "Unit of Count"),
        ('(1) "Term" means the period.', "Term"),
        ("(a) Subscriber means any party.", "Subscriber"),
        ("[i] Subscriber means any party.", "Subscriber"),
        ("1. Subscriber means any party.", "Subscriber"),
        ("• Subscriber means any party.", "Subscriber"),
        ("- Subscriber means any party.", "Subscriber"),
        ("Subscriber means any party.", "Subscriber"),
        ('The term "Term" means the period.', "Term"),
        ('THE TERM "TERM" MEANS THE PERIOD.', "TERM"),
        ("Subscriber Means any party.", "Subscriber"),
        ("Subscriber MEANS any party.", "Subscriber"),
        ("Rule 1A means the rule on fees.", "Rule 1A"),
        ("Level 2 Data: all data on the depth of the market.", "Level 2 Data"),
        ("10b-5 means the rule of that number.", "10b-5"),
        ("401k Plan means the plan of that section.", "401k Plan"),
        ("S&P 500 Index means the index of that name.", "S&P 500 Index"),
        ('"Device" has the meaning set forth in Section 2.', "Device"),
        ('"Device" includes any terminal.', "Device"),
        ("Vendor – a person who redistributes data.", "Vendor"),
        ("Net Asset Value (NAV) means the value of the fund.", "Net Asset Value (NAV)"),
        ('For purposes of this Agreement, "Affiliate" means a company.', "Affiliate"),
        ('1.3 "Affiliate" means a company.', "Affiliate"),
        ('Inventions. "Inventions" means all discoveries.', "Inventions"),
    ],
)
def test_every_form_of_a_definition_is_recognised(entry, term):
    assert terms(entry) == [term]


@pytest.mark.parametrize(
    "line",
    [
        "Note: any party may ask for a copy of it.",
        "Page 3: the list of fees is continued here.",
        "By any means the Licensee shall avoid it.",
        "This means that the fee is due at once.",
        "Any Means may be used by the Licensee.",
        "The Licensee shall pay the fee by all lawful means.",
        "Name: the person who signs for the Licensor.",
        "Payment: The Licensee shall pay the fee at once.",
        "It was agreed: the fee is due in March.",
        'He said "stop" and left the room at once.',
        "Broken\nTerm means nothing to anybody who reads it.",
    ],
)
def test_what_only_looks_like_a_definition_is_none(line):
    assert terms(line) == []


def test_a_term_never_crosses_a_line():
    assert terms('The "broken\nterm" means nothing.') == []


def test_all_terms_of_an_entry_are_defined_by_it():
    entry = '"Control," "Controls" or "Controlled by" means the power to direct.'
    definitions_found = found(document_of(entry))
    assert [definition.term for definition in definitions_found] == ["Control", "Controls", "Controlled by"]
    assert {definition.text for definition in definitions_found} == {entry}


def test_a_term_named_twice_in_its_entry_is_defined_once():
    assert terms('"Credit Note"   "Credit Note" Means the credit note to be issued by the Repairer.') == [
        "Credit Note"
    ]


def test_an_abbreviation_in_brackets_is_defined_with_its_term():
    assert terms('"Net Asset Value" ("NAV") means the value of the fund.') == ["Net Asset Value", "NAV"]


def test_an_entry_holds_its_sub_items_and_ends_before_the_next():
    document = document_of(
        '1.1 "Costs" means:',
        "(a) the price; and",
        "(b) the taxes.",
        '1.2 "Fees" means all fees.',
        "Other text.",
    )
    assert [definition.text for definition in found(document)] == [
        '"Costs" means:\n\n(a) the price; and\n\n(b) the taxes.',
        '"Fees" means all fees.',
    ]


def test_entries_in_running_text_end_before_the_number_of_the_next():
    document = document_of('1.1 "Cost" means the price. It includes tax. 1.2 "Fee" means all fees.')
    assert [definition.text for definition in found(document)] == [
        '"Cost" means the price. It includes tax.',
        '"Fee" means all fees.',
    ]


def test_a_definition_knows_its_chunk_section_and_pages():
    text = '1. Definitions\n\n"Fee" means all fees.'
    blocks = (Block(BlockKind.PARAGRAPH, Span(0, 14)), Block(BlockKind.PARAGRAPH, Span(16, len(text))))
    pages = (Page(1, Span(0, 26)), Page(2, Span(26, len(text))))
    document = ExtractedDocument(DocumentFormat.PDF, "Terms", text, blocks, pages)
    chunks = chunking.cut(document, ORIGIN, ChunkLimits())
    (definition,) = definitions.find(document, chunks, ORIGIN)
    assert definition.chunk_id == chunks[0].chunk_id
    assert (definition.section, definition.title) == ("1. Definitions", "Terms")
    assert [part.page for part in definition.pages] == [1, 2]
    assert chunks[0].is_definitions


def test_ids_differ_by_generation_and_repeat_otherwise():
    document = document_of('"Fee" means all fees.')
    chunks = chunking.cut(document, ORIGIN, ChunkLimits())
    later = Origin("cme/a.txt", "cme", "a.txt", "g2", "a.txt")
    first = definitions.find(document, chunks, ORIGIN)[0].definition_id
    assert first == definitions.find(document, chunks, ORIGIN)[0].definition_id
    assert first != definitions.find(document, chunks, later)[0].definition_id


PIECES = st.sampled_from(
    [
        '"',
        "“",
        "”",
        "'",
        "Term",
        " means ",
        " shall mean ",
        ":",
        "(",
        ")",
        "\n",
        " ",
        ", or ",
        "a",
        "1. ",
        "–",
        ". ",
    ]
)


@settings(deadline=None)
@given(st.lists(st.lists(PIECES, min_size=1, max_size=30).map("".join).filter(str.strip), max_size=6))
def test_a_definition_is_a_slice_of_its_document_that_holds_its_term(paragraphs):
    document = document_of(*(paragraph.strip() for paragraph in paragraphs))
    for definition in found(document):
        assert definition.text == document.text[definition.span.start : definition.span.end]
        assert definition.term in " ".join(definition.text.split())
        assert "\n" not in definition.term
        assert definition.term.strip()


@pytest.mark.parametrize(
    "filler", ["\n", "(", '"', '"a" ', '"a", or ', "Term: ", "A – ", "Term means ", "1. ", "( "]
)
def test_any_fifty_thousand_repetitions_are_read(filler):
    assert found(document_of("A" + filler * 50_000 + "Z")) is not None
