"""The stores of all tenants in one Weaviate."""

from __future__ import annotations

import asyncio

from weaviate.client import WeaviateAsyncClient

from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.port import Store, StoreUnavailable, check_tenant
from services.retrieval.store.weaviate.connection import Connection, Server
from services.retrieval.store.weaviate.schema import LAYOUT, Identity, Names, Storage


async def open_stores(settings: RetrievalSettings, model_name: str, dimension: int) -> WeaviateStores:
    """The stores of the Weaviate that the settings name, for vectors of this model.

    A server that does not answer is waited for in the background: until it does, nothing is ready. Raises
    `StoreUnavailable` for an index of another layout and `EmbeddingModelMismatch` for one of another model,
    when the server answers at once.
    """
    server = Server(
        settings.weaviate_url,
        settings.weaviate_grpc_url,
        settings.weaviate_key(),
        settings.weaviate_read_seconds,
        settings.weaviate_write_seconds,
    )
    names = Names(settings.weaviate_prefix, Identity(LAYOUT, model_name, dimension))
    storage = Storage(settings.weaviate_replicas, settings.weaviate_quantization)
    stores = WeaviateStores(Connection(server), names, storage)
    await stores.open()
    return stores


class WeaviateStores:
    """`Stores` as tenants of Weaviate's collections."""

    engine = "weaviate"

    def __init__(self, connection: Connection, names: Names, storage: Storage) -> None:
        self._connection = connection
        self._names = names
        self._storage = storage
        self._open: dict[str, Store] = {}
        self._opening = asyncio.Lock()
        self.readiness = connection.readiness

    async def open(self) -> None:
        """Connect, and make the collections that are missing."""
        await self._connection.open(self._check)

    async def _check(self, client: WeaviateAsyncClient) -> None:
        await client.alias.exists(alias_name=self._names.current)

    async def for_tenant(self, tenant: str) -> Store:
        """See `Stores.for_tenant`."""
        check_tenant(tenant)
        raise StoreUnavailable("Weaviate has no store yet.")

    async def close(self) -> None:
        """See `Stores.close`."""
        await self._connection.close()
