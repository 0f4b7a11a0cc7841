"""Chunks: what ingest cuts, the index keeps and an answer quotes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, NewType

from corpus.documents import DocumentId, Generation, Version
from corpus.spans import PageSpan, SectionSpan, Span, section_name
from corpus.wire import Wire

ChunkId = NewType("ChunkId", str)


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
    """Why a text may not be what a reader of the file sees; see `clausegate.corpus.v1.TextDoubtKind`."""

    READING_ORDER = "reading_order"
    MISSING_WORDS = "missing_words"
    UNKNOWN = "unknown"
    """A kind that only a later release knows."""


@dataclass(frozen=True, slots=True)
class TextDoubt:
    """A part of a text that may not be what a reader of the file sees."""

    span: Span
    kind: TextDoubtKind


@dataclass(frozen=True, slots=True)
class Chunk:
    """A contiguous part of a document, small enough to cite; see `clausegate.corpus.v1.Chunk`."""

    WIRE: ClassVar = Wire(only_there=frozenset({"html"}))

    chunk_id: ChunkId
    alias: str
    document_id: DocumentId
    generation: Generation
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
    """Hash of `text` in UTF-8."""
    is_definitions: bool
    ordinal: int
    sentences: tuple[Span, ...]
    """The sentences and table rows of `text`, in order; they cover it but for white space."""
    sections: tuple[SectionSpan, ...] = ()
    """The sections that `text` runs through, in order; a small section shares its chunk with others."""
    context_before: tuple[ContextPart, ...] = ()
    """What leads into the lists that the chunk holds items of, outermost first."""
    context_after: tuple[ContextPart, ...] = ()
    """Conditions after those lists, in the order of the document."""
    doubts: tuple[TextDoubt, ...] = ()
    layout: bytes = b""
    """Where the words of the chunk, and of what governs it, stand on the pages of a PDF (`corpus.layout`)."""
    digest: str = ""
    """Hash of all but this and `indexed_at`, as ingest made it; empty for what earlier releases indexed."""
    indexed_at: datetime | None = None
    """When the version became visible; None while it is staged."""

    @property
    def version(self) -> Version:
        """The version of the document that it is part of."""
        return Version(self.document_id, self.generation)

    def section_at(self, position: int) -> str:
        """What a citation of the words at `position` names as their section."""
        for section in self.sections:
            if section.span.start <= position < section.span.end and section.heading_chain:
                return section_name(section.heading_chain)
        return self.section

    def headings_at(self, position: int) -> str:
        """The headings above the words at `position`, outermost first; without any, `Section N of M`."""
        own = (
            section.heading_chain
            for section in self.sections
            if section.span.start <= position < section.span.end
        )
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
                replace(page, span=page.span.cut(span)) for page in self.pages if page.span.overlap(span)
            ),
            sentences=tuple(sentence.cut(span) for sentence in self.sentences if sentence.overlap(span)),
            sections=tuple(
                replace(section, span=section.span.cut(span))
                for section in self.sections
                if section.span.overlap(span)
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
