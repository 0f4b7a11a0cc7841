"""The stores under test. A new one joins by one more parameter here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.retrieval.store.embedded.stores import Stores
from services.retrieval.store.port import Store
from tests.contract.store.drafts import DIMENSION


@pytest.fixture(params=["embedded"])
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store of vectors with `DIMENSION` components."""
    stores = Stores(tmp_path, "model", DIMENSION)
    yield await stores.for_tenant("default")
    await stores.close()
