"""What one tenant has in Weaviate: a part of every collection, reached under the tenant's name alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from weaviate.classes.config import ConsistencyLevel
from weaviate.client import WeaviateAsyncClient
from weaviate.collections import CollectionAsync

from services.retrieval.store.weaviate.connection import Connection
from services.retrieval.store.weaviate.schema import Names

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

    def _handle(self, client: WeaviateAsyncClient, collection: str) -> Handle:
        if client is not self._client:
            self._client, self._handles = client, {}
        if collection not in self._handles:
            # Kept: making one takes .15 ms.
            handle = client.collections.use(collection).with_tenant(self._tenant)
            # What a majority has written, a majority's read sees; with one replica it says nothing.
            self._handles[collection] = handle.with_consistency_level(ConsistencyLevel.QUORUM)
        return self._handles[collection]
