"""Another embedding model for an index in Weaviate: new collections are filled beside those of now.

Which of them are the index is one alias. Processes of the old model go on answering from the old collections
until they are restarted, so these are only dropped when somebody asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from typing_extensions import override
from weaviate.client import WeaviateAsyncClient

from chassis.errors import Conflict
from services.retrieval.clock import now
from services.retrieval.reindexing import Changeover
from services.retrieval.store.port import StoreUnavailable
from services.retrieval.store.weaviate.connection import Connection
from services.retrieval.store.weaviate.failures import not_answering
from services.retrieval.store.weaviate.index import Index
from services.retrieval.store.weaviate.schema import Names, Storage, collections
from services.retrieval.store.weaviate.store import WeaviateStore

OF_AN_INDEX = r"(Chunk|Definition|Document|Staged|State)_[0-9]+_[0-9a-f]{8}"
"""How the name of a collection ends that belongs to one index, not to all of them."""


class Overtaken(Conflict):
    """Another run has changed over, or let writes in again, while this one was under way."""

    reason = "DOCUMENT_CONFLICT"


class WeaviateChangeover(Changeover):
    """A `Changeover` to the index that `names` is about; nobody else may fill it meanwhile."""

    def __init__(self, connection: Connection, names: Names, storage: Storage) -> None:
        """Nothing is sent yet."""
        self._connection = connection
        self._storage = storage
        self._new = Index(names, storage)
        self._old: Index | None = None
        self._new_stores: dict[str, WeaviateStore] = {}

    @override
    async def open(self) -> Sequence[str]:
        """Connect, and make the collections of the new index."""
        await self._connection.open(self._prepare)
        if not self._connection.readiness.ready:
            await self._connection.close()
            raise not_answering()
        return [str(self._old.names.identity)] if self._old else []

    @override
    async def tenants(self) -> Sequence[str]:
        documents = self._replaced.documents
        async with self._connection.reading("list tenants", documents) as client:
            return sorted(await client.collections.use(documents).tenants.get())

    @override
    async def old(self, tenant: str) -> WeaviateStore:
        return WeaviateStore(self._connection, self._replaced, tenant, now, self._check_new_is_not_current)

    @override
    async def new(self, tenant: str) -> WeaviateStore:
        if tenant not in self._new_stores:
            async with self._connection.writing("make tenant") as client:
                await self._new.make_tenant(client, tenant)
            self._new_stores[tenant] = WeaviateStore(
                self._connection, self._new.names, tenant, now, self._check_new_is_not_current
            )
        return self._new_stores[tenant]

    @override
    async def hold_writes(self) -> None:
        closed, chunks = self._new.names.closed, self._replaced.chunks
        async with self._connection.writing("hold writes") as client:
            if not await client.alias.update(alias_name=closed, new_target_collection=chunks):
                await client.alias.create(alias_name=closed, target_collection=chunks)

    @override
    async def swap(self) -> None:
        """Let the alias name the new collections. Raises `Overtaken` when the index still takes writes."""
        names = self._new.names
        async with self._connection.writing("swap") as client:
            aliases = await client.alias.list_all(collection=self._replaced.chunks)
            if not {names.current, names.closed} <= aliases.keys():
                raise Overtaken("Another run of `clausegate reindex` came in between: run it again.")
            await client.alias.update(alias_name=names.current, new_target_collection=names.chunks)
            await client.alias.delete(alias_name=names.closed)

    @override
    async def drop_replaced(self) -> Sequence[str]:
        names = self._new.names
        of_an_index = re.compile(re.escape(names.prefix) + OF_AN_INDEX)
        async with self._connection.writing("drop collections") as client:
            existing = await client.collections.list_all(simple=True)
            replaced = sorted(filter(of_an_index.fullmatch, existing.keys() - collections(names).keys()))
            for name in replaced:
                await client.collections.delete(name)
        return replaced

    @override
    async def close(self) -> None:
        await self._connection.close()

    @property
    def _replaced(self) -> Names:
        assert self._old is not None  # `open` found an index to replace
        return self._old.names

    async def _prepare(self, client: WeaviateAsyncClient) -> None:
        """See what the index of now is and, unless it is ours, make the collections of the new one."""
        names, current = self._new.names, await self._new.current(client)
        if current in (None, names.identity):
            # Of a run that was given up after it held writes, or broke off after the swap.
            await client.alias.delete(alias_name=names.closed)
            return
        assert current is not None
        if current.layout > names.identity.layout:
            raise StoreUnavailable(
                f"The index in Weaviate has layout {current.layout}, this release reads up to "
                f"{names.identity.layout}: a later release made it, use that."
            )
        self._old = Index(Names(names.prefix, current), self._storage)
        await self._new.make(client)
        await self._new.try_grpc(client)

    async def _check_new_is_not_current(self) -> None:
        """What takes its place is not to be filled any more: others write to it."""
        names = self._new.names
        async with self._connection.reading("read aliases") as client:
            aliases = await client.alias.list_all(collection=names.chunks)
        if names.current in aliases:
            raise Overtaken("Another run of `clausegate reindex` has changed over already.")
