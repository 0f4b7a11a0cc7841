"""Turns the defining entries of a document into definitions that name their chunk, section and pages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from corpus.chunks import Chunk
from corpus.definitions import Definition
from corpus.ids import definition_id_of
from services.ingest import terms
from services.ingest.chunking import Origin, pages_of
from services.ingest.documents import ExtractedDocument


def find(document: ExtractedDocument, chunks: Sequence[Chunk], origin: Origin) -> tuple[Definition, ...]:
    """Return the definitions of `document` in reading order; `chunks` are all of its chunks."""
    sentences = sorted({span for chunk in chunks for span in chunk.sentences}, key=lambda span: span.start)
    starts = [chunk.span.start for chunk in chunks]
    # An entry that names its term twice defines it once: two equal ids would never count as stored.
    entries = dict.fromkeys(terms.find(document.text, document.blocks, sentences))
    return tuple(
        _definition(document, chunks[bisect_right(starts, entry.span.start) - 1], origin, entry)
        for entry in entries
    )


def _definition(document: ExtractedDocument, chunk: Chunk, origin: Origin, entry: terms.Entry) -> Definition:
    span = entry.span
    return Definition(
        definition_id=definition_id_of(origin.version, span, entry.term),
        term=entry.term,
        text=document.text[span.start : span.end],
        span=span,
        pages=pages_of(span, document.pages),
        chunk_id=chunk.chunk_id,
        document_id=origin.document_id,
        generation=origin.generation,
        source=origin.source,
        title=chunk.title,
        section=chunk.section_at(span.start),
    )
