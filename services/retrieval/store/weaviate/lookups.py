"""Reads that need no ranking. Each sees live versions only, but for that of `staged`.

The object of a document says which of its versions is live. It is asked after chunks and definitions were
found, so that none is taken for live on older news than itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from uuid import UUID

from typing_extensions import override
from weaviate.classes.aggregate import GroupByAggregate, Metrics
from weaviate.classes.query import Filter, Sort

from corpus.chunks import Chunk, ChunkId
from corpus.definitions import Definition
from corpus.documents import Document, DocumentId, Version
from services.retrieval.corpus import EVERYWHERE, EmbeddedChunk, Scope
from services.retrieval.store.port import Coverage, IndexCounts, SourceCounts, Store
from services.retrieval.store.weaviate import filters
from services.retrieval.store.weaviate.keys import key_of, order_key
from services.retrieval.store.weaviate.objects import (
    DOCUMENT,
    EMBEDDED_CHUNK,
    LIVE_DOCUMENT,
    VERSION,
    LiveDocument,
    read_chunk,
    read_definition,
    read_document,
    read_embedded_chunk,
    read_live_document,
    read_version,
    version_key,
)
from services.retrieval.store.weaviate.schema import WINDOWS
from services.retrieval.store.weaviate.tenants import MOST, PAGE, Found, TenantCollections, sum_of

PAGE_WITH_VECTORS = 200
"""Of 3,072 dimensions, 10 MB with three windows each."""
EMPTY = "empty"
"""The revision before the first."""
STATE = key_of("revision")
"""Id of the object that holds the revision."""
EXPECTED = key_of("expected")
"""Id of the object beside it that holds what `Store.expect` keeps."""


class Lookups(Store):
    """The part of a `Store` with the reads that need no ranking."""

    def __init__(self, tenant: TenantCollections) -> None:
        self._tenant = tenant
        self._names = tenant.names

    async def _whole_revision(self) -> str:
        """The revision of all documents."""
        found = await self._tenant.by_ids("read revision", self._names.state, [STATE], ["revision"])
        return str(found[0].properties["revision"]) if found else EMPTY

    @override
    async def expected(self) -> int:
        found = await self._tenant.by_ids("read expected", self._names.state, [EXPECTED], ["revision"])
        return int(found[0].properties["revision"]) if found else 0

    async def _live(self, document_ids: Iterable[DocumentId]) -> dict[DocumentId, LiveDocument]:
        """What is live of these documents; those that are not live are left out."""
        keys = [key_of(document_id) for document_id in dict.fromkeys(document_ids)]
        found = await self._tenant.by_ids("read live versions", self._names.documents, keys, LIVE_DOCUMENT)
        live = (read_live_document(stored.properties) for stored in found)
        return {document.version.document_id: document for document in live}

    @override
    async def staged(self, version: Version) -> dict[ChunkId, str]:
        found = await self._in_order(version_key(version), None, None, ["ordinal", "record"])
        chunks = [read_chunk(stored.properties) for stored in found]
        return {chunk.chunk_id: chunk.digest for chunk in chunks}

    async def _existing(self, collection: str, keys: Sequence[UUID]) -> set[UUID]:
        """The ids among these that a collection has objects of, live or not."""
        return {stored.uuid for stored in await self._tenant.by_ids("find stored", collection, keys, [])}

    @override
    async def chunks(self, chunk_ids: Sequence[ChunkId], scope: Scope = EVERYWHERE) -> dict[ChunkId, Chunk]:
        keys = [key_of(chunk_id) for chunk_id in dict.fromkeys(chunk_ids)]
        found = await self._tenant.by_ids(
            "read chunks", self._names.chunks, keys, ["record"], filters.within(scope)
        )
        chunks = [read_chunk(stored.properties) for stored in found]
        live = await self._live(chunk.document_id for chunk in chunks)
        return {chunk.chunk_id: _visible(chunk, live) for chunk in chunks if _is_live(chunk.version, live)}

    @override
    async def embedded_chunks(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, EmbeddedChunk]:
        keys = [key_of(chunk_id) for chunk_id in dict.fromkeys(chunk_ids)]
        embedded = map(read_embedded_chunk, await self._with_vectors(keys, EMBEDDED_CHUNK))
        by_id = {chunk.chunk.chunk_id: chunk for chunk in embedded}
        live = await self._live(chunk.chunk.document_id for chunk in by_id.values())
        return {
            chunk_id: replace(chunk, chunk=_visible(chunk.chunk, live))
            for chunk_id, chunk in by_id.items()
            if _is_live(chunk.chunk.version, live)
        }

    async def _with_vectors(self, keys: Sequence[UUID], properties: list[str]) -> list[Found]:
        """Chunks of these ids, live or not, with these properties and their vectors."""
        found: list[Found] = []
        for start in range(0, len(keys), PAGE_WITH_VECTORS):
            async with self._tenant.reading("read vectors", self._names.chunks) as chunks:
                page = await chunks.query.fetch_objects(
                    filters=filters.ids(keys[start : start + PAGE_WITH_VECTORS]),
                    limit=PAGE_WITH_VECTORS,
                    include_vector=[WINDOWS],
                    return_properties=properties,
                )
            found += page.objects
        return found

    @override
    async def chunks_of(self, document_id: DocumentId, after: int | None, limit: int) -> Sequence[Chunk]:
        live = (await self._live([document_id])).get(document_id) if limit > 0 else None
        while live:
            found = await self._in_order(version_key(live.version), after, limit, ["ordinal", "record"])
            chunks = tuple(
                replace(read_chunk(stored.properties), indexed_at=live.indexed_at) for stored in found
            )
            if _are_all(chunks, after, limit, live):
                return chunks
            # Of a version that was replaced meanwhile, some may be gone.
            before, live = live, (await self._live([document_id])).get(document_id)
            if live and live.version == before.version:
                return chunks
        return ()

    @override
    async def first_chunks(
        self, document_ids: Sequence[DocumentId], limit: int
    ) -> dict[DocumentId, Sequence[Chunk]]:
        wanted = list(dict.fromkeys(document_ids)) if limit > 0 else []
        at_once = max(1, PAGE // max(limit, 1))
        first: dict[DocumentId, Sequence[Chunk]] = {}
        for start in range(0, len(wanted), at_once):
            first |= await self._first_chunks(wanted[start : start + at_once], limit)
        return first

    async def _first_chunks(
        self, document_ids: Sequence[DocumentId], limit: int
    ) -> dict[DocumentId, Sequence[Chunk]]:
        live = await self._live(document_ids)
        if not live:
            return {}
        versions = [version_key(document.version) for document in live.values()]
        wanted = [filters.one_of("version_key", versions), Filter.by_property("ordinal").less_than(limit)]
        async with self._tenant.reading("read first chunks", self._names.chunks) as handle:
            found = await handle.query.fetch_objects(
                filters=filters.all_of(wanted),
                limit=min(limit * len(live), MOST),
                return_properties=["record"],
            )
        chunks = (_visible(read_chunk(stored.properties), live) for stored in found.objects)
        in_order = sorted(chunks, key=lambda chunk: (chunk.version.document_id, chunk.ordinal))
        first: dict[DocumentId, Sequence[Chunk]] = {
            document_id: tuple(chunks)
            for document_id, chunks in groupby(in_order, lambda chunk: chunk.version.document_id)
        }
        for document_id, document in live.items():
            # Of a version that was replaced meanwhile, some may be gone.
            if not _are_all(first.get(document_id, ()), None, limit, document):
                first[document_id] = await self.chunks_of(document_id, None, limit)
        return {document_id: chunks for document_id, chunks in first.items() if chunks}

    @override
    async def document(self, document_id: DocumentId) -> Document | None:
        keys = [key_of(document_id)]
        found = await self._tenant.by_ids("read document", self._names.documents, keys, DOCUMENT)
        return read_document(found[0].properties) if found else None

    @override
    async def covers(self, scope: Scope) -> bool:
        # Not a list of one: to sort, Weaviate reads every object that may be in it.
        async with self._tenant.reading("look for documents", self._names.documents) as documents:
            found = await documents.query.fetch_objects(
                filters=filters.all_of(filters.within(scope)), limit=1, return_properties=[]
            )
        return bool(found.objects)

    @override
    async def documents(self, scope: Scope, after: DocumentId | None, limit: int) -> Sequence[Document]:
        position = None if after is None else order_key(after)
        found = await self._tenant.listed(
            self._names.documents, filters.within(scope), position, max(limit, 0), DOCUMENT
        )
        return tuple(read_document(stored.properties) for stored in found)

    @override
    async def live_versions(self, scope: Scope) -> Sequence[Version]:
        found = await self._tenant.every(self._names.documents, filters.within(scope), VERSION)
        return tuple(read_version(stored.properties) for stored in found)

    @override
    async def sources(self) -> Sequence[SourceCounts]:
        async with self._tenant.reading("count sources", self._names.documents) as documents:
            found = await documents.aggregate.over_all(
                group_by=GroupByAggregate(prop="source", limit=MOST),
                return_metrics=[Metrics("chunk_count").integer(sum_=True)],
            )
        counted = [
            SourceCounts(str(group.grouped_by.value), group.total_count or 0, sum_of(group, "chunk_count"))
            for group in found.groups
        ]
        return tuple(sorted(counted, key=lambda contents: contents.source))

    @override
    async def definitions(self, folded_terms: Sequence[str], scope: Scope) -> Sequence[Definition]:
        if not folded_terms:
            return ()
        wanted = [filters.one_of("term_key", map(key_of, folded_terms)), *filters.within(scope)]
        found = await self._tenant.every(self._names.definitions, wanted, ["record"])
        definitions = [read_definition(stored.properties) for stored in found]
        live = await self._live(definition.version.document_id for definition in definitions)
        return tuple(
            sorted(
                (definition for definition in definitions if _is_live(definition.version, live)),
                key=lambda definition: (
                    definition.version.document_id,
                    definition.span.start,
                    definition.definition_id,
                ),
            )
        )

    async def _terms_of(self, version: Version) -> list[str]:
        """The folded term of every definition that is stored of a version, live or not."""
        wanted = [filters.of("version_key", version_key(version))]
        found = await self._tenant.every(self._names.definitions, wanted, ["folded_term"])
        return [str(stored.properties["folded_term"]) for stored in found]

    @override
    async def defined_terms(self, scope: Scope) -> Sequence[str]:
        found = await self._tenant.every(self._names.documents, filters.within(scope), ["folded_terms"])
        return tuple(sorted({term for stored in found for term in stored.properties["folded_terms"] or ()}))

    @override
    async def coverage(self, scope: Scope) -> Coverage:
        names = ["page_count", "unreadable_count"]
        return Coverage(*await self._tenant.sums(self._names.documents, names, filters.within(scope)))

    @override
    async def counts(self, scope: Scope = EVERYWHERE) -> IndexCounts:
        names = ["chunk_count", "definition_count", "window_count"]
        return IndexCounts(*await self._tenant.sums(self._names.documents, names, filters.within(scope)))

    async def _stored_counts(self, version: Version) -> tuple[int, int]:
        """Chunks and windows that are stored of a version, live or not."""
        wanted = [filters.of("version_key", version_key(version))]
        chunks, windows = await self._tenant.sums(self._names.chunks, ["window_count"], wanted)
        return chunks, windows

    async def _in_order(
        self, version: UUID, after: int | None, limit: int | None, properties: list[str]
    ) -> list[Found]:
        """Chunks of a version by ordinal."""
        found: list[Found] = []
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(found))
            wanted = [filters.of("version_key", version)]
            if after is not None:
                wanted.append(Filter.by_property("ordinal").greater_than(after))
            async with self._tenant.reading("read version", self._names.chunks) as chunks:
                page = await chunks.query.fetch_objects(
                    filters=filters.all_of(wanted),
                    sort=Sort.by_property("ordinal"),
                    limit=size,
                    return_properties=properties,
                )
            found += page.objects
            if len(page.objects) < size:
                break
            after = page.objects[-1].properties["ordinal"]
        return found


def _is_live(version: Version, live: Mapping[DocumentId, LiveDocument]) -> bool:
    document = live.get(version.document_id)
    return document is not None and document.version == version


def _visible(chunk: Chunk, live: Mapping[DocumentId, LiveDocument]) -> Chunk:
    return replace(chunk, indexed_at=live[chunk.document_id].indexed_at)


def _are_all(chunks: Sequence[Chunk], after: int | None, limit: int, live: LiveDocument) -> bool:
    """Whether no ordinal is missing between `after` and the last that is wanted."""
    first = 0 if after is None else after + 1
    return [chunk.ordinal for chunk in chunks] == list(range(first, min(first + limit, live.chunk_count)))
