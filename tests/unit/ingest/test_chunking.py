from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.chunks import Chunk, TextDoubt, TextDoubtKind
from corpus.documents import DocumentFormat
from corpus.spans import Span, has_words
from services.ingest import chunking, headings
from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.documents import Block, BlockKind, ExtractedDocument, Page
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.text import parse_text

ORIGIN = Origin("cme/fees/a.txt", "cme", "fees/a.txt", "g1", "a.txt")
LIMITS = ChunkLimits()
EVALUATION = Path(__file__).parents[4] / "shared" / "eval"
SENTENCE = "The Licensee shall pay every fee that is due within thirty days. "


def document_of(*blocks: tuple[BlockKind, str], title: str | None = None) -> ExtractedDocument:
    made, text = [], ""
    for kind, content in blocks:
        text += "\n\n" if text else ""
        level = content.count("#") + 1 if kind is BlockKind.HEADING else None
        content = content.lstrip("# ")
        made.append(Block(kind, Span(len(text), len(text) + len(content)), level))
        text += content
    return ExtractedDocument(DocumentFormat.HTML, title, text, tuple(made))


def paragraphs(*texts: str) -> ExtractedDocument:
    return document_of(*((BlockKind.PARAGRAPH, text.strip()) for text in texts))


def assert_invariants(document: ExtractedDocument, chunks: tuple[Chunk, ...], limits: ChunkLimits) -> None:
    """The laws of chunks, whatever the document."""
    found = headings.find(document)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert chunk.text == document.text[chunk.span.start : chunk.span.end]
        assert 0 < chunk.word_count == len(chunk.text.split()) <= limits.max_words
        assert chunk.sentences[0].start == chunk.span.start
        assert chunk.sentences[-1].end == chunk.span.end
        assert all(not document.text[one.end : two.start].strip() for one, two in pairwise(chunk.sentences))
        assert "".join(document.text[part.span.start : part.span.end] for part in chunk.pages) in (
            "",
            chunk.text,
        )
        assert chunk.section
    assert_covered(document, chunks)
    assert_headed(chunks, found)


def assert_covered(document: ExtractedDocument, chunks: tuple[Chunk, ...]) -> None:
    edges = [Span(0, 0), *(chunk.span for chunk in chunks), Span(len(document.text), len(document.text))]
    assert all(not document.text[one.end : two.start].strip() for one, two in pairwise(edges))
    assert all(one.start < two.start and one.end < two.end for one, two in pairwise(edges[1:-1]))


def assert_headed(chunks: tuple[Chunk, ...], found: tuple[headings.Heading, ...]) -> None:
    end = 0
    for chunk in chunks:
        own = next(span.start for span in chunk.sentences if span.start >= end)
        above = [heading for heading in found if heading.span.start <= own][-1:]
        inside = [heading for heading in found if own < heading.span.start < chunk.span.end]
        named = {name for entry in chunk.heading_chain for name in entry.split(chunking.BETWEEN)}
        for heading in above + inside:
            assert not has_words(heading.chain[-1]) or named.issuperset(
                heading.chain[-1].split(chunking.BETWEEN)
            )
        if not inside:
            assert chunk.heading_chain == (above[-1].chain if above else ())
        end = chunk.span.end
        assert_sectioned(chunk, found)


def assert_sectioned(chunk: Chunk, found: tuple[headings.Heading, ...]) -> None:
    edges = [chunk.span.start, *(section.span.end for section in chunk.sections)]
    assert [section.span for section in chunk.sections] == [Span(*pair) for pair in pairwise(edges)]
    assert edges[-1] == chunk.span.end
    for section in chunk.sections:
        above = [heading for heading in found if heading.span.start <= section.span.start]
        assert section.heading_chain == (above[-1].chain if above else ())


WORDS = st.sampled_from(
    ["fee", "The", "Licensee", "shall", "pay.", "1.1", "(a)", "due;", "U.S.", "TERM", "x" * 90, "\n"]
)
TEXT = st.lists(WORDS, min_size=1, max_size=60).map(" ".join).map(str.strip).filter(bool)
LONG = st.builds(
    lambda word, count: (word + " ") * count, st.sampled_from(["word", "word,", "Word."]), st.integers(1, 900)
)
BLOCKS = st.tuples(st.sampled_from(BlockKind), st.one_of(TEXT, LONG.map(str.strip), st.just("y" * 30_000)))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(BLOCKS, max_size=14),
    st.sampled_from([LIMITS, ChunkLimits(20, 30, 5, 2), ChunkLimits(5, 8, 2, 1)]),
)
def test_chunks_of_any_document_keep_the_laws(blocks, limits):
    document = document_of(*blocks)
    assert_invariants(document, chunking.cut(document, ORIGIN, limits), limits)


@pytest.mark.skipif(not EVALUATION.is_dir(), reason="the evaluation data is not here")
@pytest.mark.parametrize("corpus", ["contractnli/dev/corpus", "cuad/dev/corpus"])
def test_chunks_of_real_contracts_keep_the_laws(corpus):
    files = sorted((EVALUATION / corpus).glob("*.txt"))[::4]
    counts = []
    for file in files:
        document = parse_text(file, ParsingLimits())
        chunks = chunking.cut(document, ORIGIN, LIMITS)
        assert_invariants(document, chunks, LIMITS)
        counts += [chunk.word_count for chunk in chunks]
    assert 230 <= sum(counts) / len(counts) <= 310


def chains(*texts: str) -> list[tuple[str, ...]]:
    return [chunk.heading_chain for chunk in chunking.cut(paragraphs(*texts), ORIGIN, LIMITS)]


def test_small_sections_share_a_chunk_below_one_of_the_first_level_and_are_all_named():
    words = ["Access", "Audit", "Costs", "Data", "Delay", "Fees", "Law", "Loss", "Notice", "Price", "Scope"]
    names = [f"1.{number} {word}" for number, word in enumerate(words, start=1)]
    found = chains("1. Fees.", *(f"{name}. {SENTENCE * 3}" for name in names))
    assert found == [("1. Fees", "; ".join(names[:8])), ("1. Fees", "; ".join(names[8:]))]


def test_no_chunk_runs_over_a_section_of_the_first_level():
    assert chains("1. Fees. The fee is 5.", "2. Taxes. Taxes are extra.") == [("1. Fees",), ("2. Taxes",)]


def test_small_sections_of_plain_text_share_a_chunk_and_are_all_named():
    document = replace(
        paragraphs("1. Fees. The fee is 5.", "2. Taxes. Taxes are extra."), format=DocumentFormat.TEXT
    )
    (chunk,) = chunking.cut(document, ORIGIN, LIMITS)
    assert chunk.heading_chain == ("1. Fees; 2. Taxes",)


def test_sections_below_the_only_heading_of_the_first_level_are_the_first_level():
    document = document_of(
        (BlockKind.HEADING, "Licence"),
        *(part for name in ("Grant", "Fees", "Term") for part in section(name)),
    )
    chunks = chunking.cut(document, ORIGIN, LIMITS)
    assert [chunk.heading_chain for chunk in chunks] == [
        ("Licence", "Grant"),
        ("Licence", "Fees"),
        ("Licence", "Term"),
    ]
    assert chunks[0].text.startswith("Licence\n\nGrant\n\nThe")


def section(name: str) -> list[tuple[BlockKind, str]]:
    return [(BlockKind.HEADING, f"# {name}"), (BlockKind.PARAGRAPH, SENTENCE.strip())]


def test_a_table_of_contents_is_one_chunk():
    entries = ["1. Fees", "2. Taxes", "3. Notices", "4. Term"]
    found = chains("\n".join(entries), *(f"{entry}. {SENTENCE * 3}" for entry in entries))
    assert found == [("; ".join(entries),), *((entry,) for entry in entries)]


def test_a_few_words_before_the_first_section_are_part_of_it():
    assert chains("Exhibit 10.3", f"1. Fees. {SENTENCE * 3}", f"2. Taxes. {SENTENCE * 3}") == [
        ("1. Fees",),
        ("2. Taxes",),
    ]


def test_words_of_a_shared_chunk_belong_to_their_own_section():
    document = paragraphs("1. Fees.", "1.1 Amount. The fee is 5.", "1.2 Taxes. Taxes are extra.")
    (chunk,) = chunking.cut(document, ORIGIN, LIMITS)
    named = [chunk.section_at(document.text.index(words)) for words in ("The fee is", "Taxes are")]
    assert named == ["1.1 Amount", "1.2 Taxes"]


def test_a_chunk_ends_before_a_section_rather_than_in_it():
    document = paragraphs(f"1. Fees. {SENTENCE * 19}", f"2. Taxes. {SENTENCE * 19}")
    assert [chunk.section for chunk in chunking.cut(document, ORIGIN, LIMITS)] == ["1. Fees", "2. Taxes"]


def test_two_sentences_are_repeated_within_a_section_but_not_across():
    document = paragraphs(f"1. Fees. {SENTENCE * 40}", f"2. Taxes. {SENTENCE * 20}")
    first, second, third = chunking.cut(document, ORIGIN, LIMITS)
    assert second.sentences[:2] == first.sentences[-2:]
    assert third.span.start >= second.span.end


def test_a_heading_stays_with_the_text_below_it():
    document = document_of(
        (BlockKind.PARAGRAPH, (SENTENCE * 24).strip()),
        (BlockKind.HEADING, "Taxes"),
        (BlockKind.PARAGRAPH, (SENTENCE * 24).strip()),
    )
    chunks = chunking.cut(document, ORIGIN, LIMITS)
    assert [chunk for chunk in chunks if chunk.text.endswith("Taxes")] == []
    assert any(
        chunk.text.startswith("Taxes\n\nThe") and chunk.heading_chain == ("Taxes",) for chunk in chunks
    )


def test_a_short_rest_joins_its_neighbour():
    document = paragraphs(
        "1. Fees.", f"1.1 Amount. {SENTENCE * 25}", "1.2 Notices. All notices are sent by mail."
    )
    assert len(chunking.cut(document, ORIGIN, LIMITS)) == 1


def test_a_split_table_repeats_its_header_outside_the_text():
    rows = [(BlockKind.TABLE_ROW, f"Product {number} | monthly fee | {number} Euro") for number in range(90)]
    document = document_of((BlockKind.TABLE_HEADER, "Product | Kind | Fee"), *rows)
    first, *others = chunking.cut(document, ORIGIN, LIMITS)
    assert first.table_header == ""
    assert {chunk.table_header for chunk in others} == {"Product | Kind | Fee"}
    assert all(chunk.text.startswith("Product ") and "Kind" not in chunk.text for chunk in others)


def test_a_header_row_as_long_as_a_chunk_is_not_repeated():
    rows = [(BlockKind.TABLE_ROW, f"Product {number} | monthly fee | {number} Euro") for number in range(90)]
    document = document_of((BlockKind.TABLE_HEADER, "Product and what it is for | " * 100), *rows)
    assert {chunk.table_header for chunk in chunking.cut(document, ORIGIN, LIMITS)} == {""}


def test_a_table_row_is_never_split():
    row = "cell " * 150 + "| 5"
    document = document_of(*[(BlockKind.TABLE_ROW, row)] * 5)
    assert all(len(chunk.text.split(" | 5")) >= 1 for chunk in chunking.cut(document, ORIGIN, LIMITS))
    assert all(chunk.text.endswith("| 5") for chunk in chunking.cut(document, ORIGIN, LIMITS))


def test_a_sentence_longer_than_the_maximum_is_cut_where_a_clause_ends():
    document = paragraphs(("the costs of carriage and insurance, " * 200).strip())
    chunks = chunking.cut(document, ORIGIN, LIMITS)
    assert len(chunks) > 2
    assert all(chunk.text.endswith("insurance,") for chunk in chunks)


def test_a_word_without_end_is_cut_as_well():
    document = paragraphs("x" * 50_000)
    assert "".join(chunk.text for chunk in chunking.cut(document, ORIGIN, LIMITS)) == document.text


def test_without_headings_a_chunk_counts_itself():
    document = paragraphs(SENTENCE * 60)
    chunks = chunking.cut(document, ORIGIN, LIMITS)
    count = len(chunks)
    assert [chunk.section for chunk in chunks] == [f"Section {n} of {count}" for n in range(1, count + 1)]
    assert {chunk.heading_chain for chunk in chunks} == {()}


def test_pages_are_cut_to_the_chunk():
    text = (SENTENCE * 3).strip()
    pages = (Page(1, Span(0, 70)), Page(2, Span(70, 70)), Page(3, Span(70, len(text))))
    block = Block(BlockKind.PARAGRAPH, Span(0, len(text)))
    document = ExtractedDocument(DocumentFormat.PDF, None, text, (block,), pages)
    (chunk,) = chunking.cut(document, ORIGIN, LIMITS)
    assert [(part.page, part.span) for part in chunk.pages] == [(1, Span(0, 70)), (3, Span(70, len(text)))]


def test_a_chunk_is_named_by_document_generation_and_ordinal():
    document = paragraphs(SENTENCE)
    (chunk,) = chunking.cut(document, ORIGIN, LIMITS)
    (again,) = chunking.cut(document, ORIGIN, LIMITS)
    later = Origin("cme/fees/a.txt", "cme", "fees/a.txt", "g2", "a.txt")
    (renewed,) = chunking.cut(document, later, LIMITS)
    assert chunk.alias == "cme__fees/a.txt_0"
    assert chunk == again
    assert chunk.chunk_id != renewed.chunk_id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Definitions of the terms in use. " + SENTENCE, True),
        ("The DEFINED TERMS are listed below. " + SENTENCE, True),
        ('"Fee" means all fees.\n\n"Tax" means all taxes.', True),
        ('"Fee" means all fees. ' + SENTENCE, False),
        (SENTENCE, False),
        (SENTENCE * 12 + "See the definition there.", False),
    ],
)
def test_chunks_that_define_terms_are_flagged(text, expected):
    (chunk,) = chunking.cut(paragraphs(*text.split("\n\n")), ORIGIN, LIMITS)
    assert chunk.is_definitions is expected


@pytest.mark.parametrize("text", ["", " \n\n "])
def test_a_document_without_words_has_no_chunks(text):
    document = ExtractedDocument(DocumentFormat.TEXT, None, text, ())
    assert chunking.cut(document, ORIGIN, LIMITS) == ()


def test_the_title_is_the_documents_own_then_its_first_heading_then_the_file_name():
    body = (BlockKind.PARAGRAPH, SENTENCE.strip())
    heading = (BlockKind.HEADING, "Fee\nschedule")
    assert chunking.title_of(document_of(heading, body, title=" Fees \n2024"), "a/b.md") == "Fees 2024"
    assert chunking.title_of(document_of(heading, body, title=" "), "a/b.md") == "Fee schedule"
    assert chunking.title_of(document_of(body), "a/b.md") == "b.md"
    long = (BlockKind.HEADING, SENTENCE * 20)
    assert chunking.title_of(document_of(long, heading, title=SENTENCE * 20), "a/b.md") == "Fee schedule"


@pytest.mark.parametrize("filler", ["\n", "(", "x", ". ", "1. ", "a, "])
def test_any_fifty_thousand_repetitions_are_cut(filler):
    document = paragraphs("A" + filler * 50_000 + "Z")
    chunks = chunking.cut(document, ORIGIN, LIMITS)
    assert max(chunk.word_count for chunk in chunks) <= LIMITS.max_words


def test_each_chunk_tells_the_doubts_about_its_own_text():
    document = paragraphs(*[SENTENCE * 12] * 5)
    doubts = tuple(
        TextDoubt(Span(start, start + 700), TextDoubtKind.READING_ORDER)
        for start in range(100, len(document.text) - 700, 900)
    )
    chunks = chunking.cut(replace(document, doubts=doubts), ORIGIN, LIMITS)

    assert len(chunks) > 1
    for chunk in chunks:
        span = chunk.span
        assert {place for doubt in chunk.doubts for place in range(doubt.span.start, doubt.span.end)} == {
            place
            for doubt in doubts
            for place in range(max(span.start, doubt.span.start), min(span.end, doubt.span.end))
        }


def test_rows_have_the_header_of_their_table_as_context_wherever_it_stands():
    rows = [(BlockKind.TABLE_ROW, f"Product {number} | monthly fee | {number} Euro") for number in range(90)]
    document = document_of(
        (BlockKind.PARAGRAPH, "Fees are these."), (BlockKind.TABLE_HEADER, "Product | Kind | Fee"), *rows
    )
    chunks = chunking.cut(document, ORIGIN, LIMITS)
    assert len(chunks) > 1
    for chunk in chunks:
        (header,) = chunk.context_before
        assert header.text == document.text[header.span.start : header.span.end] == "Product | Kind | Fee"
        governed = [
            one
            for one in chunk.sentences
            if header.governs.start <= one.start and one.end <= header.governs.end
        ]
        assert governed == [one for one in chunk.sentences if "Euro" in document.text[one.start : one.end]]
