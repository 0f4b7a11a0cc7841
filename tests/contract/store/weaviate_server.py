"""Stores in Weaviate, for tests: in the server that the environment names, and in a fake."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from chassis.readiness import Readiness
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.port import Store
from services.retrieval.store.weaviate.stores import WeaviateStores, open_stores
from tests.contract.store.drafts import DIMENSION
from tests.fakes.weaviate_server import WeaviateServer

URL = os.environ.get("WEAVIATE_URL", "")  # noqa: TID251  # of the tests, not of a process
GRPC_URL = os.environ.get("WEAVIATE_GRPC_URL", "")  # noqa: TID251
API_KEY = os.environ.get("WEAVIATE_API_KEY", "")  # noqa: TID251
PATIENCE_SECONDS = 60
"""What a server is waited for; none takes as long unless it never answers."""
PATIENT = {"weaviate_read_seconds": 60.0, "weaviate_write_seconds": 120.0}
"""Settings of a process that is not to give up its server, however busy the machine is."""
PREFIX = f"Suite{secrets.token_hex(4)}"
"""Of the collections of this run of the tests."""


def settings(prefix: str = PREFIX) -> RetrievalSettings:
    """Those of a process that works on the server."""
    return RetrievalSettings(
        weaviate_url=URL, weaviate_grpc_url=GRPC_URL, weaviate_api_key=API_KEY, weaviate_prefix=prefix
    )


async def becomes_ready(readiness: Readiness) -> None:
    """Wait for a server: its first probe fails where the machine stands still for two seconds."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for ready in readiness.states():
            if ready:
                return


async def opened(at: RetrievalSettings, name: str = "model", dimension: int = DIMENSION) -> WeaviateStores:
    """Stores of a model, as soon as they are ready."""
    stores = await open_stores(at, name, dimension)
    await becomes_ready(stores.readiness)
    return stores


@asynccontextmanager
async def open_on_fake() -> AsyncIterator[Store]:
    """An empty store in a fake server of its own."""
    with WeaviateServer() as server:
        on_it = RetrievalSettings(weaviate_url=server.url, weaviate_grpc_url=server.grpc_url, **PATIENT)
        async with _opened(on_it) as store:
            yield store


@asynccontextmanager
async def open_weaviate() -> AsyncIterator[Store]:
    """An empty store: a new tenant of collections that all tests of a run share."""
    async with _opened(settings()) as store:
        yield store


@asynccontextmanager
async def _opened(at: RetrievalSettings) -> AsyncIterator[Store]:
    stores = await opened(at)
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
