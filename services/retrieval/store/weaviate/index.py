"""The index as a whole: its collections, its tenants, and whether it is the current one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from weaviate.classes.config import Configure, StopwordsPreset
from weaviate.client import WeaviateAsyncClient
from weaviate.collections.classes.config import Property
from weaviate.collections.classes.tenants import Tenant
from weaviate.exceptions import UnexpectedStatusCodeError

from services.retrieval.store.port import EmbeddingModelMismatch, StoreUnavailable
from services.retrieval.store.weaviate.schema import (
    Identity,
    Names,
    Storage,
    collections,
    windows_vector,
)

NO_VECTORS = Configure.Vectors.self_provided(vector_index_config=Configure.VectorIndex.none())
HOW_TO_GO_ON = "run `clausegate reindex`, or set the embedding model back"


@dataclass(frozen=True, slots=True)
class Index:
    """The index of one identity; another may be the current one."""

    names: Names
    storage: Storage

    async def open(self, client: WeaviateAsyncClient) -> None:
        """Make what is missing of it, and make it the current one if there is none.

        Several processes may do so at once. Raises as `check_current` does, and then changes nothing.
        """
        current = await self.current(client)
        if current:
            self._check(current)
        await self.make(client)
        if not current:
            await self._point_to_it(client)
            await self.check_current(client)
        # All else of this is REST: gRPC has to answer, too.
        await client.collections.use(self.names.chunks).tenants.get_by_names(["default"])

    async def make(self, client: WeaviateAsyncClient) -> None:
        """Make the collections that are missing."""
        existing = await client.collections.list_all(simple=True)
        for name, properties in collections(self.names).items():
            if name not in existing:
                await self._make_collection(client, name, properties)

    async def make_tenant(self, client: WeaviateAsyncClient, tenant: str) -> None:
        """Make the tenant's part of every collection; one that exists stays as it is."""
        await asyncio.gather(
            *(
                client.collections.use(name).tenants.create(Tenant(name=tenant))
                for name in collections(self.names)
            )
        )

    async def current(self, client: WeaviateAsyncClient) -> Identity | None:
        """What the current index was made with; None when there is none.

        Raises `StoreUnavailable` for an index that this product did not make.
        """
        alias = await client.alias.get(alias_name=self.names.current)
        if alias is None:
            return None
        configuration = await client.collections.use(alias.collection).config.get()
        try:
            return Identity.from_json(configuration.description or "")
        except (ValueError, KeyError, TypeError) as error:
            raise StoreUnavailable(
                f"The alias {self.names.current} points to a collection that is no index of this product: "
                "set another CLAUSEGATE_WEAVIATE_PREFIX."
            ) from error

    async def check_current(self, client: WeaviateAsyncClient) -> None:
        """Raise `StoreUnavailable` when the current index has another layout, or there is none, and
        `EmbeddingModelMismatch` when it was made with another model.
        """
        current = await self.current(client)
        if current is None:
            raise StoreUnavailable(f"There is no index: the alias {self.names.current} is missing.")
        self._check(current)

    def _check(self, current: Identity) -> None:
        ours = self.names.identity
        if current.layout != ours.layout:
            raise StoreUnavailable(
                f"The index in Weaviate has layout {current.layout}, this release reads {ours.layout}: "
                "run `clausegate reindex`."
            )
        if current != ours:
            raise EmbeddingModelMismatch(
                f"The index in Weaviate was made with {current.model} ({current.dimension} dimensions), not "
                f"{ours.model} ({ours.dimension}): {HOW_TO_GO_ON}."
            )

    async def _make_collection(
        self, client: WeaviateAsyncClient, name: str, properties: list[Property]
    ) -> None:
        holds_chunks = name == self.names.chunks
        try:
            await client.collections.create(
                name,
                description=self.names.identity.to_json() if holds_chunks else None,
                properties=properties,
                vector_config=windows_vector(self.storage.quantization) if holds_chunks else NO_VECTORS,
                inverted_index_config=Configure.inverted_index(
                    bm25_k1=1.2, bm25_b=0.75, stopwords_preset=StopwordsPreset.NONE
                ),
                multi_tenancy_config=Configure.multi_tenancy(enabled=True),
                replication_config=Configure.replication(factor=self.storage.replicas),
            )
        except UnexpectedStatusCodeError:
            if not await client.collections.exists(name):
                raise

    async def _point_to_it(self, client: WeaviateAsyncClient) -> None:
        try:
            await client.alias.create(alias_name=self.names.current, target_collection=self.names.chunks)
        except UnexpectedStatusCodeError:
            if not await client.alias.exists(alias_name=self.names.current):
                raise
