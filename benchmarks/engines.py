"""The two stores, opened for a measurement: files in a folder, and the Weaviate that the environment names.

Weaviate's client is imported where it is used: it is part of what that store takes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field
from pydantic_settings import BaseSettings

from benchmarks.measuring import listening_pid
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.embedded.stores import EmbeddedStores
from services.retrieval.store.port import Stores

MODEL = "benchmark"
PREFIX = "Benchmark"
"""Prefix of the collections that a measurement makes and deletes."""
Engine = Literal["embedded", "weaviate"]


class Measured(BaseSettings):
    """Which Weaviate to measure; its key, if any, is that of the product's own settings."""

    weaviate_url: str = Field(default="", description="Its REST address; empty: not measured.")
    weaviate_grpc_url: str = Field(default="", description="Its gRPC address.")

    @property
    def has_weaviate(self) -> bool:
        """Whether both addresses are named."""
        return bool(self.weaviate_url and self.weaviate_grpc_url)

    def retrieval(self) -> RetrievalSettings:
        """The product's settings for that server."""
        return RetrievalSettings(
            store="weaviate",
            weaviate_url=self.weaviate_url,
            weaviate_grpc_url=self.weaviate_grpc_url,
            weaviate_prefix=PREFIX,
        )


@asynccontextmanager
async def opened(engine: Engine, folder: Path, dimension: int) -> AsyncIterator[Stores]:
    """The stores of an engine; what they hold stays, until `forget`."""
    stores: Stores
    if engine == "embedded":
        stores = EmbeddedStores(folder, MODEL, dimension)
    else:
        from services.retrieval.store.weaviate.stores import open_stores

        stores = await open_stores(Measured().retrieval(), MODEL, dimension)
    try:
        yield stores
    finally:
        await stores.close()


async def forget(engine: Engine) -> None:
    """Delete the collections of measurements; files go with their folder."""
    if engine == "embedded":
        return
    import weaviate
    from weaviate.auth import Auth

    settings = Measured().retrieval()
    rest, grpc = urlsplit(settings.weaviate_url), urlsplit(settings.weaviate_grpc_url)
    key = settings.weaviate_key()
    async with weaviate.use_async_with_custom(
        http_host=rest.hostname or "",
        http_port=rest.port or {"http": 80, "https": 443}[rest.scheme],
        http_secure=rest.scheme == "https",
        grpc_host=grpc.hostname or "",
        grpc_port=grpc.port or 0,
        grpc_secure=grpc.scheme == "https",
        auth_credentials=Auth.api_key(key) if key else None,
        skip_init_checks=True,
    ) as client:
        for name in await client.alias.list_all():
            if name.startswith(PREFIX):
                await client.alias.delete(alias_name=name)
        for name in await client.collections.list_all():
            if name.startswith(PREFIX):
                await client.collections.delete(name)


def server_pid(engine: Engine) -> int | None:
    """The process of the engine; None where it has none, or has it on another machine."""
    if engine == "embedded":
        return None
    return listening_pid(urlsplit(Measured().weaviate_grpc_url).port or 0)
