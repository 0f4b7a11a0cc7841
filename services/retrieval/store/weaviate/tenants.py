"""What one tenant has in Weaviate: a part of every collection, reached under the tenant's name alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from weaviate.classes.aggregate import Metrics
from weaviate.classes.config import ConsistencyLevel
from weaviate.classes.query import Filter, Sort
from weaviate.client import WeaviateAsyncClient
from weaviate.collections import CollectionAsync
from weaviate.collections.classes.filters import FilterReturn
from weaviate.collections.classes.internal import Object

from services.retrieval.store.weaviate import filters
from services.retrieval.store.weaviate.connection import Connection
from services.retrieval.store.weaviate.keys import ORDER_KEY
from services.retrieval.store.weaviate.schema import Names

PAGE = 1000
"""Objects of a read without vectors."""
MOST = 10_000
"""Results that Weaviate gives to one query."""

Found = Object[Any, Any]
Handle = CollectionAsync[dict[str, Any], None]
"""A collection, and properties as JSON has them."""


class TenantCollections:
    """The collections of one tenant. A call without a tenant, or for another's, has no way to happen."""

    def __init__(self, connection: Connection, names: Names, tenant: str) -> None:
        self.names = names
        self._connection = connection
        self._tenant = tenant
        self._client: WeaviateAsyncClient | None = None
        self._handles: dict[str, Handle] = {}

    @asynccontextmanager
    async def reading(self, operation: str, collection: str) -> AsyncIterator[Handle]:
        """For one read of a collection. Raises `StoreUnavailable`."""
        async with self._connection.reading(operation, collection) as client:
            yield self._handle(client, collection)

    @asynccontextmanager
    async def writing(self, operation: str, collection: str) -> AsyncIterator[Handle]:
        """For one write to a collection that may be repeated. Raises `StoreUnavailable`."""
        async with self._connection.writing(operation, collection) as client:
            yield self._handle(client, collection)

    async def sums(self, collection: str, names: list[str], wanted: list[FilterReturn]) -> list[int]:
        """How many objects there are, and the sum of each of these properties."""
        async with self.reading("sum", collection) as handle:
            found = await handle.aggregate.over_all(
                filters=filters.all_of(wanted),
                total_count=True,
                return_metrics=[Metrics(name).integer(sum_=True) for name in names],
            )
        return [found.total_count or 0, *(sum_of(found, name) for name in names)]

    async def by_ids(
        self,
        operation: str,
        collection: str,
        keys: Sequence[UUID],
        properties: list[str],
        wanted: Sequence[FilterReturn] = (),
    ) -> list[Found]:
        """Objects of these ids that pass, with these properties; those that are missing are left out."""

        async def page(start: int) -> list[Found]:
            async with self.reading(operation, collection) as handle:
                found = await handle.query.fetch_objects(
                    filters=filters.all_of([filters.ids(keys[start : start + PAGE]), *wanted]),
                    limit=PAGE,
                    return_properties=properties,
                )
            return found.objects

        pages = await asyncio.gather(*(page(start) for start in range(0, len(keys), PAGE)))
        return [stored for objects in pages for stored in objects]

    async def every(self, collection: str, wanted: list[FilterReturn], properties: list[str]) -> list[Found]:
        """All objects that pass, in no order: for each page of a list in order, all of them are read."""
        if not wanted:
            return await self._all(collection, properties)
        async with self.reading("list", collection) as handle:
            found = await handle.query.fetch_objects(
                filters=filters.all_of(wanted), limit=MOST, return_properties=properties
            )
        if len(found.objects) < MOST:
            return found.objects
        return await self.listed(collection, wanted, None, None, properties)

    async def _all(self, collection: str, properties: list[str]) -> list[Found]:
        """By id, the one order in which Weaviate goes on from where a page ended; it takes no filter."""
        found: list[Found] = []
        while True:
            async with self.reading("list", collection) as handle:
                page = await handle.query.fetch_objects(
                    limit=PAGE, after=found[-1].uuid if found else None, return_properties=properties
                )
            found += page.objects
            if len(page.objects) < PAGE:
                return found

    async def listed(
        self,
        collection: str,
        wanted: list[FilterReturn],
        position: str | None,
        limit: int | None,
        properties: list[str],
    ) -> list[Found]:
        """At most `limit` objects by `ORDER_KEY`, those after `position`, all that match without a limit."""
        found: list[Found] = []
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(found))
            after = [Filter.by_property(ORDER_KEY).greater_than(position)] if position else []
            async with self.reading("list", collection) as handle:
                page = await handle.query.fetch_objects(
                    filters=filters.all_of([*wanted, *after]),
                    sort=Sort.by_property(ORDER_KEY),
                    limit=size,
                    return_properties=[ORDER_KEY, *properties],
                )
            found += page.objects
            if len(page.objects) < size:
                break
            position = page.objects[-1].properties[ORDER_KEY]
        return found

    def _handle(self, client: WeaviateAsyncClient, collection: str) -> Handle:
        if client is not self._client:
            self._client, self._handles = client, {}
        if collection not in self._handles:
            # Kept: making one takes .15 ms.
            handle = client.collections.use(collection).with_tenant(self._tenant)
            # What a majority has written, a majority's read sees; with one replica it says nothing.
            self._handles[collection] = handle.with_consistency_level(ConsistencyLevel.QUORUM)
        return self._handles[collection]


def sum_of(found: Any, name: str) -> int:
    """The sum of a property in an aggregate."""
    return int(found.properties[name].sum_ or 0)
