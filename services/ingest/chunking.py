"""Cuts an extracted document into chunks: whole sentences and rows of one place, small enough to cite."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from uuid import UUID, uuid5

from services.ingest.documents import BlockKind, ExtractedDocument, Page, Span

CHUNKER_VERSION = "1"
"""Goes into the generation: raise it with every change that moves a boundary, a heading or a definition."""

_NAMESPACE = UUID("5d3c1c5e-6a53-4a0c-9b61-6b1f0b6f7f6e")


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose text is cut: what chunks and definitions repeat about their document."""

    document_id: str
    """`{source}/{path}`."""
    source: str
    path: str
    """Path below the source, with `/` between its parts."""
    generation: str
    file_name: str
    """The last part of `path`, extension included."""


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """How long chunks are, in words split at white space."""

    target_words: int = 300
    """The aim; a chunk ends at the best boundary near it."""
    max_words: int = 400
    """Never exceeded."""
    min_words: int = 50
    """A shorter chunk joins its neighbour where the maximum allows it."""
    overlap_sentences: int = 2
    """Sentences repeated from the chunk before, never across the start of a section."""


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The part of a span that stands on one page."""

    page: int
    """From 1."""
    span: Span


@dataclass(frozen=True, slots=True)
class Chunk:
    """Mirrors `clausegate.corpus.v1.Chunk`; `indexed_at` is the index's own."""

    chunk_id: str
    alias: str
    document_id: str
    source: str
    title: str
    heading_chain: tuple[str, ...]
    section: str
    text: str
    word_count: int
    span: Span
    sentences: tuple[Span, ...]
    """The sentences and table rows of `text`, in order; they cover it but for white space."""
    pages: tuple[PageSpan, ...]
    table_header: str
    content_sha256: str
    is_definitions: bool
    ordinal: int
    generation: str


def title_of(document: ExtractedDocument, path: str) -> str:
    """Return the document's own title, else its first heading, else the file's name; one line."""
    if document.title and document.title.strip():
        return " ".join(document.title.split())
    for block in document.blocks:
        if block.kind is BlockKind.HEADING:
            return " ".join(document.text[block.span.start : block.span.end].split())
    return path.rsplit("/", 1)[-1]


def pages_of(span: Span, pages: tuple[Page, ...]) -> tuple[PageSpan, ...]:
    """Return the parts of `span` on each of `pages`, ascending; empty parts are left out."""
    parts = ((page.number, max(span.start, page.span.start), min(span.end, page.span.end)) for page in pages)
    return tuple(PageSpan(number, Span(start, end)) for number, start, end in parts if start < end)


def chunk_id(origin: Origin, ordinal: int) -> str:
    """Return the id that the same document, generation and ordinal always get."""
    return str(uuid5(_NAMESPACE, f"{origin.document_id}\n{origin.generation}\n{ordinal}"))


def sha256_of(text: str) -> str:
    """Return the SHA-256 of `text` in UTF-8, 64 lower-case hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def cut(document: ExtractedDocument, origin: Origin, limits: ChunkLimits) -> tuple[Chunk, ...]:
    """Return the chunks of `document` in reading order; none when it holds no words."""
    title = title_of(document, origin.path)
    chunks: list[Chunk] = []
    for block in document.blocks:
        words = document.text[block.span.start : block.span.end]
        chunks.append(
            Chunk(
                chunk_id=chunk_id(origin, len(chunks)),
                alias=f"{origin.source}__{origin.path}_{len(chunks)}",
                document_id=origin.document_id,
                source=origin.source,
                title=title,
                heading_chain=(),
                section=f"Section {len(chunks) + 1} of {len(document.blocks)}",
                text=words,
                word_count=len(words.split()),
                span=block.span,
                sentences=(block.span,),
                pages=pages_of(block.span, document.pages),
                table_header="",
                content_sha256=sha256_of(words),
                is_definitions=False,
                ordinal=len(chunks),
                generation=origin.generation,
            )
        )
    return tuple(chunks)
