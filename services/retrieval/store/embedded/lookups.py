"""Reads of the database that need no index beside it. Each sees live versions only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from typing_extensions import override

from corpus.chunks import Chunk, ChunkId
from corpus.definitions import Definition
from corpus.documents import Document, DocumentId, Version
from services.retrieval.corpus import EVERYWHERE, EmbeddedChunk, Scope
from services.retrieval.store.embedded.rows import (
    IN_SCOPE,
    listed,
    read_chunk,
    read_definition,
    read_document,
    read_embedded_chunk,
    scope_values,
)
from services.retrieval.store.embedded.threads import Threads
from services.retrieval.store.embedded.view import CurrentView
from services.retrieval.store.port import MEAN_OF, Coverage, IndexCounts, SourceCounts, Store
from services.retrieval.store.revisions import revision_of

EXPECTED = "expected"
"""Key of what `expect` keeps."""
FIND_EXPECTED = "SELECT value FROM meta WHERE key = ?"
EXPECT = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
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


class Lookups(Store):
    """The part of a `Store` that the database alone answers."""

    _threads: Threads
    _current: CurrentView

    @override
    async def staged(self, version: Version) -> Mapping[ChunkId, str]:
        # The one read that sees more than live versions.
        key = (version.document_id, version.generation)
        return dict(
            await self._threads.found(lambda row: (ChunkId(row["chunk_id"]), str(row["digest"])), STAGED, key)
        )

    @override
    async def revision(self, scope: Scope = EVERYWHERE) -> str:
        if scope != EVERYWHERE:
            versions = await self._threads.found(tuple, STATE, scope_values(scope))
            return await self._threads.read(revision_of, versions)
        self._threads.check_open()
        return self._current.view.revision

    @override
    async def chunks(self, chunk_ids: Sequence[ChunkId], scope: Scope = EVERYWHERE) -> dict[ChunkId, Chunk]:
        values = {**scope_values(scope), "chunk_ids": listed(chunk_ids)}
        found = await self._threads.found(read_chunk, CHUNKS, values)
        return {chunk.chunk_id: chunk for chunk in found}

    @override
    async def embedded_chunks(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, EmbeddedChunk]:
        found = await self._threads.found(read_embedded_chunk, EMBEDDED_CHUNKS, (listed(chunk_ids),))
        return {embedded.chunk.chunk_id: embedded for embedded in found}

    @override
    async def chunks_of(self, document_id: DocumentId, after: int | None, limit: int) -> Sequence[Chunk]:
        values = (document_id, -1 if after is None else after, max(limit, 0))
        return await self._threads.found(read_chunk, CHUNKS_IN_ORDER, values)

    @override
    async def first_chunks(
        self, document_ids: Sequence[DocumentId], limit: int
    ) -> dict[DocumentId, Sequence[Chunk]]:
        found = await self._threads.found(read_chunk, FIRST_CHUNKS, (listed(document_ids), limit))
        by_document = groupby(found, lambda chunk: chunk.document_id)
        return {document_id: tuple(chunks) for document_id, chunks in by_document}

    @override
    async def document(self, document_id: DocumentId) -> Document | None:
        found = await self.documents(Scope(document_ids=(document_id,)), None, 1)
        return found[0] if found else None

    @override
    async def covers(self, scope: Scope) -> bool:
        return bool(await self._threads.found(tuple, ANY, scope_values(scope)))

    @override
    async def documents(self, scope: Scope, after: DocumentId | None, limit: int) -> Sequence[Document]:
        values = {**scope_values(scope), "after": after or "", "limit": max(limit, 0)}
        return await self._threads.found(read_document, DOCUMENTS, values)

    @override
    async def live_versions(self, scope: Scope) -> Sequence[Version]:
        return await self._threads.found(lambda row: Version(*row), LIVE_VERSIONS, scope_values(scope))

    @override
    async def sources(self) -> Sequence[SourceCounts]:
        return await self._threads.found(lambda row: SourceCounts(*row), SOURCES)

    @override
    async def definitions(self, folded_terms: Sequence[str], scope: Scope) -> Sequence[Definition]:
        values = {**scope_values(scope), "terms": listed(folded_terms)}
        return await self._threads.found(read_definition, DEFINITIONS, values)

    @override
    async def defined_terms(self, scope: Scope) -> Sequence[str]:
        return await self._threads.found(lambda row: str(row[0]), DEFINED_TERMS, scope_values(scope))

    @override
    async def mean_stems(self, scope: Scope) -> float:
        (mean,) = await self._threads.found(lambda row: row["mean"], MEAN_STEMS, scope_values(scope))
        return max(mean or 0.0, 1.0)

    @override
    async def coverage(self, scope: Scope) -> Coverage:
        (covered,) = await self._threads.found(lambda row: Coverage(*row), COVERAGE, scope_values(scope))
        return covered

    @override
    async def counts(self, scope: Scope = EVERYWHERE) -> IndexCounts:
        (counts,) = await self._threads.found(lambda row: IndexCounts(*row), COUNTS, scope_values(scope))
        return counts

    @override
    async def expect(self, documents: int) -> None:
        await self._threads.changed(tuple, EXPECT, (EXPECTED, documents))

    @override
    async def expected(self) -> int:
        found = await self._threads.found(lambda row: int(row["value"]), FIND_EXPECTED, (EXPECTED,))
        return found[0] if found else 0
