"""Finds the terms a document defines, and the words that define them, verbatim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.ingest.chunking import Chunk, Origin, PageSpan
from services.ingest.documents import ExtractedDocument, Span


@dataclass(frozen=True, slots=True)
class Definition:
    """Mirrors `clausegate.corpus.v1.Definition`."""

    definition_id: str
    term: str
    text: str
    span: Span
    pages: tuple[PageSpan, ...]
    chunk_id: str
    document_id: str
    source: str
    title: str
    section: str


def find(document: ExtractedDocument, chunks: Sequence[Chunk], origin: Origin) -> tuple[Definition, ...]:
    """Return the definitions of `document` in reading order."""
    return ()
