"""Reads of the database that need no index beside it. Each sees live versions only."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import groupby

from services.retrieval.corpus import (
    Chunk,
    ChunkId,
    Definition,
    Document,
    DocumentId,
    EmbeddedChunk,
    Scope,
    Version,
)
from services.retrieval.store.embedded.rows import (
    IN_SCOPE,
    listed,
    read_chunk,
    read_definition,
    read_document,
    read_embedded_chunk,
    scope_values,
)
from services.retrieval.store.port import MEAN_OF, Coverage, IndexCounts, SourceCounts
from services.retrieval.store.revisions import revision_of

EXPECTED = "expected"
"""Key of what `expect` keeps."""
STAGED = """
    SELECT c.chunk_id, c.digest FROM chunks c JOIN versions v ON v.number = c.version
    WHERE v.document_id = ? AND v.generation = ?
"""
CHUNKS = f"""
    SELECT c.*, v.document_id, v.generation, v.indexed_at
    FROM chunks c JOIN versions v ON v.number = c.version
    WHERE c.chunk_id IN (SELECT value FROM json_each(:chunk_ids)) AND {IN_SCOPE}
"""  # noqa: S608
EMBEDDED_CHUNKS = """
    SELECT c.*, v.document_id, v.generation, v.indexed_at, e.data
    FROM chunks c JOIN versions v ON v.number = c.version JOIN vectors e ON e.chunk = c.number
    WHERE v.live AND c.chunk_id IN (SELECT value FROM json_each(?))
"""
CHUNKS_IN_ORDER = """
    SELECT c.*, v.document_id, v.generation, v.indexed_at
    FROM versions v JOIN chunks c ON c.version = v.number
    WHERE v.live AND v.document_id = ? AND c.ordinal > ? ORDER BY c.ordinal LIMIT ?
"""
FIRST_CHUNKS = """
    SELECT c.*, v.document_id, v.generation, v.indexed_at
    FROM versions v JOIN chunks c ON c.version = v.number
    WHERE v.live AND v.document_id IN (SELECT value FROM json_each(?)) AND c.ordinal < ?
    ORDER BY v.document_id, c.ordinal
"""
LIVE_VERSIONS = f"SELECT v.document_id, v.generation FROM versions v WHERE {IN_SCOPE}"  # noqa: S608
DOCUMENTS = f"""
    SELECT * FROM versions v WHERE {IN_SCOPE} AND v.document_id > :after ORDER BY v.document_id LIMIT :limit
"""  # noqa: S608
ANY = f"SELECT 1 FROM versions v WHERE {IN_SCOPE} LIMIT 1"  # noqa: S608
SOURCES = """
    SELECT source, count(*) AS documents, sum(chunk_count) AS chunks FROM versions WHERE live
    GROUP BY source ORDER BY source
"""
DEFINITIONS = f"""
    SELECT d.*, v.document_id, v.generation FROM definitions d JOIN versions v ON v.number = d.version
    WHERE d.folded_term IN (SELECT value FROM json_each(:terms)) AND {IN_SCOPE}
    ORDER BY v.document_id, d.span_start, d.definition_id
"""  # noqa: S608
DEFINED_TERMS = f"""
    SELECT DISTINCT d.folded_term FROM definitions d JOIN versions v ON v.number = d.version WHERE {IN_SCOPE}
    ORDER BY d.folded_term
"""  # noqa: S608
COVERAGE = f"""
    SELECT count(*) AS documents, coalesce(sum(page_count), 0) AS pages,
        coalesce(sum(json_array_length(unreadable_pages)), 0) AS unreadable_pages
    FROM versions v WHERE {IN_SCOPE}
"""  # noqa: S608
MEAN_STEMS = f"""
    SELECT avg(stem_count) AS mean FROM (
        SELECT length(c.stems) - length(replace(c.stems, ' ', '')) + (c.stems != '') AS stem_count
        FROM versions v JOIN chunks c ON c.version = v.number WHERE {IN_SCOPE} LIMIT {MEAN_OF}
    )
"""  # noqa: S608
COUNTS = f"""
    SELECT count(*) AS documents, coalesce(sum(chunk_count), 0) AS chunks,
        coalesce(sum(definition_count), 0) AS definitions, coalesce(sum(window_count), 0) AS windows
    FROM versions v WHERE {IN_SCOPE}
"""  # noqa: S608
STATE = f"SELECT document_id, generation, indexed_at FROM versions v WHERE {IN_SCOPE}"  # noqa: S608


def staged(connection: sqlite3.Connection, version: Version) -> dict[ChunkId, str]:
    """See `Store.staged`; the one read that sees more than live versions."""
    found = connection.execute(STAGED, (version.document_id, version.generation))
    return {ChunkId(row["chunk_id"]): row["digest"] for row in found}


def chunks(
    connection: sqlite3.Connection, chunk_ids: Sequence[ChunkId], scope: Scope
) -> dict[ChunkId, Chunk]:
    """See `Store.chunks`."""
    values = {**scope_values(scope), "chunk_ids": listed(chunk_ids)}
    found = map(read_chunk, connection.execute(CHUNKS, values))
    return {chunk.chunk_id: chunk for chunk in found}


def embedded_chunks(
    connection: sqlite3.Connection, chunk_ids: Sequence[ChunkId]
) -> dict[ChunkId, EmbeddedChunk]:
    """See `Store.embedded_chunks`."""
    found = map(read_embedded_chunk, connection.execute(EMBEDDED_CHUNKS, (listed(chunk_ids),)))
    return {embedded.chunk.chunk_id: embedded for embedded in found}


def chunks_of(
    connection: sqlite3.Connection, document_id: DocumentId, after: int | None, limit: int
) -> Sequence[Chunk]:
    """See `Store.chunks_of`."""
    values = (document_id, -1 if after is None else after, max(limit, 0))
    return tuple(map(read_chunk, connection.execute(CHUNKS_IN_ORDER, values)))


def first_chunks(
    connection: sqlite3.Connection, document_ids: Sequence[DocumentId], limit: int
) -> dict[DocumentId, Sequence[Chunk]]:
    """See `Store.first_chunks`."""
    found = map(read_chunk, connection.execute(FIRST_CHUNKS, (listed(document_ids), limit)))
    by_document = groupby(found, lambda each: each.version.document_id)
    return {document_id: tuple(chunks) for document_id, chunks in by_document}


def document(connection: sqlite3.Connection, document_id: DocumentId) -> Document | None:
    """See `Store.document`."""
    found = documents(connection, Scope(document_ids=(document_id,)), None, 1)
    return found[0] if found else None


def covers(connection: sqlite3.Connection, scope: Scope) -> bool:
    """See `Store.covers`."""
    return connection.execute(ANY, scope_values(scope)).fetchone() is not None


def documents(
    connection: sqlite3.Connection, scope: Scope, after: DocumentId | None, limit: int
) -> Sequence[Document]:
    """See `Store.documents`."""
    parameters = {**scope_values(scope), "after": after or "", "limit": max(limit, 0)}
    return tuple(map(read_document, connection.execute(DOCUMENTS, parameters)))


def live_versions(connection: sqlite3.Connection, scope: Scope) -> Sequence[Version]:
    """See `Store.live_versions`."""
    return tuple(Version(*row) for row in connection.execute(LIVE_VERSIONS, scope_values(scope)))


def sources(connection: sqlite3.Connection) -> Sequence[SourceCounts]:
    """See `Store.sources`."""
    return tuple(SourceCounts(*row) for row in connection.execute(SOURCES))


def definitions(
    connection: sqlite3.Connection, folded_terms: Sequence[str], scope: Scope
) -> Sequence[Definition]:
    """See `Store.definitions`."""
    parameters = {**scope_values(scope), "terms": listed(folded_terms)}
    return tuple(map(read_definition, connection.execute(DEFINITIONS, parameters)))


def defined_terms(connection: sqlite3.Connection, scope: Scope) -> Sequence[str]:
    """See `Store.defined_terms`; in order."""
    return tuple(row["folded_term"] for row in connection.execute(DEFINED_TERMS, scope_values(scope)))


def mean_stems(connection: sqlite3.Connection, scope: Scope) -> float:
    """See `Store.mean_stems`."""
    return max(connection.execute(MEAN_STEMS, scope_values(scope)).fetchone()["mean"] or 0.0, 1.0)


def coverage(connection: sqlite3.Connection, scope: Scope) -> Coverage:
    """See `Store.coverage`."""
    return Coverage(*connection.execute(COVERAGE, scope_values(scope)).fetchone())


def counts(connection: sqlite3.Connection, scope: Scope) -> IndexCounts:
    """See `Store.counts`."""
    return IndexCounts(*connection.execute(COUNTS, scope_values(scope)).fetchone())


def revision(connection: sqlite3.Connection, scope: Scope) -> str:
    """See `Store.revision`; of some documents."""
    return revision_of(map(tuple, connection.execute(STATE, scope_values(scope))))


def expected(connection: sqlite3.Connection) -> int:
    """See `Store.expected`."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (EXPECTED,)).fetchone()
    return int(row["value"]) if row else 0


def expect(connection: sqlite3.Connection, documents: int) -> None:
    """See `Store.expect`."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (EXPECTED, documents))
