"""How many live chunks hold a term: the evidence that documents are silent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence, Set
from uuid import UUID

from typing_extensions import override
from weaviate.collections.classes.filters import Filter

from corpus.documents import DocumentId
from services.retrieval.corpus import Scope
from services.retrieval.store.port import MEAN_OF
from services.retrieval.store.weaviate import filters
from services.retrieval.store.weaviate.keys import key_of
from services.retrieval.store.weaviate.lookups import Lookups
from services.retrieval.store.weaviate.objects import read_stems, version_key
from services.retrieval.store.weaviate.searching import is_word
from services.retrieval.store.weaviate.tenants import MOST

ROUNDS = 5
"""Counts at most, while documents come and go."""


class Counting(Lookups):
    """The part of a `Store` that counts chunks by their words."""

    @override
    async def count_term(self, stems: Sequence[str], scope: Scope) -> int:
        """Count in the engine, without the documents that may have chunks which are not live.

        Those are documents with a version that was begun. A count is repeated when a version was begun or
        became live meanwhile.
        """
        if not stems or not all(map(is_word, stems)):
            return 0
        count = 0
        revision, begun = await self._state()
        for _ in range(ROUNDS):
            live = await self._live(begun.values())
            versions = [version_key(document.version) for document in live.values()]
            count = await self._count(stems, scope, set(begun.values()), versions)
            before, (revision, begun) = (revision, begun), await self._state()
            if revision == before[0] and begun.keys() <= before[1].keys():
                break
        return count

    @override
    async def mean_stems(self, scope: Scope) -> float:
        """The mean of the first found. Those that are not live count: they are few, of the same documents."""
        async with self._tenant.reading("read lengths", self._tenant.names.chunks) as chunks:
            found = await chunks.query.fetch_objects(
                filters=filters.all_of(filters.within(scope)), limit=MEAN_OF, return_properties=["stems"]
            )
        sizes = [len(read_stems(stored.properties)) for stored in found.objects]
        return max(sum(sizes) / max(len(sizes), 1), 1.0)

    async def _state(self) -> tuple[str, Mapping[UUID, DocumentId]]:
        """The revision, and the documents of the versions that were begun."""
        return await asyncio.gather(self._whole_revision(), self._begun())

    async def _begun(self) -> Mapping[UUID, DocumentId]:
        async with self._tenant.reading("read staged versions", self._tenant.names.staged) as staged:
            found = await staged.query.fetch_objects(limit=MOST, return_properties=["document_id"])
        return {stored.uuid: DocumentId(stored.properties["document_id"]) for stored in found.objects}

    async def _count(
        self, stems: Sequence[str], scope: Scope, begun: Set[DocumentId], live: Sequence[UUID]
    ) -> int:
        wanted = [*filters.within(scope), *map(filters.holding, dict.fromkeys(stems))]
        if begun:
            settled = Filter.all_of(filters.other_than("document_key", list(map(key_of, begun))))
            wanted.append(Filter.any_of([settled, filters.one_of("version_key", live)]) if live else settled)
        async with self._tenant.reading("count term", self._tenant.names.chunks) as chunks:
            found = await chunks.aggregate.over_all(filters=filters.all_of(wanted), total_count=True)
        return found.total_count or 0
