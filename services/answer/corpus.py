"""What retrieval returns, as answer sees it: chunks with their scores, definitions, documents, projects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

_WORDS = re.compile(r"[^\W\d_]{3}")
"""Three letters in a row: a heading without them, `9.1` or `(iv)`, is a mere number."""


@dataclass(frozen=True, slots=True)
class Span:
    """Code points `start` (from 0) to `end` (exclusive) of a document's extracted text."""

    start: int
    end: int

    def overlap(self, other: Span) -> int:
        """Code points that both spans hold."""
        return max(0, min(self.end, other.end) - max(self.start, other.start))

    def cut(self, other: Span) -> Span:
        """What both spans hold; they overlap."""
        return Span(max(self.start, other.start), min(self.end, other.end))

    def __contains__(self, other: Span) -> bool:
        """Whether this span holds all of another."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The part of a span that stands on page `page` (from 1)."""

    page: int
    span: Span


def section_name(chain: Sequence[str]) -> str:
    """What a citation names as the section: the innermost heading with words, and the numbers below it."""
    named = max((depth for depth, heading in enumerate(chain) if _WORDS.search(heading)), default=0)
    return " › ".join(chain[named:])


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
    """Exactly the code points `span` of the document, in the chunk or outside it."""
    governs: Span
    """Within the chunk."""
    pages: tuple[PageSpan, ...]


class TextDoubtKind(StrEnum):
    """See `clausegate.corpus.v1.TextDoubtKind`."""

    READING_ORDER = "reading_order"
    MISSING_WORDS = "missing_words"
    UNKNOWN = "unknown"
    """A kind that only a later release knows."""


@dataclass(frozen=True, slots=True)
class TextDoubt:
    """A part of a chunk whose text may not be what a reader of the file sees."""

    span: Span
    kind: TextDoubtKind


@dataclass(frozen=True, slots=True)
class Chunk:
    """The part of `clausegate.corpus.v1.Chunk` that answers are made of."""

    chunk_id: str
    alias: str
    document_id: str
    source: str
    title: str
    heading_chain: tuple[str, ...]
    section: str
    text: str
    span: Span
    pages: tuple[PageSpan, ...]
    table_header: str
    generation: str
    sentences: tuple[Span, ...]
    """Sentences and table rows that `text` is made of, in order, in code points of the document."""
    sections: tuple[SectionSpan, ...] = ()
    """The sections that `text` runs through, in order; a small section shares its chunk with others."""
    context_before: tuple[ContextPart, ...] = ()
    """What leads into the lists that the chunk holds items of, outermost first."""
    context_after: tuple[ContextPart, ...] = ()
    """Conditions after those lists, in the order of the document."""
    doubts: tuple[TextDoubt, ...] = ()

    def section_at(self, position: int) -> str:
        """What a citation of the words at `position` names as their section."""
        for section in self.sections:
            if section.span.start <= position < section.span.end and section.heading_chain:
                return section_name(section.heading_chain)
        return self.section

    def headings_at(self, position: int) -> str:
        """The headings above the words at `position`, outermost first; without any, `Section N of M`."""
        own = (one.heading_chain for one in self.sections if one.span.start <= position < one.span.end)
        return " > ".join(next(own, ()) or self.heading_chain) or self.section

    def part(self, span: Span) -> Chunk:
        """The part of this chunk within `span`, which lies in its own; empty parts of it are left out.

        It keeps the chunk's id: a quote of it is a quote of the chunk.
        """
        if span == self.span:
            return self
        start = self.span.start
        before, after = _governing(self.context_before, span), _governing(self.context_after, span)
        told = [span, *(part.span for part in (*before, *after))]
        return replace(
            self,
            text=self.text[span.start - start : span.end - start],
            span=span,
            pages=tuple(
                replace(one, span=one.span.cut(span)) for one in self.pages if one.span.overlap(span)
            ),
            sentences=tuple(one.cut(span) for one in self.sentences if one.overlap(span)),
            sections=tuple(
                replace(one, span=one.span.cut(span)) for one in self.sections if one.span.overlap(span)
            ),
            context_before=before,
            context_after=after,
            doubts=tuple(
                replace(doubt, span=doubt.span.cut(span)) if doubt.span.overlap(span) else doubt
                for doubt in self.doubts
                if any(map(doubt.span.overlap, told))
            ),
        )


def _governing(parts: Sequence[ContextPart], span: Span) -> tuple[ContextPart, ...]:
    """The context that governs something of `span`, and how much of it."""
    return tuple(
        replace(part, governs=part.governs.cut(span)) for part in parts if part.governs.overlap(span)
    )


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a chunk and its cosine to the question, -1 to 1."""

    span: Span
    similarity: float


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


@dataclass(frozen=True, slots=True)
class Background:
    """What the question scores in documents where nobody asked; `mean` is 0 when not calibrated."""

    mean: float
    calibrated: bool


@dataclass(frozen=True, slots=True)
class Leg:
    """Hits of one leg and the raw score of the best; None without hits."""

    count: int
    top_score: float | None


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


@dataclass(frozen=True, slots=True)
class Definition:
    """A term and the words that define it; `chunk_id` holds the start of `text`."""

    term: str
    text: str
    span: Span
    chunk_id: str
    document_id: str
    source: str


@dataclass(frozen=True, slots=True)
class ResolvedDefinition:
    """A definition and why it was found, see `clausegate.retrieval.v1.ResolvedDefinition`."""

    definition: Definition
    depth: int
    used_by: str
    conflicting: tuple[Definition, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The part of `clausegate.corpus.v1.Document` that citations need."""

    document_id: str
    title: str
    content_sha256: str
    generation: str
    unreadable_pages: tuple[int, ...]
    hidden_characters: int = 0
    scanned_pages: tuple[int, ...] = ()
    reference_marks: int = 0
    running_lines: int = 0


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
