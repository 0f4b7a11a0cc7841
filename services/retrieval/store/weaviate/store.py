"""The store of one tenant in Weaviate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from services.retrieval.corpus import (
    EVERYWHERE,
    Chunk,
    ChunkId,
    Definition,
    Document,
    DocumentId,
    EmbeddedChunk,
    Hits,
    Scope,
    Vector,
    Version,
)
from services.retrieval.store.port import Committed, Coverage, IndexCounts, LegHits, Legs, SourceCounts
from services.retrieval.store.weaviate.connection import Connection
from services.retrieval.store.weaviate.counting import Counting
from services.retrieval.store.weaviate.lookups import Lookups
from services.retrieval.store.weaviate.records import WeaviateRecords
from services.retrieval.store.weaviate.schema import Names
from services.retrieval.store.weaviate.searching import Searching
from services.retrieval.store.weaviate.tenants import TenantCollections
from services.retrieval.store.weaviate.writing import CheckWritable, Writer


class WeaviateStore:
    """A `Store`. Its collections exist and hold this tenant."""

    def __init__(
        self,
        connection: Connection,
        names: Names,
        tenant: str,
        clock: Callable[[], datetime],
        check_writable: CheckWritable,
    ) -> None:
        collections = TenantCollections(connection, names, tenant)
        self._lookups = Lookups(collections)
        self._searching = Searching(collections, self._lookups)
        self._counting = Counting(collections, self._lookups)
        self._writer = Writer(collections, self._lookups, clock, check_writable)
        self._records = WeaviateRecords(collections)

    @property
    def records(self) -> WeaviateRecords:
        """See `Store.records`."""
        return self._records

    async def staged(self, version: Version) -> Mapping[ChunkId, str]:
        """See `Store.staged`."""
        return await self._lookups.staged(version)

    async def put_chunks(self, version: Version, chunks: Sequence[EmbeddedChunk]) -> None:
        """See `Store.put_chunks`."""
        await self._writer.put_chunks(version, chunks)

    async def put_definitions(self, version: Version, definitions: Sequence[Definition]) -> None:
        """See `Store.put_definitions`."""
        await self._writer.put_definitions(version, definitions)

    async def commit(self, document: Document) -> Committed:
        """See `Store.commit`."""
        return await self._writer.commit(document)

    async def remove(self, document_id: DocumentId) -> str | None:
        """See `Store.remove`."""
        return await self._writer.remove(document_id)

    async def expect(self, documents: int) -> None:
        """See `Store.expect`."""
        await self._writer.expect(documents)

    async def expected(self) -> int:
        """See `Store.expected`."""
        return await self._lookups.expected()

    async def revision(self, scope: Scope = EVERYWHERE) -> str:
        """See `Store.revision`."""
        whole = await self._writer.revision()
        return whole if scope == EVERYWHERE else await self._lookups.revision_within(scope)

    async def keyword_hits(self, stems: Sequence[str], k: int, scope: Scope) -> Hits:
        """See `Store.keyword_hits`."""
        return await self._searching.keyword_hits(stems, k, scope)

    async def vector_hits(self, vector: Vector, k: int, scope: Scope) -> Hits:
        """See `Store.vector_hits`."""
        return await self._searching.vector_hits(vector, k, scope)

    async def search(self, legs: Legs, scope: Scope) -> LegHits:
        """See `Store.search`."""
        return await self._searching.search(legs, scope)

    async def chunks(self, chunk_ids: Sequence[ChunkId], scope: Scope = EVERYWHERE) -> dict[ChunkId, Chunk]:
        """See `Store.chunks`."""
        return await self._lookups.chunks(chunk_ids, scope)

    async def embedded_chunks(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, EmbeddedChunk]:
        """See `Store.embedded_chunks`."""
        return await self._lookups.embedded_chunks(chunk_ids)

    async def chunks_of(self, document_id: DocumentId, after: int | None, limit: int) -> Sequence[Chunk]:
        """See `Store.chunks_of`."""
        return await self._lookups.chunks_of(document_id, after, limit)

    async def first_chunks(
        self, document_ids: Sequence[DocumentId], limit: int
    ) -> dict[DocumentId, Sequence[Chunk]]:
        """See `Store.first_chunks`."""
        return await self._lookups.first_chunks(document_ids, limit)

    async def document(self, document_id: DocumentId) -> Document | None:
        """See `Store.document`."""
        return await self._lookups.document(document_id)

    async def covers(self, scope: Scope) -> bool:
        """See `Store.covers`."""
        return await self._lookups.covers(scope)

    async def documents(self, scope: Scope, after: DocumentId | None, limit: int) -> Sequence[Document]:
        """See `Store.documents`."""
        return await self._lookups.documents(scope, after, limit)

    async def live_versions(self, scope: Scope) -> Sequence[Version]:
        """See `Store.live_versions`."""
        return await self._lookups.live_versions(scope)

    async def sources(self) -> Sequence[SourceCounts]:
        """See `Store.sources`."""
        return await self._lookups.sources()

    async def definitions(self, folded_terms: Sequence[str], scope: Scope) -> Sequence[Definition]:
        """See `Store.definitions`."""
        return await self._lookups.definitions(folded_terms, scope)

    async def defined_terms(self, scope: Scope) -> Sequence[str]:
        """See `Store.defined_terms`."""
        return await self._lookups.defined_terms(scope)

    async def count_term(self, stems: Sequence[str], scope: Scope) -> int:
        """See `Store.count_term`."""
        return await self._counting.count_term(stems, scope)

    async def mean_stems(self, scope: Scope) -> float:
        """See `Store.mean_stems`."""
        return await self._counting.mean_stems(scope)

    async def coverage(self, scope: Scope) -> Coverage:
        """See `Store.coverage`."""
        return await self._lookups.coverage(scope)

    async def counts(self, scope: Scope = EVERYWHERE) -> IndexCounts:
        """See `Store.counts`."""
        return await self._lookups.counts(scope)

    async def close(self) -> None:
        """See `Store.close`. Nothing: the connection is shared."""
