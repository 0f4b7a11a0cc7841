"""A retrieval service whose Weaviate is behind wires that a test can cut, hold and mend."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chassis.server import serving
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import retrieval
from tests.contract.retrieval_index import MODEL, Service, service_at
from tests.contract.wires import Wire

PATIENCE_SECONDS = 60
"""What a test waits for a state to come; nothing takes as long unless it never comes."""
RETRIEVAL = "clausegate.retrieval.v1.RetrievalService"


@dataclass(frozen=True)
class Weaviate:
    """One that is reached over two wires."""

    rest: Wire
    grpc: Wire
    key: str = ""
    prefix: str = field(default_factory=lambda: f"Failing{secrets.token_hex(4)}")

    @property
    def settings(self) -> dict[str, Any]:
        """Of a process that works on it."""
        return {
            "store": "weaviate",
            "weaviate_url": f"http://127.0.0.1:{self.rest.port}",
            "weaviate_grpc_url": f"http://127.0.0.1:{self.grpc.port}",
            "weaviate_api_key": self.key,
            "weaviate_prefix": self.prefix,
        }

    async def cut(self) -> None:
        """Nothing listens any more."""
        await self.rest.cut()
        await self.grpc.cut()

    async def mend(self) -> None:
        """It is back."""
        await self.rest.mend()
        await self.grpc.mend()

    def hold(self) -> None:
        """It is as slow as can be."""
        self.rest.hold()
        self.grpc.hold()

    def release(self) -> None:
        """It is as fast as before."""
        self.rest.release()
        self.grpc.release()


@asynccontextmanager
async def wired(url: str, grpc_url: str, key: str = "") -> AsyncIterator[Weaviate]:
    """The Weaviate at these addresses on loopback, behind wires."""
    rest, grpc_ = (urlsplit(each).port for each in (url, grpc_url))
    assert rest
    assert grpc_
    async with Wire(rest) as rest_wire, Wire(grpc_) as grpc_wire:
        yield Weaviate(rest_wire, grpc_wire, key)


@dataclass(frozen=True)
class Running:
    """A retrieval service."""

    service: Service
    channel: grpc.aio.Channel
    address: str

    async def becomes(self, status: str, name: str = RETRIEVAL) -> None:
        """Wait until health says this of a name."""
        watched = health_pb2_grpc.HealthStub(self.channel).Watch(
            health_pb2.HealthCheckRequest(service=name), timeout=PATIENCE_SECONDS
        )
        async for response in watched:
            if response.status == health_pb2.HealthCheckResponse.ServingStatus.Value(status):
                break
        watched.cancel()

    async def status(self, name: str = RETRIEVAL) -> str:
        """What health says of a name now."""
        response = await health_pb2_grpc.HealthStub(self.channel).Check(
            health_pb2.HealthCheckRequest(service=name), timeout=PATIENCE_SECONDS
        )
        return str(health_pb2.HealthCheckResponse.ServingStatus.Name(response.status))


@asynccontextmanager
async def running_on(weaviate: Weaviate, folder: Path, **more: Any) -> AsyncIterator[Running]:
    """Serve retrieval at a Unix socket in `folder`; it is ready when this yields."""
    async with started_on(weaviate, folder, **more) as running:
        await running.becomes("SERVING")
        yield running


@asynccontextmanager
async def started_on(weaviate: Weaviate, folder: Path, **more: Any) -> AsyncIterator[Running]:
    """Serve retrieval at a Unix socket in `folder`, ready or not."""
    settings = RetrievalSettings(data_dir=folder, model_dir=MODEL, **{**weaviate.settings, **more})
    async with (
        retrieval(settings) as services,
        serving(f"unix:{folder}/retrieval", [services]) as address,
        grpc.aio.insecure_channel(address) as channel,
    ):
        yield Running(service_at(channel), channel, address)


async def within_patience(awaited: Any) -> Any:
    """What is awaited; a hang fails the test instead of stopping it."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await awaited
