from dataclasses import replace

from corpus.chunks import ContextPart, TextDoubt, TextDoubtKind
from corpus.spans import PageSpan, SectionSpan, Span
from tests.unit.nouns import a_chunk

TEXT = "Fees are due. Late fees accrue."
CHUNK = a_chunk(
    TEXT,
    chunk_id="c",
    alias="a",
    document_id="cme/fees.txt",
    title="Fees",
    section="Section 1 of 1",
    span=Span(100, 131),
    pages=(PageSpan(1, Span(100, 110)), PageSpan(2, Span(110, 131))),
    generation="g1",
    sentences=(Span(100, 113), Span(114, 131)),
    sections=(SectionSpan(("Due",), Span(100, 114)), SectionSpan(("Late",), Span(114, 131))),
)


def test_part_of_a_chunk_holds_what_lies_within_its_span():
    part = CHUNK.part(Span(114, 131))

    assert part.text == "Late fees accrue."
    assert part.span == Span(114, 131)
    assert part.sentences == (Span(114, 131),)
    assert part.pages == (PageSpan(2, Span(114, 131)),)
    assert part.sections == (SectionSpan(("Late",), Span(114, 131)),)
    assert part.chunk_id == CHUNK.chunk_id


def context(text: str, governs: Span) -> ContextPart:
    return ContextPart(Span(10, 10 + len(text)), text, governs, (PageSpan(1, Span(10, 10 + len(text))),))


def test_part_of_a_chunk_keeps_the_context_and_the_doubts_of_its_span():
    chunk = replace(
        CHUNK,
        context_before=(context("The Licensee shall not:", Span(100, 131)), context("copy", Span(100, 113))),
        context_after=(context("unless agreed.", Span(114, 131)),),
        doubts=(
            TextDoubt(Span(100, 104), TextDoubtKind.READING_ORDER),
            TextDoubt(Span(110, 120), TextDoubtKind.UNKNOWN),
        ),
    )

    part = chunk.part(Span(114, 131))

    assert part.context_before == (context("The Licensee shall not:", Span(114, 131)),)
    assert part.context_after == chunk.context_after
    assert part.doubts == (TextDoubt(Span(114, 120), TextDoubtKind.UNKNOWN),)


def test_part_over_the_whole_span_is_the_chunk_itself():
    assert CHUNK.part(CHUNK.span) is CHUNK
