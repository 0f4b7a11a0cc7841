"""Objects with an id of their own, one by one: read, written, deleted, and listed by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter
from weaviate.collections.classes.filters import FilterReturn

from services.retrieval.store.weaviate.failures import failed
from services.retrieval.store.weaviate.keys import ORDER_KEY, key_of, order_key
from services.retrieval.store.weaviate.tenants import TenantCollections

AT_ONCE = 16
"""Objects of a reply: with an article's 3 MiB in each, coded, they stay below the 100 MiB of a message."""

Values = Mapping[str, str]
"""The properties of an object; all are texts."""


class NamedObjects:
    """Those of one collection. All methods raise `StoreUnavailable`."""

    def __init__(self, tenant: TenantCollections, collection: str) -> None:
        self._tenant = tenant
        self._collection = collection

    async def read(self, name: str) -> Values | None:
        """The object, or None."""
        async with self._tenant.reading("read record", self._collection) as handle:
            found = await handle.query.fetch_objects_by_ids([key_of(name)])
        return found.objects[0].properties if found.objects else None

    async def create(self, name: str, values: Values) -> None:
        """Write a new object; refused where one with this id is."""
        async with self._tenant.writing("create record", self._collection) as handle:
            await handle.data.insert(_properties(name, values), uuid=key_of(name))

    async def put(self, name: str, values: Values) -> None:
        """Write an object in place of the one with its id."""
        written = DataObject(_properties(name, values), uuid=key_of(name))
        async with self._tenant.writing("put record", self._collection) as handle:
            # A batch of which nothing is stored raises, unlike one of which something is.
            await handle.data.insert_many([written])

    async def delete(self, name: str) -> bool:
        """Whether there was one. (Weaviate says no such thing of a deletion by id alone.)"""
        async with self._tenant.writing("delete record", self._collection) as handle:
            outcome = await handle.data.delete_many(Filter.by_id().equal(key_of(name)))
        if outcome.failed:
            raise failed()
        return outcome.successful > 0

    async def after(
        self, name: str | None, limit: int | None, properties: list[str], only: Sequence[FilterReturn] = ()
    ) -> Sequence[Values]:
        """These properties of at most `limit` objects by id: those after `name` that pass all of `only`."""
        found: list[Values] = []
        position = None if name is None else order_key(name)
        while limit is None or len(found) < limit:
            size = AT_ONCE if limit is None else min(AT_ONCE, limit - len(found))
            page = await self._tenant.listed(self._collection, list(only), position, size, properties)
            found += [stored.properties for stored in page]
            if len(page) < size:
                break
            position = page[-1].properties[ORDER_KEY]
        return found


def _properties(name: str, values: Values) -> dict[str, str]:
    return {ORDER_KEY: order_key(name), **values}
