"""The one connection of a process to Weaviate: every call is bounded, traced, and fails with our errors.

It may be opened before the server is there. A loop asks Weaviate every second whether it is ready (its gRPC
health says SERVING from the first moment). While it is not, calls fail at once, those under way too.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import weaviate
from opentelemetry.trace import Span, SpanKind
from weaviate.auth import Auth
from weaviate.classes.init import AdditionalConfig, Timeout
from weaviate.client import WeaviateAsyncClient
from weaviate.config import GrpcConfig

from chassis.errors import DeadlineExceeded, ServiceError
from chassis.limits.deadlines import time_left
from chassis.readiness import Readiness
from chassis.telemetry import histogram, span, timed, tracer
from services.retrieval.store.port import StoreUnavailable
from services.retrieval.store.weaviate.breaker import Breaker
from services.retrieval.store.weaviate.failures import (
    UNREADABLE,
    NotAnswering,
    error_of,
    is_foreign,
    is_refused,
    not_answering,
    said_of,
)

logger = logging.getLogger(__name__)
trace = tracer(__name__)
_duration = histogram(__name__, "db.client.operation.duration", "Time of a call of Weaviate.")

READY_PATH = "/v1/.well-known/ready"
PROBE_SECONDS = 1.0
"""Between two probes."""
READY_SECONDS = 2.0
"""Limit of one probe."""

_PORTS = {"http": 80, "https": 443}
# Two minutes between attempts to connect, gRPC's own bound, would outlast a restart by far.
_CHANNEL_OPTIONS = [("grpc.max_reconnect_backoff_ms", 2000), ("grpc.enable_http_proxy", 0)]

Check = Callable[[WeaviateAsyncClient], Awaitable[None]]
"""Opens the index, or finds why it must not be used. It calls the server over REST and gRPC: the trial."""


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
    """A client that is made once, after any fork, and closed at the end."""

    def __init__(self, server: Server, probe_seconds: float = PROBE_SECONDS) -> None:
        """Nothing is sent yet."""
        # The client logs texts and vectors of what fails; its transport logs every request.
        logging.getLogger("weaviate-client").setLevel(logging.CRITICAL)
        for name in ("httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self._server = server
        self._attributes = _attributes(server)
        self.readiness = Readiness(ready=False)
        self._client = _client(server)
        self._prober = httpx.AsyncClient(base_url=server.url, timeout=READY_SECONDS, trust_env=False)
        self._breaker = Breaker(probe_seconds)
        self._why: ServiceError = not_answering()
        """What calls are told while the breaker is open."""
        self._running: set[asyncio.Timeout] = set()
        self._watching: asyncio.Task[None] | None = None

    async def open(self, check: Check) -> None:
        """Connect and run `check`, now and each time the server comes back.

        A server that does not answer is waited for in the background. Raises what else is wrong and stays so:
        what `check` says of an index that must not be used, and `StoreUnavailable` for a key that is refused.
        """
        await self._probe(check)
        if not self._breaker.closed and self._why.retry_after_seconds is None:
            await self.close()
            raise self._why
        self._watching = asyncio.create_task(self._watch(check), name="watch Weaviate")

    @asynccontextmanager
    async def reading(
        self, operation: str, collection: str | None = None
    ) -> AsyncIterator[WeaviateAsyncClient]:
        """For one read; both are named on its span. Raises `StoreUnavailable` and `DeadlineExceeded`."""
        async with self._call(operation, collection, self._server.read_seconds) as client:
            yield client

    @asynccontextmanager
    async def writing(
        self, operation: str, collection: str | None = None
    ) -> AsyncIterator[WeaviateAsyncClient]:
        """For one write that may be repeated; both are named on its span. Raises the same."""
        async with self._call(operation, collection, self._server.write_seconds) as client:
            yield client

    async def close(self) -> None:
        """Hang up; safe to call twice."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        self._breaker.end()
        await self._prober.aclose()
        await self._client.close()

    # Calls --------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _call(
        self, operation: str, collection: str | None, limit_seconds: float
    ) -> AsyncIterator[WeaviateAsyncClient]:
        if not self._breaker.closed:
            raise copy.copy(self._why)
        with self._observed(operation, collection) as current:
            try:
                async with self._bounded(limit_seconds):
                    yield self._client
            except UNREADABLE as failure:
                if not is_foreign(failure):
                    raise
                raise self._failed(failure, operation, current) from failure
        self._breaker.answered()

    @asynccontextmanager
    async def _bounded(self, limit_seconds: float) -> AsyncIterator[None]:
        """Bound a call by its limit, by its caller's deadline, and by the loss of the server."""
        left = time_left(limit_seconds)
        try:
            async with asyncio.timeout(left) as running:
                self._running.add(running)
                try:
                    yield
                finally:
                    self._running.discard(running)
        except TimeoutError:
            if left < limit_seconds and time_left(limit_seconds) == 0:
                raise DeadlineExceeded("The deadline passed while waiting for Weaviate.") from None
            raise

    def _failed(self, failure: Exception, operation: str, current: Span) -> StoreUnavailable:
        error, said = error_of(failure), said_of(failure)
        logger.warning("a call of Weaviate failed", extra={"operation": operation, **said})
        if said["status"]:
            current.set_attribute("db.response.status_code", said["status"])
        if not isinstance(error, NotAnswering):
            self._breaker.answered()
        elif is_refused(failure):
            self._lose(error, said)
        else:
            error.repeated = True  # by the client, for as long as there was time
            self._breaker.unanswered()
            if not self._breaker.closed:
                self._down(not_answering(self._breaker.pause_seconds), said)
        return error

    @contextmanager
    def _observed(self, operation: str, collection: str | None = None) -> Iterator[Span]:
        named = {} if collection is None else {"db.collection.name": collection}
        attributes = {**self._attributes, "db.operation.name": operation, **named}
        with (
            timed(_duration, attributes),
            span(trace, f"weaviate {operation}", attributes, SpanKind.CLIENT) as current,
        ):
            yield current

    # The server's state -------------------------------------------------------------------------------------

    async def _watch(self, check: Check) -> None:
        while True:
            await asyncio.sleep(self._breaker.pause_seconds)
            await self._probe(check)

    async def _probe(self, check: Check) -> None:
        """Ask whether the server is ready; while calls fail at once, try whether they need not any more."""
        try:
            response = await self._prober.get(READY_PATH)
            response.raise_for_status()
        except httpx.HTTPError as failure:
            if is_refused(failure):
                self._breaker.open()
            else:
                self._breaker.unready()
            if not self._breaker.closed:
                self._lose(not_answering(), said_of(failure))
            return
        self._breaker.ready()
        if not self._breaker.closed:
            await self._try(check)

    async def _try(self, check: Check) -> None:
        try:
            with self._observed("open"):
                async with asyncio.timeout(self._server.write_seconds):
                    await self._connect()
                    await check(self._client)
        except UNREADABLE as failure:
            self._down(error_of(failure), said_of(failure))
        except ServiceError as error:
            self._down(error)
        else:
            self._breaker.close()
            self.readiness.set(True)
            logger.info("Weaviate answers")

    async def _connect(self) -> None:
        """Needed once: after a loss both transports connect again by themselves."""
        if not self._client.is_connected():
            try:
                await self._client.connect()
            except BaseException:
                await self._client.close()  # it leaves what it has opened, and opens more the next time
                raise

    def _lose(self, why: ServiceError, said: Mapping[str, str]) -> None:
        """Nothing to wait for: let the calls under way fail too, which the client would go on repeating."""
        self._down(why, said)
        for running in self._running:
            if not running.expired():
                running.reschedule(0)

    def _down(self, why: ServiceError, said: Mapping[str, str] | None = None) -> None:
        """Let calls fail with `why` from now on."""
        if self._breaker.closed or why.message != self._why.message:
            logger.warning("calls of Weaviate fail from now on", extra={"why": why.message, **(said or {})})
        self._breaker.open()
        self._why = why
        self.readiness.set(False)


def _attributes(server: Server) -> dict[str, str | int]:
    """Attributes of every span: OpenTelemetry's conventions for clients of databases."""
    rest = urlsplit(server.url)
    port = rest.port or _PORTS[rest.scheme]
    return {"db.system.name": "weaviate", "server.address": rest.hostname or "", "server.port": port}


def _client(server: Server) -> WeaviateAsyncClient:
    rest, grpc = urlsplit(server.url), urlsplit(server.grpc_url)
    return weaviate.use_async_with_custom(
        http_host=rest.hostname or "",
        http_port=rest.port or _PORTS[rest.scheme],
        http_secure=rest.scheme == "https",
        grpc_host=grpc.hostname or "",
        grpc_port=grpc.port or 50051,
        grpc_secure=grpc.scheme == "https",
        auth_credentials=Auth.api_key(server.api_key) if server.api_key else None,
        additional_config=AdditionalConfig(
            timeout=Timeout(query=server.read_seconds, insert=server.write_seconds),
            grpc_config=GrpcConfig(channel_options=_CHANNEL_OPTIONS),
        ),
        skip_init_checks=True,
    )
