"""The stores of all tenants, each in a folder of its own: a read across tenants has no way to happen."""

from __future__ import annotations

import asyncio
from pathlib import Path

from typing_extensions import override

from chassis.readiness import Readiness
from services.retrieval.store.embedded.store import EmbeddedStore, open_store
from services.retrieval.store.port import Stores, check_tenant


class EmbeddedStores(Stores):
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

    @override
    async def for_tenant(self, tenant: str) -> EmbeddedStore:
        check_tenant(tenant)
        async with self._opening:
            if tenant not in self._open:
                self._open[tenant] = await open_store(
                    self._folder / tenant, self._model_name, self._dimension
                )
            return self._open[tenant]

    @override
    async def close(self) -> None:
        async with self._opening:
            while self._open:
                await self._open.popitem()[1].close()
