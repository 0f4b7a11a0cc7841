"""The nouns of retrieval alone: what it embeds and finds of the corpus, projects and articles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NewType

import numpy as np
from numpy.typing import NDArray

from corpus.chunks import Chunk, ChunkId
from corpus.documents import DocumentId, Version
from corpus.spans import Span

ProjectId = NewType("ProjectId", str)
ArticleId = NewType("ArticleId", str)

Vector = NDArray[np.float32]
"""Shape (d,), unit norm."""
Vectors = NDArray[np.float32]
"""Shape (n, d), rows of unit norm."""


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
