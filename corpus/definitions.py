"""Definitions: the terms of a document and the words that define them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from corpus.chunks import ChunkId
from corpus.documents import DocumentId, Generation, Version
from corpus.spans import PageSpan, Span
from corpus.wire import Wire


@dataclass(frozen=True, slots=True)
class Definition:
    """A term and the words that define it, verbatim; see `clausegate.corpus.v1.Definition`."""

    WIRE: ClassVar = Wire(only_here=frozenset({"generation"}))

    definition_id: str
    document_id: DocumentId
    generation: Generation = field(default=Generation(""), kw_only=True)
    """Known to the index alone: a batch of definitions is sent below the header of its version."""
    term: str
    text: str
    span: Span
    pages: tuple[PageSpan, ...]
    chunk_id: ChunkId
    """Id of the chunk that holds the start of `text`; of two that share it, the one that goes on."""
    source: str
    title: str
    section: str
    digest: str = ""
    """See `Chunk.digest`."""

    @property
    def version(self) -> Version:
        """The version of the document that it stands in."""
        return Version(self.document_id, self.generation)
