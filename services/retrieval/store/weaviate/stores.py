"""The stores of all tenants in one Weaviate."""

from __future__ import annotations

import asyncio
import logging

from typing_extensions import override
from weaviate.client import WeaviateAsyncClient

from services.retrieval.clock import now
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.port import Stores, check_tenant
from services.retrieval.store.weaviate.connection import Connection, Server
from services.retrieval.store.weaviate.index import Index
from services.retrieval.store.weaviate.schema import LAYOUT, Identity, Names, Storage
from services.retrieval.store.weaviate.store import WeaviateStore

logger = logging.getLogger(__name__)


async def open_stores(settings: RetrievalSettings, model_name: str, dimension: int) -> WeaviateStores:
    """The stores of the Weaviate that the settings name, for vectors of this model.

    A server that does not answer is waited for in the background: until it does, nothing is ready. Raises
    `StoreUnavailable` for an index of another layout and `EmbeddingModelMismatch` for one of another model,
    when the server answers at once.
    """
    connection, names, storage = parts_of(settings, model_name, dimension)
    stores = WeaviateStores(connection, names, storage)
    await stores.open()
    return stores


def parts_of(
    settings: RetrievalSettings, model_name: str, dimension: int
) -> tuple[Connection, Names, Storage]:
    """What the settings say of the server, of an index for vectors of this model, and of how it is kept."""
    server = Server(
        settings.weaviate_url,
        settings.weaviate_grpc_url,
        settings.weaviate_key(),
        settings.weaviate_read_seconds,
        settings.weaviate_write_seconds,
    )
    names = Names(settings.weaviate_prefix, Identity(LAYOUT, model_name, dimension))
    return Connection(server), names, Storage(settings.weaviate_replicas, settings.weaviate_quantization)


class WeaviateStores(Stores):
    """`Stores` as tenants of Weaviate's collections."""

    engine = "weaviate"

    def __init__(self, connection: Connection, names: Names, storage: Storage) -> None:
        self.readiness = connection.readiness
        self._connection = connection
        self._index = Index(names, storage)
        self._open: dict[str, WeaviateStore] = {}
        self._opening = asyncio.Lock()
        self._was_opened = False

    async def open(self) -> None:
        """Connect, and make the collections that are missing."""
        await self._connection.open(self._open_index)

    @override
    async def for_tenant(self, tenant: str) -> WeaviateStore:
        check_tenant(tenant)
        if tenant in self._open:
            return self._open[tenant]
        async with self._opening:
            if tenant not in self._open:
                async with self._connection.writing("make tenant") as client:
                    await self._index.make_tenant(client, tenant)
                self._open[tenant] = WeaviateStore(
                    self._connection, self._index.names, tenant, now, self._check_writable
                )
            return self._open[tenant]

    @override
    async def close(self) -> None:
        await self._connection.close()

    async def _open_index(self, client: WeaviateAsyncClient) -> None:
        """For good at first; a server that comes back may have another index by now."""
        if self._was_opened:
            await self._index.reopen(client)
        else:
            await self._index.open(client)
            self._was_opened = True
        # Somebody may have deleted a tenant that is open here, or restored a back-up of before it was made.
        chunks = client.collections.use(self._index.names.chunks)
        known = await chunks.tenants.get_by_names([*self._open]) if self._open else {}
        missing = self._open.keys() - known
        if missing:
            logger.error("tenants are gone from Weaviate, and begin anew", extra={"tenants": sorted(missing)})
        await asyncio.gather(*(self._index.make_tenant(client, tenant) for tenant in missing))

    async def _check_writable(self) -> None:
        async with self._connection.reading("read aliases") as client:
            await self._index.check_writable(client)
