"""The stores of all tenants, each in a folder of its own: a read across tenants has no way to happen."""

from __future__ import annotations

import asyncio
from pathlib import Path

from chassis.readiness import Readiness
from services.retrieval.store.embedded.store import EmbeddedStore, open_store
from services.retrieval.store.port import check_tenant


class EmbeddedStores:
    """`Stores` of SQLite files: opens one when it is first asked for, and closes them all."""

    engine = "embedded"

    def __init__(self, folder: Path, model_name: str, dimension: int) -> None:
        """Stores live below `folder`; vectors are of this model."""
        self._folder = folder
        self._model_name = model_name
        self._dimension = dimension
        self.readiness = Readiness()
        self._open: dict[str, EmbeddedStore] = {}
        self._opening = asyncio.Lock()

    async def for_tenant(self, tenant: str) -> EmbeddedStore:
        """See `Stores.for_tenant`."""
        check_tenant(tenant)
        async with self._opening:
            if tenant not in self._open:
                self._open[tenant] = await open_store(
                    self._folder / tenant, self._model_name, self._dimension
                )
            return self._open[tenant]

    async def close(self) -> None:
        """Close all stores; safe to call twice."""
        async with self._opening:
            while self._open:
                await self._open.popitem()[1].close()
