"""Turns the defining entries of a document into definitions that name their chunk, section and pages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from services.ingest import terms
from services.ingest.chunking import Chunk, Origin, PageSpan, pages_of
from services.ingest.documents import ExtractedDocument, Span

_NAMESPACE = UUID("0f9d4a3e-7f5b-4c55-9a44-3a2c6c1d8a57")


@dataclass(frozen=True, slots=True)
class Definition:
    """A term and the words that define it, verbatim; mirrors `clausegate.corpus.v1.Definition`."""

    definition_id: str
    term: str
    text: str
    span: Span
    pages: tuple[PageSpan, ...]
    chunk_id: str
    """Of the chunk that holds the start of `text`; of two that share it, the one that goes on."""
    document_id: str
    source: str
    title: str
    section: str


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
    name = f"{origin.document_id}\n{origin.generation}\n{span.start}-{span.end}\n{entry.term}"
    return Definition(
        definition_id=str(uuid5(_NAMESPACE, name)),
        term=entry.term,
        text=document.text[span.start : span.end],
        span=span,
        pages=pages_of(span, document.pages),
        chunk_id=chunk.chunk_id,
        document_id=origin.document_id,
        source=origin.source,
        title=chunk.title,
        section=chunk.section_at(span.start),
    )
