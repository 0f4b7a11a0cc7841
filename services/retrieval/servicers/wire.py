"""The nouns of the corpus as messages, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from chassis.errors import InvalidInput
from clausegate.corpus.v1 import chunk_pb2, definition_pb2, document_pb2, span_pb2
from services.retrieval.corpus import (
    Chunk,
    ChunkId,
    ContextPart,
    Definition,
    Document,
    DocumentId,
    Generation,
    PageSpan,
    SectionSpan,
    Span,
    TextDoubt,
    TextDoubtKind,
    Version,
)

FORMAT = "DOCUMENT_FORMAT_"
DOUBTS = {
    TextDoubtKind.READING_ORDER: chunk_pb2.TEXT_DOUBT_KIND_READING_ORDER,
    TextDoubtKind.MISSING_WORDS: chunk_pb2.TEXT_DOUBT_KIND_MISSING_WORDS,
}


def required_document_id(value: str) -> DocumentId:
    """A document id that is there."""
    if not value:
        raise InvalidInput("Must not be empty.", field="document_id")
    return DocumentId(value)


def version_of(document_id: str, generation: str, field: str) -> Version:
    """The version that two required fields below `field` name."""
    for name, value, limit in (("document_id", document_id, 1024), ("generation", generation, 64)):
        if not 1 <= len(value.encode()) <= limit:
            raise InvalidInput(f"Must have 1 to {limit:,} bytes.", field=f"{field}.{name}")
    return Version(DocumentId(document_id), Generation(generation))


def chunk_of(message: chunk_pb2.Chunk) -> Chunk:
    """A chunk as ingest sends it."""
    return Chunk(
        chunk_id=ChunkId(message.chunk_id),
        alias=message.alias,
        version=Version(DocumentId(message.document_id), Generation(message.generation)),
        source=message.source,
        title=message.title,
        heading_chain=tuple(message.heading_chain),
        section=message.section,
        text=message.text,
        word_count=message.word_count,
        span=span_of(message.span),
        pages=pages_of(message.pages),
        table_header=message.table_header,
        content_sha256=message.content_sha256,
        is_definitions=message.is_definitions,
        ordinal=message.ordinal,
        sentences=tuple(map(span_of, message.sentences)),
        sections=tuple(
            SectionSpan(tuple(section.heading_chain), span_of(section.span)) for section in message.sections
        ),
        context_before=tuple(map(_context_of, message.context_before)),
        context_after=tuple(map(_context_of, message.context_after)),
        doubts=tuple(map(_doubt_of, message.doubts)),
        digest=message.digest,
    )


def chunk_message(chunk: Chunk) -> chunk_pb2.Chunk:
    """A chunk as it is stored, whatever became of it."""
    return chunk_pb2.Chunk(
        chunk_id=chunk.chunk_id,
        alias=chunk.alias,
        document_id=chunk.version.document_id,
        source=chunk.source,
        title=chunk.title,
        heading_chain=chunk.heading_chain,
        section=chunk.section,
        text=chunk.text,
        word_count=chunk.word_count,
        span=span_to_wire(chunk.span),
        pages=pages_to_wire(chunk.pages),
        table_header=chunk.table_header,
        content_sha256=chunk.content_sha256,
        is_definitions=chunk.is_definitions,
        ordinal=chunk.ordinal,
        generation=chunk.version.generation,
        sentences=map(span_to_wire, chunk.sentences),
        sections=[
            span_pb2.SectionSpan(heading_chain=section.heading_chain, span=span_to_wire(section.span))
            for section in chunk.sections
        ],
        context_before=map(_context_to_wire, chunk.context_before),
        context_after=map(_context_to_wire, chunk.context_after),
        doubts=[
            chunk_pb2.TextDoubt(span=span_to_wire(doubt.span), kind=DOUBTS[doubt.kind])
            for doubt in chunk.doubts
        ],
        indexed_at=timestamp(chunk.indexed_at),
        digest=chunk.digest,
    )


def _context_of(message: chunk_pb2.ContextPart) -> ContextPart:
    return ContextPart(span_of(message.span), message.text, span_of(message.governs), pages_of(message.pages))


def _context_to_wire(part: ContextPart) -> chunk_pb2.ContextPart:
    return chunk_pb2.ContextPart(
        span=span_to_wire(part.span),
        text=part.text,
        governs=span_to_wire(part.governs),
        pages=pages_to_wire(part.pages),
    )


def _doubt_of(message: chunk_pb2.TextDoubt) -> TextDoubt:
    kinds = [kind for kind, number in DOUBTS.items() if number == message.kind]
    if not kinds:
        raise InvalidInput("Must be a kind of doubt.", field="chunks.chunks.doubts.kind")
    return TextDoubt(span_of(message.span), kinds[0])


def definition_of(message: definition_pb2.Definition, generation: Generation) -> Definition:
    """A definition as ingest sends it, of a version of its document."""
    return Definition(
        definition_id=message.definition_id,
        version=Version(DocumentId(message.document_id), generation),
        term=message.term,
        text=message.text,
        span=span_of(message.span),
        pages=pages_of(message.pages),
        chunk_id=ChunkId(message.chunk_id),
        source=message.source,
        title=message.title,
        section=message.section,
        digest=message.digest,
    )


def definition_message(definition: Definition) -> definition_pb2.Definition:
    """A definition as it is stored, whatever became of it."""
    return definition_pb2.Definition(
        definition_id=definition.definition_id,
        term=definition.term,
        text=definition.text,
        span=span_to_wire(definition.span),
        pages=pages_to_wire(definition.pages),
        chunk_id=definition.chunk_id,
        document_id=definition.version.document_id,
        source=definition.source,
        title=definition.title,
        section=definition.section,
        digest=definition.digest,
    )


def document_of(message: document_pb2.Document) -> Document:
    """A document as ingest sends it."""
    return Document(
        version=Version(DocumentId(message.document_id), Generation(message.generation)),
        source=message.source,
        path=message.path,
        title=message.title,
        format=document_pb2.DocumentFormat.Name(message.format).removeprefix(FORMAT).lower(),
        content_sha256=message.content_sha256,
        size_bytes=message.size_bytes,
        page_count=message.page_count,
        unreadable_pages=tuple(message.unreadable_pages),
        chunk_count=message.chunk_count,
        definition_count=message.definition_count,
        hidden_characters=message.hidden_characters,
        scanned_pages=tuple(message.scanned_pages),
        reference_marks=message.reference_marks,
        running_lines=message.running_lines,
        contents_sha256=message.contents_sha256,
        digest=message.digest,
    )


def document_message(document: Document) -> document_pb2.Document:
    """A document as it is stored, whatever became of it."""
    return document_pb2.Document(
        document_id=document.version.document_id,
        source=document.source,
        path=document.path,
        title=document.title,
        format=document_pb2.DocumentFormat.Value(FORMAT + document.format.upper()),
        content_sha256=document.content_sha256,
        generation=document.version.generation,
        size_bytes=document.size_bytes,
        page_count=document.page_count,
        unreadable_pages=document.unreadable_pages,
        chunk_count=document.chunk_count,
        definition_count=document.definition_count,
        indexed_at=timestamp(document.indexed_at),
        hidden_characters=document.hidden_characters,
        scanned_pages=document.scanned_pages,
        reference_marks=document.reference_marks,
        running_lines=document.running_lines,
        contents_sha256=document.contents_sha256,
        digest=document.digest,
    )


def span_of(message: span_pb2.Span) -> Span:
    """A span."""
    return Span(message.start, message.end)


def span_to_wire(span: Span) -> span_pb2.Span:
    """A span."""
    return span_pb2.Span(start=span.start, end=span.end)


def pages_of(messages: Iterable[span_pb2.PageSpan]) -> tuple[PageSpan, ...]:
    """The parts of a span on its pages."""
    return tuple(PageSpan(message.page, span_of(message.span)) for message in messages)


def pages_to_wire(pages: Sequence[PageSpan]) -> list[span_pb2.PageSpan]:
    """The parts of a span on its pages."""
    return [span_pb2.PageSpan(page=page.page, span=span_to_wire(page.span)) for page in pages]


def timestamp(instant: datetime | None) -> Timestamp | None:
    """An instant; None stays unset."""
    if instant is None:
        return None
    message = Timestamp()
    message.FromDatetime(instant.astimezone(UTC))
    return message
