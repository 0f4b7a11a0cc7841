import json
from dataclasses import replace

from corpus.chunks import ContextPart, TextDoubt, TextDoubtKind
from corpus.documents import DocumentFormat
from corpus.spans import PageSpan, SectionSpan, Span
from services.ingest import chunking
from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.documents import Block, BlockKind, ExtractedDocument
from services.ingest.parsing.frames import LENGTH, ReadingAssembler, encode, reading_to_messages
from services.ingest.reading import Reading
from tests.cards import WHOLE

ORIGIN = Origin("cme/a.txt", "cme", "a.txt", "g1", "a.txt")


def crossed(reading: Reading) -> Reading | None:
    """What arrives of a reading that is sent from the child to the service."""
    assembler, last = ReadingAssembler(), None
    for message in reading_to_messages(reading):
        last = assembler.take(json.loads(encode(message)[LENGTH.size :]))
    return last


def test_every_field_of_a_reading_crosses_the_process():
    span, text = Span(3, 7), "The Licensee shall not copy the “Data”."
    block = Block(BlockKind.PARAGRAPH, Span(0, len(text)))
    document = ExtractedDocument(DocumentFormat.PDF, None, text, (block,))
    (chunk,) = chunking.cut(document, ORIGIN, ChunkLimits())
    part = ContextPart(span, "Größe", Span(0, 2), (PageSpan(4, span),))
    chunk = replace(
        chunk,
        heading_chain=("A", "B"),
        pages=(PageSpan(4, span),),
        sections=(SectionSpan(("A",), span),),
        context_before=(part, part),
        context_after=(part,),
        doubts=tuple(TextDoubt(span, kind) for kind in TextDoubtKind),
    )
    reading = Reading(
        DocumentFormat.PDF, "T", 9, (1,), (2, 3), 4, 5, 6, "utf-16le", (chunk,), (), WHOLE, "why"
    )

    assert crossed(reading) == reading
