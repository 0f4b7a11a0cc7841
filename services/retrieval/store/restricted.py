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

from typing_extensions import override

from chassis.errors import SourceNotHeld
from corpus.chunks import Chunk, ChunkId
from corpus.definitions import Definition
from corpus.documents import Document, DocumentId, Version, source_of
from services.retrieval.corpus import EVERYWHERE, EmbeddedChunk, Hits, Scope, Vector
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


class RestrictedStore(Store):
    """A `Store` over another. Closing it closes nothing: the other belongs to whoever opened it."""

    def __init__(self, store: Store, sources: Collection[str]) -> None:
        """Hold what lies in `sources`, at least one, of `store`."""
        self._store = store
        self._sources = frozenset(sources)
        self._own = Scope(sources=tuple(sorted(self._sources)))
        self.records = RestrictedRecords(store.records, self._sources)
        self._keywords = OwnKeywords(store, self._own, self.revision)
        self._revision = ("", "")

    # Writes -------------------------------------------------------------------------------------------------

    @override
    async def staged(self, version: Version) -> Mapping[ChunkId, str]:
        """What is stored of a version; `PermissionDenied` elsewhere, as for all that belongs to a write."""
        self._check(version.document_id)
        return await self._store.staged(version)

    @override
    async def put_chunks(self, version: Version, chunks: Sequence[EmbeddedChunk]) -> None:
        self._check(version.document_id, *(embedded.chunk.source for embedded in chunks))
        await self._store.put_chunks(version, chunks)

    @override
    async def put_definitions(self, version: Version, definitions: Sequence[Definition]) -> None:
        self._check(version.document_id, *(definition.source for definition in definitions))
        await self._store.put_definitions(version, definitions)

    @override
    async def commit(self, document: Document) -> Committed:
        self._check(document.document_id, document.source)
        committed = await self._store.commit(document)
        return replace(committed, revision=await self.revision())

    @override
    async def remove(self, document_id: DocumentId) -> str | None:
        self._check(document_id)
        removed = await self._store.remove(document_id)
        return None if removed is None else await self.revision()

    @override
    async def expect(self, documents: int) -> None:
        """Keep it for the whole store: only ingest tells, for all sources."""
        await self._store.expect(documents)

    @override
    async def expected(self) -> int:
        """What was kept for the whole store."""
        return await self._store.expected()

    # Reads --------------------------------------------------------------------------------------------------

    @override
    async def revision(self, scope: Scope = EVERYWHERE) -> str:
        """The revision of the own documents, read anew only when something of the whole store changed."""
        if scope != EVERYWHERE:
            within = self._within(scope)
            return await self._store.revision(within) if within else ""
        whole = await self._store.revision()
        if self._revision[0] != whole:
            # What is written meanwhile shows up in the next one: it has another revision of the whole.
            self._revision = (whole, await self._store.revision(self._own))
        return self._revision[1]

    @override
    async def keyword_hits(self, stems: Sequence[str], k: int, scope: Scope) -> Hits:
        within = self._within(scope)
        return await self._keywords.hits(stems, k, within) if within else ()

    @override
    async def vector_hits(self, vector: Vector, k: int, scope: Scope) -> Hits:
        within = self._within(scope)
        return await self._store.vector_hits(vector, k, within) if within else ()

    @override
    async def search(self, legs: Legs, scope: Scope) -> LegHits:
        within = self._within(scope)
        if within is None:
            return LegHits((), [() for _ in legs.keywords], [])
        return await self._keywords.search(legs, within)

    @override
    async def chunks(self, chunk_ids: Sequence[ChunkId], scope: Scope = EVERYWHERE) -> dict[ChunkId, Chunk]:
        within = self._within(scope)
        found = await self._store.chunks(chunk_ids, within) if within else {}
        return {chunk_id: chunk for chunk_id, chunk in found.items() if self._holds(chunk)}

    @override
    async def embedded_chunks(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, EmbeddedChunk]:
        found = await self._store.embedded_chunks(chunk_ids)
        return {chunk_id: embedded for chunk_id, embedded in found.items() if self._holds(embedded.chunk)}

    @override
    async def chunks_of(self, document_id: DocumentId, after: int | None, limit: int) -> Sequence[Chunk]:
        if source_of(document_id) not in self._sources:
            return ()
        return await self._store.chunks_of(document_id, after, limit)

    @override
    async def first_chunks(
        self, document_ids: Sequence[DocumentId], limit: int
    ) -> dict[DocumentId, Sequence[Chunk]]:
        own = [document_id for document_id in document_ids if source_of(document_id) in self._sources]
        return await self._store.first_chunks(own, limit)

    @override
    async def document(self, document_id: DocumentId) -> Document | None:
        if source_of(document_id) not in self._sources:
            return None
        return await self._store.document(document_id)

    @override
    async def covers(self, scope: Scope) -> bool:
        within = self._within(scope)
        return await self._store.covers(within) if within else False

    @override
    async def documents(self, scope: Scope, after: DocumentId | None, limit: int) -> Sequence[Document]:
        within = self._within(scope)
        return await self._store.documents(within, after, limit) if within else ()

    @override
    async def live_versions(self, scope: Scope) -> Sequence[Version]:
        within = self._within(scope)
        return await self._store.live_versions(within) if within else ()

    @override
    async def sources(self) -> Sequence[SourceCounts]:
        return tuple(source for source in await self._store.sources() if source.source in self._sources)

    @override
    async def definitions(self, folded_terms: Sequence[str], scope: Scope) -> Sequence[Definition]:
        within = self._within(scope)
        return await self._store.definitions(folded_terms, within) if within else ()

    @override
    async def defined_terms(self, scope: Scope) -> Sequence[str]:
        within = self._within(scope)
        return await self._store.defined_terms(within) if within else ()

    @override
    async def count_term(self, stems: Sequence[str], scope: Scope) -> int:
        within = self._within(scope)
        return await self._store.count_term(stems, within) if within else 0

    @override
    async def mean_stems(self, scope: Scope) -> float:
        within = self._within(scope)
        return await self._store.mean_stems(within) if within else 1.0

    @override
    async def coverage(self, scope: Scope) -> Coverage:
        within = self._within(scope)
        return await self._store.coverage(within) if within else NO_COVERAGE

    @override
    async def counts(self, scope: Scope = EVERYWHERE) -> IndexCounts:
        within = self._within(scope)
        return await self._store.counts(within) if within else NOTHING

    @override
    async def close(self) -> None:
        pass

    def _within(self, scope: Scope) -> Scope | None:
        """The part of a scope that lies in the own sources; None for none, which is no scope."""
        if not scope.sources:
            return replace(scope, sources=self._own.sources)
        own = tuple(source for source in scope.sources if source in self._sources)
        return replace(scope, sources=own) if own else None

    def _holds(self, chunk: Chunk) -> bool:
        return chunk.source in self._sources and source_of(chunk.document_id) in self._sources

    def _check(self, document_id: DocumentId, *sources: str) -> None:
        """Raise `PermissionDenied` unless a write stays in the own sources."""
        for source in (source_of(document_id), *sources):
            if source not in self._sources:
                raise SourceNotHeld(source, "document_id")
