"""What retrieval finds, as answer sees it: chunks with their scores, definitions, counts, projects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from corpus.chunks import Chunk
from corpus.definitions import Definition
from corpus.spans import Span
from corpus.wire import Wire


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a chunk and its cosine to the question, -1 to 1."""

    span: Span
    similarity: float


@dataclass(frozen=True, slots=True)
class ChunkReading:
    """What the reader says of a chunk: logits, 0 is even odds, higher is better."""

    answers: float
    """Whether the chunk answers the question: the best of its windows."""
    sentences: Mapping[Span, float]
    """Whether each sentence does, by its place; those that were read."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may answer the question, see `clausegate.retrieval.v1.Candidate`."""

    chunk: Chunk
    similarity: float
    """Raw cosine of the question and the best window, -1 to 1."""
    bm25: float
    """Raw BM25 of the keyword leg, 0 and up; 0 when that leg did not return the chunk."""
    combined: float
    """similarity + 0.5 keyword share + 0.35 lexicon share; comparable between questions."""
    windows: tuple[Window, ...]
    reading: ChunkReading | None = None
    """None where there is no reader, or before it has read."""


@dataclass(frozen=True, slots=True)
class Background:
    """What the question scores in documents where nobody asked; `mean` is 0 when not calibrated."""

    WIRE: ClassVar = Wire(only_there=frozenset({"documents"}))

    mean: float
    calibrated: bool


@dataclass(frozen=True, slots=True)
class Leg:
    """Hits of one leg and the raw score of the best; None without hits."""

    count: int
    top_score: float | None


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name by which a question asks for a document, and that none of those searched bears."""

    WIRE: ClassVar = Wire(only_there=frozenset({"span"}))

    text: str
    nearest: tuple[str, ...]
    """Names that documents bear, the most alike first."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search, see `clausegate.retrieval.v1.SearchResponse`."""

    normalized_query: str
    clause_question: str
    """The question without the words that named its documents."""
    candidates: tuple[Candidate, ...]
    vector: Leg
    keyword: Leg
    merged_count: int
    unique_chunks: int
    background: Background
    routed: Mapping[str, float]
    """Documents that the question names, best first, and their share of the best one's score."""
    keyword_stems: tuple[str, ...]
    lexicon_stems: tuple[str, ...]
    index_revision: str
    names: tuple[tuple[str, ...], ...] = ()
    """For each name on cards by which the question names documents, in its order, those that bear it."""
    unknown_names: tuple[UnknownName, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """Documents that the question names by names on their cards, in the order of naming."""
        return tuple(dict.fromkeys(chain.from_iterable(self.names)))

    @property
    def names_only_unknown(self) -> bool:
        """Whether the question asks for nothing but documents that are not there."""
        return bool(self.unknown_names) and not self.candidates


@dataclass(frozen=True, slots=True)
class ResolvedDefinition:
    """A definition and why it was found, see `clausegate.retrieval.v1.ResolvedDefinition`."""

    definition: Definition
    depth: int
    used_by: str
    conflicting: tuple[Definition, ...]


@dataclass(frozen=True, slots=True)
class TermCount:
    """Live chunks that hold a term, in any inflection."""

    term: str
    chunks: int


@dataclass(frozen=True, slots=True)
class Census:
    """What was searched and how often each term stands in it."""

    counts: tuple[TermCount, ...]
    documents: int
    pages: int
    unreadable_pages: int
    index_revision: str


@dataclass(frozen=True, slots=True)
class Project:
    """A named set of sources."""

    WIRE: ClassVar = Wire(only_there=frozenset({"display_name", "created_at", "updated_at"}))

    project_id: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assembled:
    """Source text for a writer, see `clausegate.retrieval.v1.AssembleContextResponse`."""

    passages: tuple[Chunk, ...]
    """Ordered by source, document and position; no sentence of a document twice. A chunk may be a part."""
    chunks_left_out: int
    """Chunks considered that did not fit."""
    token_count: int
    index_revision: str


@dataclass(frozen=True, slots=True)
class Embedding:
    """What retrieval embeds with."""

    model: str
    dimension: int
    host: str
    """Of the model server; empty when the model runs in the service."""
