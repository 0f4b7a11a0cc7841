"""Stores in Weaviate, for tests: in the server that the environment names, and in a fake."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.port import Store
from services.retrieval.store.weaviate.stores import open_stores
from tests.contract.store.drafts import DIMENSION
from tests.fakes.weaviate_server import WeaviateServer

URL = os.environ.get("WEAVIATE_URL", "")  # noqa: TID251  # of the tests, not of a process
GRPC_URL = os.environ.get("WEAVIATE_GRPC_URL", "")  # noqa: TID251
API_KEY = os.environ.get("WEAVIATE_API_KEY", "")  # noqa: TID251
PREFIX = f"Suite{secrets.token_hex(4)}"
"""Of the collections of this run of the tests."""


def settings(prefix: str = PREFIX) -> RetrievalSettings:
    """Those of a process that works on the server."""
    return RetrievalSettings(
        weaviate_url=URL, weaviate_grpc_url=GRPC_URL, weaviate_api_key=API_KEY, weaviate_prefix=prefix
    )


@asynccontextmanager
async def open_on_fake() -> AsyncIterator[Store]:
    """An empty store in a fake server of its own."""
    with WeaviateServer() as server:
        on_it = RetrievalSettings(weaviate_url=server.url, weaviate_grpc_url=server.grpc_url)
        async with _opened(on_it) as store:
            yield store


@asynccontextmanager
async def open_weaviate() -> AsyncIterator[Store]:
    """An empty store: a new tenant of collections that all tests of a run share."""
    async with _opened(settings()) as store:
        yield store


@asynccontextmanager
async def _opened(at: RetrievalSettings) -> AsyncIterator[Store]:
    stores = await open_stores(at, "model", DIMENSION)
    try:
        yield await stores.for_tenant(f"t{secrets.token_hex(8)}")
    finally:
        await stores.close()


def drop_collections(prefix: str = PREFIX) -> None:
    """Delete every alias and collection whose name begins with `prefix`."""
    headers = {"Authorization": f"Bearer {API_KEY}"} if API_KEY else {}
    with httpx.Client(base_url=f"{URL}/v1", headers=headers, timeout=60, trust_env=False) as http:
        for listed, name in (("aliases", "alias"), ("schema", "class")):
            found = http.get(f"/{listed}").json()["aliases" if listed == "aliases" else "classes"] or []
            for each in found:
                if each[name].startswith(prefix):
                    http.delete(f"/{listed}/{each[name]}").raise_for_status()
