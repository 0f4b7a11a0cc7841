"""The stores under test. A new one joins by one more parameter here."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.retrieval.store.port import Store
from tests.contract.store.drafts import open_embedded


@pytest.fixture(params=[open_embedded])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """An empty store of vectors with `DIMENSION` components."""
    async with request.param() as opened:
        yield opened
