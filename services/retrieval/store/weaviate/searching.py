"""Both legs of a search.

Weaviate finds chunks of all versions. Which of them are live is asked of their documents after each fetch,
and more are fetched while too few are: at first some that are not live, and all that tie, fit in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from typing_extensions import override
from weaviate.classes.query import MetadataQuery
from weaviate.collections.classes.filters import FilterReturn
from weaviate.collections.classes.internal import Object

from corpus.chunks import ChunkId
from corpus.documents import DocumentId, Generation, Version
from services.retrieval.corpus import Hit, Hits, Passage, Scope, Vector
from services.retrieval.store.port import LegHits, Legs
from services.retrieval.store.weaviate import filters
from services.retrieval.store.weaviate.lookups import Lookups
from services.retrieval.store.weaviate.objects import HEADING, PASSAGE, read_passage
from services.retrieval.store.weaviate.schema import WINDOWS
from services.retrieval.store.weaviate.tenants import MOST

CHUNKS_FOR_EACH = 1.5
"""Chunks that a leg first fetches for each that is wanted; each costs the server a read of a whole object."""
WINDOWS_FOR_EACH = 3
"""The same of windows. Of 100 questions to 369 contracts, with three windows a chunk, none needs more; of 100
to one contract, 5."""
GROWTH = 4
ROUNDS = 8
"""Fetches of a search at most: enough to reach `MOST`, and to see a few flips on the way."""
MOST_STEM_CHARACTERS = 1000
"""A longer stem is no word, and is not looked for."""
FOUND = ["chunk_id", "document_id", "generation", "window_count"]

LiveVersions = Mapping[DocumentId, Version | None]
"""The live version of each document that was asked for; None without one."""


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk that a leg found, live or not."""

    key: UUID
    chunk_id: ChunkId
    version: Version
    window_count: int
    score: float

    def is_live(self, versions: LiveVersions) -> bool:
        """Whether its version is the live one."""
        return versions[self.version.document_id] == self.version


@dataclass(slots=True)
class Leg:
    """One leg of a search."""

    find: Callable[[int], Awaitable[list[Found]]]
    k: int
    by_windows: bool
    """Whether its limit counts windows; else chunks."""
    limit: int = field(init=False)
    found: list[Found] = field(init=False, default_factory=list)
    """Best first, ties by chunk id."""

    def __post_init__(self) -> None:
        for_each = WINDOWS_FOR_EACH if self.by_windows else CHUNKS_FOR_EACH
        self.limit = min(int(for_each * self.k) + 1, MOST)

    async def fetch(self) -> None:
        """Find the best, as many as `limit` says."""
        if self.k > 0:
            found = await self.find(self.limit)
            self.found = sorted(found, key=lambda chunk: (-chunk.score, chunk.chunk_id))

    def live(self, versions: LiveVersions) -> list[Found]:
        """The best live ones, at most `k`."""
        return [chunk for chunk in self.found if chunk.is_live(versions)][: max(self.k, 0)]

    def is_complete(self, versions: LiveVersions) -> bool:
        """Whether no chunk that was not fetched can be among the best `k` live ones."""
        fetched = sum(chunk.window_count for chunk in self.found) if self.by_windows else len(self.found)
        if fetched < self.limit or self.limit == MOST:
            return True
        live = self.live(versions)
        return len(live) == self.k and live[-1].score > self.found[-1].score


class Searching(Lookups):
    """The part of a `Store` with both legs of a search."""

    @override
    async def keyword_hits(self, stems: Sequence[str], k: int, scope: Scope) -> Hits:
        (found,) = await self._best([self._keyword_leg(stems, k, scope)], None)
        return _hits(found)

    @override
    async def vector_hits(self, vector: Vector, k: int, scope: Scope) -> Hits:
        (found,) = await self._best([self._vector_leg(vector, k, scope)], None)
        return _hits(found)

    @override
    async def search(self, legs: Legs, scope: Scope) -> LegHits:
        """What the legs find, usually in two steps: all legs at once, then their documents and passages."""
        running = [
            self._vector_leg(legs.vector, legs.vector_k, scope),
            *(self._keyword_leg(stems, legs.keyword_k, scope) for stems in legs.keywords),
        ]
        passages: dict[UUID, Passage] = {}
        vector, *keywords = await self._best(running, passages)
        keys = dict.fromkeys(chunk.key for leg in (vector, *keywords) for chunk in leg)
        return LegHits(_hits(vector), list(map(_hits, keywords)), [passages[key] for key in keys])

    async def _best(self, legs: Sequence[Leg], passages: dict[UUID, Passage] | None) -> list[list[Found]]:
        """The best live chunks of each leg, with their passages where these are asked for.

        A chunk that is not live is left out only if the live version of its document was seen before the legs
        were fetched: they cannot have missed that one's chunks. A version that became live in between is seen
        by another fetch.
        """
        before: dict[DocumentId, Version | None] = {}
        for _ in range(ROUNDS):
            await asyncio.gather(*(leg.fetch() for leg in legs))
            likely = [chunk for leg in legs for chunk in leg.found[: leg.k]]
            now, _ = await asyncio.gather(self._versions(legs), self._read(likely, passages))
            best = [leg.live(now) for leg in legs]
            await self._read([chunk for leg in best for chunk in leg], passages)
            is_whole = passages is None or all(chunk.key in passages for leg in best for chunk in leg)
            if is_whole and _are_settled(legs, before, now) and all(leg.is_complete(now) for leg in legs):
                break
            before |= now
            for leg in legs:
                if not leg.is_complete(now):
                    leg.limit = min(GROWTH * leg.limit, MOST)
        return [[chunk for chunk in leg if passages is None or chunk.key in passages] for leg in best]

    async def _versions(self, legs: Sequence[Leg]) -> LiveVersions:
        """The live versions of the documents of all that was found."""
        ids = {chunk.version.document_id for leg in legs for chunk in leg.found}
        live = await self._live(ids)
        return {
            document_id: live[document_id].version if document_id in live else None for document_id in ids
        }

    async def _read(self, wanted: Iterable[Found], passages: dict[UUID, Passage] | None) -> None:
        """Add the passages that are wanted and not there yet; one that was collected is left out."""
        if passages is None:
            return
        keys = list({chunk.key for chunk in wanted} - passages.keys())
        if keys:
            found = await self._with_vectors(keys, PASSAGE)
            passages |= {stored.uuid: read_passage(stored) for stored in found}

    def _keyword_leg(self, stems: Sequence[str], k: int, scope: Scope) -> Leg:
        query = " ".join(f"{stem} {HEADING}{stem}" for stem in filter(is_word, stems))
        within = filters.all_of(filters.within(scope))
        return Leg(partial(self._matching, query, within), k if query else 0, by_windows=False)

    def _vector_leg(self, vector: Vector, k: int, scope: Scope) -> Leg:
        # A matrix of one row: a flat vector is refused.
        matrix = [vector.tolist()]
        return Leg(partial(self._nearest, matrix, filters.all_of(filters.within(scope))), k, by_windows=True)

    async def _matching(self, query: str, within: FilterReturn | None, limit: int) -> list[Found]:
        async with self._tenant.reading("keyword search", self._tenant.names.chunks) as chunks:
            result = await chunks.query.bm25(
                query,
                query_properties=["stems"],
                limit=limit,
                filters=within,
                return_metadata=MetadataQuery(score=True),
                return_properties=FOUND,
            )
        return [_found(stored, stored.metadata.score or 0.0) for stored in result.objects]

    async def _nearest(
        self, matrix: list[list[float]], within: FilterReturn | None, limit: int
    ) -> list[Found]:
        async with self._tenant.reading("vector search", self._tenant.names.chunks) as chunks:
            result = await chunks.query.near_vector(
                matrix,
                target_vector=WINDOWS,
                limit=limit,
                filters=within,
                return_metadata=MetadataQuery(distance=True),
                return_properties=FOUND,
            )
        # Of several vectors, the distance is the least of their negative products: exact, of all numbers.
        return [_found(stored, -(stored.metadata.distance or 0.0)) for stored in result.objects]


def is_word(stem: str) -> bool:
    """Whether a chunk can hold this stem."""
    fits = 0 < len(stem) <= MOST_STEM_CHARACTERS
    return fits and stem.isprintable() and " " not in stem and not stem.startswith(HEADING)


def _are_settled(legs: Sequence[Leg], before: LiveVersions, now: LiveVersions) -> bool:
    dropped = {chunk.version.document_id for leg in legs for chunk in leg.found if not chunk.is_live(now)}
    return all(document_id in before and before[document_id] == now[document_id] for document_id in dropped)


def _found(found: Object[Any, Any], score: float) -> Found:
    values = found.properties
    return Found(
        found.uuid,
        ChunkId(values["chunk_id"]),
        Version(DocumentId(values["document_id"]), Generation(values["generation"])),
        values["window_count"],
        score,
    )


def _hits(found: Sequence[Found]) -> Hits:
    return tuple(Hit(chunk.chunk_id, chunk.score) for chunk in found)
