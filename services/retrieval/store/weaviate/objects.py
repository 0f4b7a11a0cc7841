"""Values of the corpus as objects of Weaviate, and back."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from weaviate.collections.classes.data import DataObject
from weaviate.collections.classes.internal import Object

from corpus.chunks import Chunk, ChunkId, ContextPart, TextDoubt, TextDoubtKind
from corpus.definitions import Definition
from corpus.documents import Document, DocumentFormat, DocumentId, Generation, Version
from corpus.plain import from_plain
from corpus.profiles import DocumentProfile
from corpus.spans import PageSpan, SectionSpan, Span
from corpus.stems import stems_of
from services.retrieval.corpus import EmbeddedChunk, Passage, Vectors
from services.retrieval.store.weaviate.keys import ORDER_KEY, key_of, order_key
from services.retrieval.store.weaviate.schema import WINDOWS
from services.retrieval.terms import fold_term

HEADING = "#"
"""Marks a stem of heading chain or table header; no stem begins with it."""

Recorded = TypeVar("Recorded", Chunk, Definition, Document)
Values = Mapping[str, Any]
"""The properties of an object, as the client has them."""


@dataclass(frozen=True, slots=True)
class LiveDocument:
    """What a live document's object says of its chunks and definitions."""

    version: Version
    chunk_count: int
    indexed_at: datetime


VERSION = ["document_id", "generation"]
"""Properties for `read_version`."""
LIVE_DOCUMENT = [*VERSION, "chunk_count", "indexed_at"]
"""Properties for `read_live_document`."""
EMBEDDED_CHUNK = ["record", "windows", "stems"]
"""Properties for `read_embedded_chunk`, which needs the vectors, too."""
DOCUMENT = ["record", "indexed_at"]
"""Properties for `read_document`."""
PASSAGE = ["chunk_id", "document_id", "windows", "stems"]
"""Properties for `read_passage`, which needs the vectors, too."""


def version_key(version: Version) -> UUID:
    """The key of a version."""
    return key_of(json.dumps([version.document_id, version.generation]))


def keywords(embedded: EmbeddedChunk) -> str:
    """What the keyword leg searches: the stems of the text, then those of its headings, marked."""
    headings = stems_of(" ".join([*embedded.chunk.heading_chain, embedded.chunk.table_header]))
    return " ".join(embedded.stems) + "".join(f" {HEADING}{stem}" for stem in headings)


def chunk_object(embedded: EmbeddedChunk) -> DataObject[dict[str, Any], None]:
    """The object of a chunk."""
    chunk = embedded.chunk
    properties = {
        "chunk_id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "generation": chunk.generation,
        "document_key": key_of(chunk.document_id),
        "version_key": version_key(chunk.version),
        "source_key": key_of(chunk.source),
        "ordinal": chunk.ordinal,
        "window_count": len(embedded.windows),
        "stems": keywords(embedded),
        "windows": [place for span in embedded.windows for place in (span.start, span.end)],
        "record": _record(chunk),
    }
    vectors = np.asarray(embedded.vectors, np.float32).tolist()
    return DataObject(properties, uuid=key_of(chunk.chunk_id), vector={WINDOWS: vectors})


def read_chunk(values: Values) -> Chunk:
    """The chunk of an object's `record`, as it was put."""
    record = json.loads(values["record"])
    record |= {
        **_version(record["version"]),
        "heading_chain": tuple(record["heading_chain"]),
        "span": Span(*record["span"]),
        "pages": _pages(record["pages"]),
        "sentences": tuple(Span(*bounds) for bounds in record["sentences"]),
        "sections": tuple(SectionSpan(tuple(chain), Span(*span)) for chain, span in record["sections"]),
        # Records that were written before these were kept lack them.
        "layout": base64.b64decode(record.get("layout", "")),
        "context_before": _contexts(record.get("context_before", ())),
        "context_after": _contexts(record.get("context_after", ())),
        "doubts": tuple(
            TextDoubt(Span(*span), TextDoubtKind(kind)) for span, kind in record.get("doubts", ())
        ),
    }
    return _value(Chunk, record)


def read_passage(found: Object[Any, Any]) -> Passage:
    """The passage of an object with `PASSAGE` and its vectors."""
    values = found.properties
    return Passage(
        ChunkId(values["chunk_id"]),
        DocumentId(values["document_id"]),
        _windows(values),
        _vectors(found),
        read_stems(values),
    )


def read_embedded_chunk(found: Object[Any, Any]) -> EmbeddedChunk:
    """The chunk of an object with `EMBEDDED_CHUNK` and its vectors."""
    values = found.properties
    return EmbeddedChunk(read_chunk(values), _windows(values), _vectors(found), read_stems(values))


def definition_object(definition: Definition) -> DataObject[dict[str, Any], None]:
    """The object of a definition."""
    folded_term = fold_term(definition.term)
    properties = {
        ORDER_KEY: order_key(definition.definition_id),
        "document_key": key_of(definition.document_id),
        "version_key": version_key(definition.version),
        "source_key": key_of(definition.source),
        "term_key": key_of(folded_term),
        "folded_term": folded_term,
        "record": _record(definition),
    }
    return DataObject(properties, uuid=key_of(definition.definition_id))


def read_definition(values: Values) -> Definition:
    """The definition of an object's `record`."""
    record = json.loads(values["record"])
    record |= {
        **_version(record["version"]),
        "span": Span(*record["span"]),
        "pages": _pages(record["pages"]),
    }
    return _value(Definition, record)


def document_object(
    document: Document, window_count: int, folded_terms: Iterable[str]
) -> DataObject[dict[str, Any], None]:
    """The object of a live document; its `indexed_at` is set."""
    assert document.indexed_at is not None
    document_key = key_of(document.document_id)
    properties = {
        ORDER_KEY: order_key(document.document_id),
        "document_id": document.document_id,
        "generation": document.generation,
        "document_key": document_key,
        "source_key": key_of(document.source),
        "source": document.source,
        "chunk_count": document.chunk_count,
        "window_count": window_count,
        "definition_count": document.definition_count,
        "page_count": document.page_count,
        "unreadable_count": len(document.unreadable_pages),
        "folded_terms": sorted(folded_terms),
        "indexed_at": document.indexed_at.isoformat(),
        "record": _record(document),
    }
    return DataObject(properties, uuid=document_key)


def read_version(values: Values) -> Version:
    """The version of an object with `VERSION`."""
    return Version(DocumentId(values["document_id"]), Generation(values["generation"]))


def read_live_document(values: Values) -> LiveDocument:
    """From an object with `LIVE_DOCUMENT`."""
    return LiveDocument(
        read_version(values),
        values["chunk_count"],
        datetime.fromisoformat(values["indexed_at"]),
    )


def read_document(values: Values) -> Document:
    """The document of an object with `DOCUMENT`."""
    record = json.loads(values["record"])
    record |= {
        **_version(record["version"]),
        "format": DocumentFormat(record["format"]),
        "unreadable_pages": tuple(record["unreadable_pages"]),
        # Records that were written before these were kept lack them.
        "scanned_pages": tuple(record.get("scanned_pages", ())),
        "profile": from_plain(record["profile"], DocumentProfile) if record.get("profile") else None,
        "indexed_at": datetime.fromisoformat(values["indexed_at"]),
    }
    return _value(Document, record)


def staged_object(version: Version) -> DataObject[dict[str, Any], None]:
    """The object that says that a version was begun."""
    properties = {"document_id": version.document_id, "document_key": key_of(version.document_id)}
    return DataObject(properties, uuid=version_key(version))


def _value(of: type[Recorded], record: Mapping[str, Any]) -> Recorded:
    """The value of its fields. Others are those of a later release, which is rolled out beside this one."""
    names = {field.name for field in fields(of)}
    return of(**{name: value for name, value in record.items() if name in names})


def _record(value: Chunk | Definition | Document) -> str:
    """All fields by name but the time of the flip, which is not known yet; what is in them is lists, and
    a card, whose fields are named.

    Document and generation are one entry, `version`: records are read by other releases.
    """
    named = {
        "version" if field.name == "document_id" else field.name: getattr(value, field.name)
        for field in fields(value)
        if field.name not in ("generation", "indexed_at")
    }
    named["version"] = [value.document_id, value.generation]
    return json.dumps(named, default=_parts)


def _parts(
    value: Span | PageSpan | SectionSpan | ContextPart | TextDoubt | DocumentProfile | bytes,
) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, DocumentProfile):
        return asdict(value)
    return [getattr(value, field.name) for field in fields(value)]


def _version(parts: list[str]) -> dict[str, str]:
    return dict(zip(VERSION, parts, strict=True))


def _pages(parts: list[tuple[int, tuple[int, int]]]) -> tuple[PageSpan, ...]:
    return tuple(PageSpan(page, Span(*span)) for page, span in parts)


def _contexts(parts: Iterable[Any]) -> tuple[ContextPart, ...]:
    return tuple(
        ContextPart(Span(*span), text, Span(*governs), _pages(pages)) for span, text, governs, pages in parts
    )


def _windows(values: Values) -> tuple[Span, ...]:
    places = values["windows"]
    return tuple(map(Span, places[::2], places[1::2]))


def _vectors(found: Object[Any, Any]) -> Vectors:
    return np.array(found.vector[WINDOWS], np.float32)


def read_stems(values: Values) -> tuple[str, ...]:
    """The stems of a chunk's text, from an object with `stems`."""
    return tuple(values["stems"].partition(f" {HEADING}")[0].split())
