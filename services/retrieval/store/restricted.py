"""A store that holds only what lies in some sources of another: what a restricted caller sees.

Everything that works over a store (searches, overviews, definitions, counts, pages) works over this one and
so cannot see the rest, nor be changed by it:
- a scope is narrowed to the own sources, and what is read by id is looked at before it is given out: what
  lies elsewhere is as absent as what is not there at all;
- the revision is that of the own documents, so that it does not tell when others change;
- keyword scores have the statistics of the own chunks (`restricted_keywords`);
- a write elsewhere raises `PermissionDenied`, whether or not there is anything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from chassis.errors import SourceNotHeld
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
    source_of,
)
from services.retrieval.store.port import (
    Committed,
    Coverage,
    IndexCounts,
    LegHits,
    Legs,
    SourceCounts,
    Store,
)
from services.retrieval.store.restricted_keywords import OwnKeywords
from services.retrieval.store.restricted_records import RestrictedRecords

NOTHING = IndexCounts(0, 0, 0, 0)
NO_COVERAGE = Coverage(0, 0, 0)


class RestrictedStore:
    """A `Store` over another. Closing it closes nothing: the other belongs to whoever opened it."""

    def __init__(self, store: Store, sources: Collection[str]) -> None:
        """Hold what lies in `sources`, at least one, of `store`."""
        self._store = store
        self._sources = frozenset(sources)
        self._own = Scope(sources=tuple(sorted(self._sources)))
        self._records = RestrictedRecords(store.records, self._sources)
        self._keywords = OwnKeywords(store, self._own, self.revision)
        self._revision = ("", "")

    @property
    def records(self) -> RestrictedRecords:
        """See `Store.records`."""
        return self._records

    # Writes -------------------------------------------------------------------------------------------------

    async def staged(self, version: Version) -> Mapping[ChunkId, str]:
        """See `Store.staged`. Raises `PermissionDenied`, as all that belongs to a write does."""
        self._check(version.document_id)
        return await self._store.staged(version)

    async def put_chunks(self, version: Version, chunks: Sequence[EmbeddedChunk]) -> None:
        """See `Store.put_chunks`."""
        self._check(version.document_id, *(each.chunk.source for each in chunks))
        await self._store.put_chunks(version, chunks)

    async def put_definitions(self, version: Version, definitions: Sequence[Definition]) -> None:
        """See `Store.put_definitions`."""
        self._check(version.document_id, *(each.source for each in definitions))
        await self._store.put_definitions(version, definitions)

    async def commit(self, document: Document) -> Committed:
        """See `Store.commit`."""
        self._check(document.version.document_id, document.source)
        committed = await self._store.commit(document)
        return replace(committed, revision=await self.revision())

    async def remove(self, document_id: DocumentId) -> str | None:
        """See `Store.remove`."""
        self._check(document_id)
        removed = await self._store.remove(document_id)
        return None if removed is None else await self.revision()

    async def expect(self, documents: int) -> None:
        """See `Store.expect`; of the whole store."""
        await self._store.expect(documents)

    async def expected(self) -> int:
        """See `Store.expected`; of the whole store."""
        return await self._store.expected()

    # Reads --------------------------------------------------------------------------------------------------

    async def revision(self, scope: Scope = EVERYWHERE) -> str:
        """See `Store.revision`; read anew only when something of the whole store changed."""
        if scope != EVERYWHERE:
            within = self._within(scope)
            return await self._store.revision(within) if within else ""
        whole = await self._store.revision()
        if self._revision[0] != whole:
            # What is written meanwhile shows up in the next one: it has another revision of the whole.
            self._revision = (whole, await self._store.revision(self._own))
        return self._revision[1]

    async def keyword_hits(self, stems: Sequence[str], k: int, scope: Scope) -> Hits:
        """See `Store.keyword_hits`."""
        within = self._within(scope)
        return await self._keywords.hits(stems, k, within) if within else ()

    async def vector_hits(self, vector: Vector, k: int, scope: Scope) -> Hits:
        """See `Store.vector_hits`."""
        within = self._within(scope)
        return await self._store.vector_hits(vector, k, within) if within else ()

    async def search(self, legs: Legs, scope: Scope) -> LegHits:
        """See `Store.search`."""
        within = self._within(scope)
        if within is None:
            return LegHits((), [() for _ in legs.keywords], [])
        return await self._keywords.search(legs, within)

    async def chunks(self, chunk_ids: Sequence[ChunkId], scope: Scope = EVERYWHERE) -> dict[ChunkId, Chunk]:
        """See `Store.chunks`."""
        within = self._within(scope)
        found = await self._store.chunks(chunk_ids, within) if within else {}
        return {chunk_id: chunk for chunk_id, chunk in found.items() if self._holds(chunk)}

    async def embedded_chunks(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, EmbeddedChunk]:
        """See `Store.embedded_chunks`."""
        found = await self._store.embedded_chunks(chunk_ids)
        return {chunk_id: each for chunk_id, each in found.items() if self._holds(each.chunk)}

    async def chunks_of(self, document_id: DocumentId, after: int | None, limit: int) -> Sequence[Chunk]:
        """See `Store.chunks_of`."""
        if source_of(document_id) not in self._sources:
            return ()
        return await self._store.chunks_of(document_id, after, limit)

    async def first_chunks(
        self, document_ids: Sequence[DocumentId], limit: int
    ) -> dict[DocumentId, Sequence[Chunk]]:
        """See `Store.first_chunks`."""
        own = [each for each in document_ids if source_of(each) in self._sources]
        return await self._store.first_chunks(own, limit)

    async def document(self, document_id: DocumentId) -> Document | None:
        """See `Store.document`."""
        if source_of(document_id) not in self._sources:
            return None
        return await self._store.document(document_id)

    async def covers(self, scope: Scope) -> bool:
        """See `Store.covers`."""
        within = self._within(scope)
        return await self._store.covers(within) if within else False

    async def documents(self, scope: Scope, after: DocumentId | None, limit: int) -> Sequence[Document]:
        """See `Store.documents`."""
        within = self._within(scope)
        return await self._store.documents(within, after, limit) if within else ()

    async def live_versions(self, scope: Scope) -> Sequence[Version]:
        """See `Store.live_versions`."""
        within = self._within(scope)
        return await self._store.live_versions(within) if within else ()

    async def sources(self) -> Sequence[SourceCounts]:
        """See `Store.sources`."""
        return tuple(each for each in await self._store.sources() if each.source in self._sources)

    async def definitions(self, folded_terms: Sequence[str], scope: Scope) -> Sequence[Definition]:
        """See `Store.definitions`."""
        within = self._within(scope)
        return await self._store.definitions(folded_terms, within) if within else ()

    async def defined_terms(self, scope: Scope) -> Sequence[str]:
        """See `Store.defined_terms`."""
        within = self._within(scope)
        return await self._store.defined_terms(within) if within else ()

    async def count_term(self, stems: Sequence[str], scope: Scope) -> int:
        """See `Store.count_term`."""
        within = self._within(scope)
        return await self._store.count_term(stems, within) if within else 0

    async def mean_stems(self, scope: Scope) -> float:
        """See `Store.mean_stems`."""
        within = self._within(scope)
        return await self._store.mean_stems(within) if within else 1.0

    async def coverage(self, scope: Scope) -> Coverage:
        """See `Store.coverage`."""
        within = self._within(scope)
        return await self._store.coverage(within) if within else NO_COVERAGE

    async def counts(self, scope: Scope = EVERYWHERE) -> IndexCounts:
        """See `Store.counts`."""
        within = self._within(scope)
        return await self._store.counts(within) if within else NOTHING

    async def close(self) -> None:
        """See `Store.close`."""

    def _within(self, scope: Scope) -> Scope | None:
        """The part of a scope that lies in the own sources; None for none, which is no scope."""
        if not scope.sources:
            return replace(scope, sources=self._own.sources)
        own = tuple(each for each in scope.sources if each in self._sources)
        return replace(scope, sources=own) if own else None

    def _holds(self, chunk: Chunk) -> bool:
        return chunk.source in self._sources and source_of(chunk.version.document_id) in self._sources

    def _check(self, document_id: DocumentId, *sources: str) -> None:
        """Raise `PermissionDenied` unless a write stays in the own sources."""
        for source in (source_of(document_id), *sources):
            if source not in self._sources:
                raise SourceNotHeld(source, "document_id")
