"""The index as a whole: its collections, its tenants, and whether it is the current one."""

from __future__ import annotations

import asyncio
import logging
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

logger = logging.getLogger(__name__)

NO_VECTORS = Configure.Vectors.self_provided(vector_index_config=Configure.VectorIndex.none())
HOW_TO_GO_ON = "run `clausegate reindex`, or set the embedding model back"
GONE = (
    "The index that this process worked with is gone from Weaviate, which lacks {}: restore a back-up, and "
    "calls go on; or restart the retrieval service to begin with an empty index."
)
RETRY_AFTER_SECONDS = 10.0
"""The last documents are brought over meanwhile."""


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
        await self.try_grpc(client)

    async def reopen(self, client: WeaviateAsyncClient) -> None:
        """As `open`, after the server was away; but an index that another replaced is read until the end.

        Raises `StoreUnavailable` for one that is gone: an empty one in its place would say of every question
        that the documents are silent, and nothing can be restored over it.
        """
        current = await self.current(client)
        missing = await self._missing(client)
        if missing and current in (None, self.names.identity):
            raise StoreUnavailable(GONE.format(", ".join(sorted(missing))))
        if missing or current in (None, self.names.identity):
            await self.open(client)
        else:
            await self.try_grpc(client)

    async def make(self, client: WeaviateAsyncClient) -> None:
        """Make the collections that are missing."""
        missing = await self._missing(client)
        for name, properties in missing.items():
            await self._make_collection(client, name, properties)
        if missing:
            logger.warning("collections were made in Weaviate", extra={"collections": [*missing]})

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
        if not await client.collections.exists(alias.collection):
            raise StoreUnavailable(
                f"The alias {self.names.current} points to {alias.collection}, which is gone from Weaviate: "
                "restore it from a back-up, or delete the alias to begin with an empty index."
            )
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

    async def check_writable(self, client: WeaviateAsyncClient) -> None:
        """Raise `StoreUnavailable` while another index is about to take its place, `EmbeddingModelMismatch`
        afterwards. Weaviate asks the leader of its nodes, so that this is not older than the call.
        """
        aliases = await client.alias.list_all(collection=self.names.chunks)
        if self.names.closed in aliases:
            raise StoreUnavailable(
                "The index takes no writes while that of another embedding model takes its place: try again. "
                "If this goes on, `clausegate reindex` was interrupted: run it again.",
                retry_after_seconds=RETRY_AFTER_SECONDS,
            )
        if self.names.current in aliases:
            return
        current = await self.current(client)
        if current in (None, self.names.identity):
            raise StoreUnavailable(f"There is no index: the alias {self.names.current} is missing.")
        raise EmbeddingModelMismatch(
            f"The index was made anew with {current}. This process answers from the old one, made with "
            f"{self.names.identity}, which takes no more writes: restart it with the new model's settings."
        )

    async def try_grpc(self, client: WeaviateAsyncClient) -> None:
        """All else of opening is REST: gRPC has to answer, too."""
        await client.collections.use(self.names.chunks).tenants.get_by_names(["default"])

    def _check(self, current: Identity) -> None:
        ours = self.names.identity
        if current.layout != ours.layout:
            raise StoreUnavailable(
                f"The index in Weaviate has layout {current.layout}, this release reads {ours.layout}: "
                "run `clausegate reindex`."
            )
        if current != ours:
            raise EmbeddingModelMismatch(
                f"The index in Weaviate was made with {current}, not {ours}: {HOW_TO_GO_ON}."
            )

    async def _missing(self, client: WeaviateAsyncClient) -> dict[str, list[Property]]:
        """The collections that are missing, with their properties."""
        existing = await client.collections.list_all(simple=True)
        return {
            name: collection for name, collection in collections(self.names).items() if name not in existing
        }

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
