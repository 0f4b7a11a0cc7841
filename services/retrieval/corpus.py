"""The nouns of retrieval: documents, chunks, windows and definitions of the index; projects and articles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

import numpy as np
from numpy.typing import NDArray

ChunkId = NewType("ChunkId", str)
DocumentId = NewType("DocumentId", str)
Generation = NewType("Generation", str)
ProjectId = NewType("ProjectId", str)
ArticleId = NewType("ArticleId", str)

Vector = NDArray[np.float32]
"""Shape (d,), unit norm."""
Vectors = NDArray[np.float32]
"""Shape (n, d), rows of unit norm."""


def source_of(document_id: DocumentId) -> str:
    """The source of a document, which its id begins with."""
    return document_id.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Span:
    """Code points `start` (from 0) to `end` (exclusive) of a document's extracted text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The part of a span that stands on page `page` (from 1)."""

    page: int
    span: Span


@dataclass(frozen=True, slots=True)
class SectionSpan:
    """The part of a span that stands under one heading."""

    heading_chain: tuple[str, ...]
    """Outermost first; empty before the first heading."""
    span: Span


@dataclass(frozen=True, slots=True)
class ContextPart:
    """Words that govern a part of a chunk, see `clausegate.corpus.v1.ContextPart`."""

    span: Span
    text: str
    governs: Span
    pages: tuple[PageSpan, ...]


class TextDoubtKind(StrEnum):
    """See `clausegate.corpus.v1.TextDoubtKind`."""

    READING_ORDER = "reading_order"
    MISSING_WORDS = "missing_words"


@dataclass(frozen=True, slots=True)
class TextDoubt:
    """A part of a chunk whose text may not be what a reader of the file sees."""

    span: Span
    kind: TextDoubtKind


@dataclass(frozen=True, slots=True)
class Version:
    """One generation of one document. At most one is live, and at most one other exists."""

    document_id: DocumentId
    generation: Generation


@dataclass(frozen=True, slots=True)
class Chunk:
    """See `clausegate.corpus.v1.Chunk`."""

    chunk_id: ChunkId
    alias: str
    version: Version
    source: str
    title: str
    heading_chain: tuple[str, ...]
    section: str
    text: str
    word_count: int
    span: Span
    pages: tuple[PageSpan, ...]
    table_header: str
    content_sha256: str
    is_definitions: bool
    ordinal: int
    sentences: tuple[Span, ...]
    """Of `text`, in order, in code points of the document; to be stored with the chunk."""
    sections: tuple[SectionSpan, ...] = ()
    """The sections that the text runs through, in order."""
    context_before: tuple[ContextPart, ...] = ()
    """What leads into the lists that the chunk holds items of, outermost first."""
    context_after: tuple[ContextPart, ...] = ()
    """Conditions after those lists."""
    doubts: tuple[TextDoubt, ...] = ()
    digest: str = ""
    """Of all but this and `indexed_at`, as ingest made it; empty for what earlier releases indexed."""
    indexed_at: datetime | None = None
    """When the version became visible; None while it is staged."""


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """A chunk and the windows that were embedded of it, in document order."""

    chunk: Chunk
    windows: tuple[Span, ...]
    """In code points of the document, within the chunk's span; at least one."""
    vectors: Vectors
    """One row per window."""
    stems: tuple[str, ...]
    """What `stems_of` makes of the text: made once, for the keyword index and for evidence."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What a search weighs of a chunk: the parts of its `EmbeddedChunk` that rank it."""

    chunk_id: ChunkId
    document_id: DocumentId
    windows: tuple[Span, ...]
    vectors: Vectors
    stems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """See `clausegate.corpus.v1.Definition`."""

    definition_id: str
    version: Version
    term: str
    text: str
    span: Span
    pages: tuple[PageSpan, ...]
    chunk_id: ChunkId
    source: str
    title: str
    section: str
    digest: str = ""
    """See `Chunk.digest`."""


@dataclass(frozen=True, slots=True)
class Document:
    """See `clausegate.corpus.v1.Document`; `indexed_at` is None until the store sets it at the flip."""

    version: Version
    source: str
    path: str
    title: str
    format: str
    content_sha256: str
    size_bytes: int
    page_count: int
    unreadable_pages: tuple[int, ...]
    chunk_count: int
    definition_count: int
    indexed_at: datetime | None = None
    hidden_characters: int = 0
    scanned_pages: tuple[int, ...] = ()
    reference_marks: int = 0
    running_lines: int = 0
    contents_sha256: str = ""
    digest: str = ""
    """See `Chunk.digest`."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which live documents a read sees: all when both are empty, else those of the sources and of the ids."""

    sources: tuple[str, ...] = ()
    document_ids: tuple[DocumentId, ...] = ()


EVERYWHERE = Scope()


@dataclass(frozen=True, slots=True)
class Hit:
    """A live chunk found by one leg, with that leg's raw score (cosine, or BM25 without the factor k1+1)."""

    chunk_id: ChunkId
    score: float


Hits = Sequence[Hit]
"""Best first, chunks distinct, ties by chunk id."""


@dataclass(frozen=True, slots=True)
class Project:
    """A named set of sources, see `clausegate.retrieval.v1.Project`."""

    project_id: ProjectId
    display_name: str
    sources: tuple[str, ...]
    """By name, each once."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Article:
    """The part of `clausegate.corpus.v1.Article` that retrieval looks at, and the whole as it came."""

    article_id: ArticleId
    title: str
    scope: Scope
    """The documents that it was asked to be compiled from."""
    basis: frozenset[Version]
    """The live versions of that scope when it was compiled."""
    compiled_at: datetime
    record: bytes
    """All of it but the body; only whoever wrote it reads it."""
    body: str
    """Empty where a list leaves it out."""
