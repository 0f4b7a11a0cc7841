"""The stores of all tenants, each in a folder of its own: a read across tenants has no way to happen."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from chassis.errors import InvalidInput
from services.retrieval.store.embedded.store import EmbeddedStore, open_store

_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Stores:
    """Opens a tenant's store when it is first asked for, and closes them all."""

    def __init__(self, folder: Path, model_name: str, dimension: int) -> None:
        """Stores live below `folder`; vectors are of this model."""
        self._folder = folder
        self._model_name = model_name
        self._dimension = dimension
        self._open: dict[str, EmbeddedStore] = {}
        self._opening = asyncio.Lock()

    async def for_tenant(self, tenant: str) -> EmbeddedStore:
        """The store of `tenant`, made when it is new. Raises what `open_store` does.

        Raises `InvalidInput` for a name that is not 1 to 64 letters, digits, `.`, `_` and `-`.
        """
        if not _TENANT.fullmatch(tenant):
            raise InvalidInput(f"Cannot name a tenant: {tenant!r}.", field="tenant")
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
