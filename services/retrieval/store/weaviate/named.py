"""Objects with an id of their own, one by one: read, written, deleted, and listed by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from weaviate.classes.config import ConsistencyLevel
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter, Sort
from weaviate.client import WeaviateAsyncClient
from weaviate.collections import CollectionAsync
from weaviate.collections.classes.filters import FilterReturn

from services.retrieval.store.weaviate.connection import Connection
from services.retrieval.store.weaviate.failures import failed, of_objects
from services.retrieval.store.weaviate.keys import ORDER_KEY, key_of, order_key

AT_ONCE = 16
"""Objects of a reply: with an article's 3 MiB in each, coded, they stay below the 100 MiB of a message."""

Values = Mapping[str, str]
"""The properties of an object; all are texts."""


class NamedObjects:
    """Those of one collection and tenant. All methods raise `StoreUnavailable`."""

    def __init__(self, connection: Connection, collection: str, tenant: str) -> None:
        self._connection = connection
        self._collection = collection
        self._tenant = tenant

    async def read(self, name: str) -> Values | None:
        """The object, or None."""
        async with self._connection.reading("read record") as client:
            found = await self._of(client).query.fetch_objects_by_ids([key_of(name)])
        return next((cast(Values, each.properties) for each in found.objects), None)

    async def create(self, name: str, values: Values) -> None:
        """Write a new object; refused where one with this id is."""
        async with self._connection.writing("create record") as client:
            await self._of(client).data.insert(_properties(name, values), uuid=key_of(name))

    async def put(self, name: str, values: Values) -> None:
        """Write an object in place of the one with its id."""
        written = DataObject(_properties(name, values), uuid=key_of(name))
        async with self._connection.writing("put record") as client:
            outcome = await self._of(client).data.insert_many([written])
        if outcome.has_errors:
            raise of_objects(error.message for error in outcome.errors.values())

    async def delete(self, name: str) -> bool:
        """Whether there was one. (Weaviate says no such thing of a deletion by id alone.)"""
        async with self._connection.writing("delete record") as client:
            outcome = await self._of(client).data.delete_many(Filter.by_id().equal(key_of(name)))
        if outcome.failed:
            raise failed()
        return outcome.successful > 0

    async def after(
        self,
        name: str | None,
        limit: int | None,
        properties: Sequence[str],
        only: FilterReturn | None = None,
    ) -> Sequence[Values]:
        """These properties of at most `limit` objects by id: those after `name` that `only` finds."""
        found: list[Values] = []
        last = None if name is None else order_key(name)
        more = True
        while more and (limit is None or len(found) < limit):
            at_once = AT_ONCE if limit is None else min(AT_ONCE, limit - len(found))
            page = await self._page(last, at_once, [ORDER_KEY, *properties], only)
            found += page
            more = len(page) == at_once
            last = page[-1][ORDER_KEY] if page else last
        return found

    async def _page(
        self, last: str | None, limit: int, properties: list[str], only: FilterReturn | None
    ) -> list[Values]:
        following = None if last is None else Filter.by_property(ORDER_KEY).greater_than(last)
        filters = [each for each in (following, only) if each is not None]
        async with self._connection.reading("list records") as client:
            page = await self._of(client).query.fetch_objects(
                filters=Filter.all_of(filters) if filters else None,
                sort=Sort.by_property(ORDER_KEY),
                limit=limit,
                return_properties=properties,
            )
        return [cast(Values, each.properties) for each in page.objects]

    def _of(self, client: WeaviateAsyncClient) -> CollectionAsync:
        collection = client.collections.use(self._collection)
        return collection.with_tenant(self._tenant).with_consistency_level(ConsistencyLevel.QUORUM)


def _properties(name: str, values: Values) -> dict[str, str]:
    return {ORDER_KEY: order_key(name), **values}
