"""The store of one tenant in Weaviate."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from typing_extensions import override

from services.retrieval.store.weaviate.connection import Connection
from services.retrieval.store.weaviate.counting import Counting
from services.retrieval.store.weaviate.records import WeaviateRecords
from services.retrieval.store.weaviate.schema import Names
from services.retrieval.store.weaviate.searching import Searching
from services.retrieval.store.weaviate.tenants import TenantCollections
from services.retrieval.store.weaviate.writing import CheckWritable, Writing


class WeaviateStore(Searching, Counting, Writing):
    """A `Store`. Its collections exist and hold this tenant."""

    def __init__(
        self,
        connection: Connection,
        names: Names,
        tenant: str,
        clock: Callable[[], datetime],
        check_writable: CheckWritable,
    ) -> None:
        collections = TenantCollections(connection, names, tenant)
        super().__init__(collections, clock, check_writable)
        self.records = WeaviateRecords(collections)

    @override
    async def close(self) -> None:
        pass  # the connection is shared
