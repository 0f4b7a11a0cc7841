"""The stores under test. A new one joins by one more parameter here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from services.retrieval.store.port import Store
from tests.contract.store import weaviate_server
from tests.contract.store.beside_others import open_restricted, open_restricted_on_fake
from tests.contract.store.drafts import open_embedded

STORES = [
    pytest.param(open_embedded, id="embedded"),
    pytest.param(weaviate_server.open_on_fake, id="weaviate-fake"),
    pytest.param(open_restricted, id="restricted"),
    pytest.param(open_restricted_on_fake, id="restricted-weaviate-fake", marks=pytest.mark.soak),
]
if weaviate_server.URL:
    STORES.append(pytest.param(weaviate_server.open_weaviate, id="weaviate", marks=pytest.mark.weaviate))


@pytest.fixture(scope="session", autouse=True)
def _no_collections_stay() -> Iterator[None]:
    yield
    if weaviate_server.URL:
        weaviate_server.drop_collections()


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """An empty store of vectors with `DIMENSION` components."""
    async with request.param() as opened:
        yield opened
