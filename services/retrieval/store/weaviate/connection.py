"""The one connection of a process to Weaviate: every call is bounded, traced, and fails with our errors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import weaviate
from opentelemetry.trace import SpanKind
from weaviate.auth import Auth
from weaviate.client import WeaviateAsyncClient
from weaviate.exceptions import WeaviateBaseError

from chassis.deadlines import time_left
from chassis.readiness import Readiness
from chassis.telemetry import tracer
from services.retrieval.store.port import StoreUnavailable

logger = logging.getLogger(__name__)
trace = tracer(__name__)

NO_ANSWER = "Weaviate does not answer."
RETRY_AFTER_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Server:
    """Where Weaviate is, and how long it may take."""

    url: str
    """REST, e.g. `http://127.0.0.1:8080`."""
    grpc_url: str
    """gRPC, e.g. `http://127.0.0.1:50051`; https for TLS."""
    api_key: str
    """Empty for none."""
    read_seconds: float
    write_seconds: float


class Connection:
    """A client that is opened once, after any fork, and closed at the end."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.readiness = Readiness(ready=False)
        self._client = _client(server)

    async def open(self) -> None:
        """Connect. Raises `StoreUnavailable` when the server does not answer."""
        # It logs the texts and vectors of what fails.
        logging.getLogger("weaviate-client").setLevel(logging.CRITICAL)
        async with _errors("connect"):
            await self._client.connect()
        self.readiness.set(True)

    @asynccontextmanager
    async def reading(self, operation: str) -> AsyncIterator[WeaviateAsyncClient]:
        """For one read, named on its span. Raises `StoreUnavailable`."""
        async with self._call(operation, self._server.read_seconds) as client:
            yield client

    @asynccontextmanager
    async def writing(self, operation: str) -> AsyncIterator[WeaviateAsyncClient]:
        """For one write that may be repeated, named on its span. Raises `StoreUnavailable`."""
        async with self._call(operation, self._server.write_seconds) as client:
            yield client

    async def close(self) -> None:
        """Hang up; safe to call twice."""
        await self._client.close()

    @asynccontextmanager
    async def _call(self, operation: str, limit_seconds: float) -> AsyncIterator[WeaviateAsyncClient]:
        with trace.start_as_current_span(
            f"weaviate {operation}",
            kind=SpanKind.CLIENT,
            attributes={"db.system.name": "weaviate", "db.operation.name": operation},
        ):
            async with _errors(operation), asyncio.timeout(time_left(limit_seconds)):
                yield self._client


@asynccontextmanager
async def _errors(operation: str) -> AsyncIterator[None]:
    try:
        yield
    except (WeaviateBaseError, TimeoutError, OSError) as error:
        logger.warning(
            "a call of Weaviate failed", extra={"operation": operation, "error": type(error).__name__}
        )
        raise StoreUnavailable(NO_ANSWER, retry_after_seconds=RETRY_AFTER_SECONDS) from error


def _client(server: Server) -> WeaviateAsyncClient:
    rest, grpc = urlsplit(server.url), urlsplit(server.grpc_url)
    return weaviate.use_async_with_custom(
        http_host=rest.hostname or "",
        http_port=rest.port or {"http": 80, "https": 443}[rest.scheme],
        http_secure=rest.scheme == "https",
        grpc_host=grpc.hostname or "",
        grpc_port=grpc.port or 50051,
        grpc_secure=grpc.scheme == "https",
        auth_credentials=Auth.api_key(server.api_key) if server.api_key else None,
        skip_init_checks=True,
    )
