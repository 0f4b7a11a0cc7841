"""Chunks, documents and definitions of which a test says only what it is about."""

from __future__ import annotations

from typing import Any

from corpus.chunks import Chunk
from corpus.definitions import Definition
from corpus.documents import Document, DocumentFormat, DocumentId, source_of
from corpus.spans import Span


def a_chunk(text: str = "The fee is due.", **told: Any) -> Chunk:
    """A chunk that is the whole of `text` unless `told` otherwise, field by field."""
    document_id = told.get("document_id", "cme/a.txt")
    plain: dict[str, Any] = {
        "chunk_id": "chunk",
        "alias": "",
        "document_id": document_id,
        "source": source_of(document_id),
        "title": "T",
        "heading_chain": (),
        "section": "S",
        "span": Span(0, len(text)),
        "pages": (),
        "table_header": "",
        "generation": "g",
        "sentences": (),
        "word_count": 0,
        "content_sha256": "",
        "is_definitions": False,
        "ordinal": 0,
    }
    return Chunk(text=text, **(plain | told))


def a_definition(term: str, text: str, **told: Any) -> Definition:
    """A definition that stands at the beginning of its document unless `told` otherwise, field by field."""
    document_id = told.get("document_id", "cme/a.txt")
    plain: dict[str, Any] = {
        "definition_id": "",
        "document_id": document_id,
        "generation": "g",
        "span": Span(0, len(text)),
        "pages": (),
        "chunk_id": "chunk",
        "source": source_of(document_id),
        "title": "",
        "section": "",
    }
    return Definition(term=term, text=text, **(plain | told))


def a_document(document_id: str = "cme/a.txt", **told: Any) -> Document:
    """A text file with nothing to tell unless `told` otherwise, field by field."""
    plain: dict[str, Any] = {
        "generation": "g",
        "source": source_of(document_id),
        "path": document_id.partition("/")[2],
        "title": "T",
        "format": DocumentFormat.TEXT,
        "content_sha256": "d" * 64,
        "size_bytes": 0,
        "page_count": 0,
        "unreadable_pages": (),
        "chunk_count": 0,
        "definition_count": 0,
    }
    return Document(document_id=DocumentId(document_id), **(plain | told))
