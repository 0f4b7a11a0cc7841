"""Values of the corpus as rows of the database, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime

import numpy as np

from corpus.chunks import Chunk, ChunkId, ContextPart, TextDoubt, TextDoubtKind
from corpus.definitions import Definition
from corpus.documents import Document, DocumentFormat, DocumentId, Generation
from corpus.plain import from_plain
from corpus.profiles import DocumentProfile
from corpus.spans import PageSpan, SectionSpan, Span
from services.retrieval.corpus import EmbeddedChunk, Passage, Scope, Vectors
from services.retrieval.terms import fold_term

CHUNK_COLUMNS = (
    *("version", "chunk_id", "ordinal", "alias", "source", "title", "heading_chain", "section", "text"),
    *("word_count", "span_start", "span_end", "pages", "table_header", "content_sha256", "is_definitions"),
    *("sentences", "sections", "context_before", "context_after", "doubts", "windows", "stems", "digest"),
    "layout",
)
DEFINITION_COLUMNS = (
    *("version", "definition_id", "folded_term", "term", "text", "span_start", "span_end", "pages"),
    *("chunk_id", "source", "title", "section", "digest"),
)


def _put(table: str, columns: Sequence[str], key: Sequence[str], returning: str) -> str:
    """A statement that inserts a row, or replaces the one with its key, whose number it keeps."""
    changed = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in key)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)}) "  # noqa: S608
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changed} RETURNING {returning}"
    )


PUT_CHUNK = _put("chunks", CHUNK_COLUMNS, ["chunk_id"], "number")
PUT_DEFINITION = _put("definitions", DEFINITION_COLUMNS, ["version", "definition_id"], "1")
MAKE_LIVE = """
    UPDATE versions SET live = 1, source = :source, path = :path, title = :title, format = :format,
        content_sha256 = :content_sha256, size_bytes = :size_bytes, page_count = :page_count,
        unreadable_pages = :unreadable_pages, chunk_count = :chunk_count,
        definition_count = :definition_count, window_count = :window_count, indexed_at = :indexed_at,
        hidden_characters = :hidden_characters, scanned_pages = :scanned_pages,
        reference_marks = :reference_marks, running_lines = :running_lines, profile = :profile,
        contents_sha256 = :contents_sha256, digest = :digest
    WHERE number = :number
"""
IN_SCOPE = """
    v.live AND (:sources IS NULL OR v.source IN (SELECT value FROM json_each(:sources)))
    AND (:document_ids IS NULL OR v.document_id IN (SELECT value FROM json_each(:document_ids)))
"""
"""Condition on versions v, with the parameters of `scope_values`."""


def scope_values(scope: Scope) -> dict[str, str | None]:
    """Parameters of `IN_SCOPE`."""
    return {
        "sources": listed(scope.sources) if scope.sources else None,
        "document_ids": listed(scope.document_ids) if scope.document_ids else None,
    }


def listed(names: Sequence[str]) -> str:
    """Names as `json_each` takes them, but for those with a NUL.

    SQLite ends a text of JSON there, and would find what has the shorter name. Nothing stored has one.
    """
    return json.dumps([name for name in names if "\0" not in name])


def chunk_values(version: int, embedded: EmbeddedChunk) -> dict[str, object]:
    """Parameters of `PUT_CHUNK`."""
    chunk = embedded.chunk
    return {
        "version": version,
        "chunk_id": chunk.chunk_id,
        "ordinal": chunk.ordinal,
        "alias": chunk.alias,
        "source": chunk.source,
        "title": chunk.title,
        "heading_chain": json.dumps(chunk.heading_chain),
        "section": chunk.section,
        "text": chunk.text,
        "word_count": chunk.word_count,
        "span_start": chunk.span.start,
        "span_end": chunk.span.end,
        "pages": _pages_json(chunk.pages),
        "table_header": chunk.table_header,
        "content_sha256": chunk.content_sha256,
        "is_definitions": chunk.is_definitions,
        "sentences": _spans_json(chunk.sentences),
        "sections": _sections_json(chunk.sections),
        "context_before": _contexts_json(chunk.context_before),
        "context_after": _contexts_json(chunk.context_after),
        "doubts": json.dumps([(doubt.span.start, doubt.span.end, doubt.kind) for doubt in chunk.doubts]),
        "windows": _spans_json(embedded.windows),
        "stems": " ".join(embedded.stems),
        "digest": chunk.digest,
        "layout": chunk.layout,
    }


def read_chunk(row: sqlite3.Row) -> Chunk:
    """The chunk of a row of chunks with its version's `document_id`, `generation` and `indexed_at`."""
    return Chunk(
        chunk_id=ChunkId(row["chunk_id"]),
        alias=row["alias"],
        document_id=DocumentId(row["document_id"]),
        generation=Generation(row["generation"]),
        source=row["source"],
        title=row["title"],
        heading_chain=tuple(json.loads(row["heading_chain"])),
        section=row["section"],
        text=row["text"],
        word_count=row["word_count"],
        span=Span(row["span_start"], row["span_end"]),
        pages=_pages(row["pages"]),
        table_header=row["table_header"],
        content_sha256=row["content_sha256"],
        is_definitions=bool(row["is_definitions"]),
        ordinal=row["ordinal"],
        sentences=_spans(row["sentences"]),
        sections=_sections(row["sections"]),
        context_before=_contexts(row["context_before"]),
        context_after=_contexts(row["context_after"]),
        doubts=_doubts(row["doubts"]),
        layout=row["layout"],
        digest=row["digest"],
        indexed_at=datetime.fromisoformat(row["indexed_at"]),
    )


def read_embedded_chunk(row: sqlite3.Row) -> EmbeddedChunk:
    """The same with the chunk's row of vectors beside it."""
    return EmbeddedChunk(read_chunk(row), *_embedding(row))


def read_passage(row: sqlite3.Row) -> Passage:
    """The passage of a row with `chunk_id` and `document_id`, `windows`, `stems` and the vectors' `data`."""
    return Passage(ChunkId(row["chunk_id"]), DocumentId(row["document_id"]), *_embedding(row))


def definition_values(version: int, definition: Definition) -> dict[str, object]:
    """Parameters of `PUT_DEFINITION`."""
    return {
        "version": version,
        "definition_id": definition.definition_id,
        "folded_term": fold_term(definition.term),
        "term": definition.term,
        "text": definition.text,
        "span_start": definition.span.start,
        "span_end": definition.span.end,
        "pages": _pages_json(definition.pages),
        "chunk_id": definition.chunk_id,
        "source": definition.source,
        "title": definition.title,
        "section": definition.section,
        "digest": definition.digest,
    }


def read_definition(row: sqlite3.Row) -> Definition:
    """The definition of a row of definitions with its version's `document_id` and `generation`."""
    return Definition(
        definition_id=row["definition_id"],
        document_id=DocumentId(row["document_id"]),
        generation=Generation(row["generation"]),
        term=row["term"],
        text=row["text"],
        span=Span(row["span_start"], row["span_end"]),
        pages=_pages(row["pages"]),
        chunk_id=ChunkId(row["chunk_id"]),
        source=row["source"],
        title=row["title"],
        section=row["section"],
        digest=row["digest"],
    )


def document_values(number: int, window_count: int, document: Document) -> dict[str, object]:
    """Parameters of `MAKE_LIVE`; the document's `indexed_at` is set."""
    assert document.indexed_at is not None
    return {
        "number": number,
        "source": document.source,
        "path": document.path,
        "title": document.title,
        "format": document.format,
        "content_sha256": document.content_sha256,
        "size_bytes": document.size_bytes,
        "page_count": document.page_count,
        "unreadable_pages": json.dumps(document.unreadable_pages),
        "chunk_count": document.chunk_count,
        "definition_count": document.definition_count,
        "window_count": window_count,
        "indexed_at": document.indexed_at.isoformat(),
        "hidden_characters": document.hidden_characters,
        "scanned_pages": json.dumps(document.scanned_pages),
        "reference_marks": document.reference_marks,
        "running_lines": document.running_lines,
        "profile": json.dumps(asdict(document.profile)) if document.profile else None,
        "contents_sha256": document.contents_sha256,
        "digest": document.digest,
    }


def read_document(row: sqlite3.Row) -> Document:
    """The document of a live row of versions."""
    return Document(
        document_id=DocumentId(row["document_id"]),
        generation=Generation(row["generation"]),
        source=row["source"],
        path=row["path"],
        title=row["title"],
        format=DocumentFormat(row["format"]),
        content_sha256=row["content_sha256"],
        size_bytes=row["size_bytes"],
        page_count=row["page_count"],
        unreadable_pages=tuple(json.loads(row["unreadable_pages"])),
        chunk_count=row["chunk_count"],
        definition_count=row["definition_count"],
        indexed_at=datetime.fromisoformat(row["indexed_at"]),
        hidden_characters=row["hidden_characters"],
        scanned_pages=tuple(json.loads(row["scanned_pages"])),
        reference_marks=row["reference_marks"],
        running_lines=row["running_lines"],
        profile=from_plain(json.loads(row["profile"]), DocumentProfile) if row["profile"] else None,
        contents_sha256=row["contents_sha256"],
        digest=row["digest"],
    )


def _embedding(row: sqlite3.Row) -> tuple[tuple[Span, ...], Vectors, tuple[str, ...]]:
    windows = _spans(row["windows"])
    vectors = np.frombuffer(row["data"], np.float32).reshape(len(windows), -1)
    return windows, vectors, tuple(row["stems"].split())


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _spans_json(spans: Iterable[Span]) -> str:
    return json.dumps([_ends(span) for span in spans])


def _spans(text: str) -> tuple[Span, ...]:
    return tuple(Span(start, end) for start, end in json.loads(text))


def _sections_json(sections: Iterable[SectionSpan]) -> str:
    return json.dumps([(section.heading_chain, section.span.start, section.span.end) for section in sections])


def _sections(text: str) -> tuple[SectionSpan, ...]:
    return tuple(SectionSpan(tuple(chain), Span(start, end)) for chain, start, end in json.loads(text))


def _contexts_json(parts: Iterable[ContextPart]) -> str:
    return json.dumps(
        [[_ends(part.span), part.text, _ends(part.governs), _page_places(part.pages)] for part in parts]
    )


def _contexts(text: str) -> tuple[ContextPart, ...]:
    return tuple(
        ContextPart(Span(*span), words, Span(*governs), _placed(pages))
        for span, words, governs, pages in json.loads(text)
    )


def _doubts(text: str) -> tuple[TextDoubt, ...]:
    return tuple(TextDoubt(Span(start, end), TextDoubtKind(kind)) for start, end, kind in json.loads(text))


def _pages_json(pages: Iterable[PageSpan]) -> str:
    return json.dumps(_page_places(pages))


def _pages(text: str) -> tuple[PageSpan, ...]:
    return _placed(json.loads(text))


def _page_places(pages: Iterable[PageSpan]) -> list[tuple[int, int, int]]:
    return [(page.page, page.span.start, page.span.end) for page in pages]


def _placed(places: Iterable[tuple[int, int, int]]) -> tuple[PageSpan, ...]:
    return tuple(PageSpan(page, Span(start, end)) for page, start, end in places)
