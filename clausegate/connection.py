"""The channels under a client: who listens where, what is repeated, and how long a call may take."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import astuple, dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar
from urllib.parse import urlsplit

import grpc
import grpc.aio
from google.protobuf.message import Message

from clausegate.errors import clausegate_errors

PAGE_SIZE = 1000
"""Where the contract allows less, less is given."""
_TLS = "https://"
_PLAIN = re.compile(r"unix:.+|.+:[1-9][0-9]*")
# Calls that neither write nor ask a chat model are repeated by the channel when a service restarts. No others
# are: a failing model server is UNAVAILABLE too, and each repeat would pay for its calls again.
_REPEATABLE = [
    {"service": "clausegate.answer.v1.GroundingService"},
    {"service": "clausegate.answer.v1.ModelService"},
    {"service": "clausegate.retrieval.v1.RetrievalService"},
    {"service": "clausegate.retrieval.v1.DocumentService"},
    {"service": "clausegate.retrieval.v1.IndexService", "method": "DescribeIndex"},
    {"service": "clausegate.ingest.v1.IngestService", "method": "GetOriginal"},
    {"service": "clausegate.ingest.v1.IngestService", "method": "RenderPage"},
]
_SERVICE_CONFIG = json.dumps(
    {
        "methodConfig": [
            {
                "name": _REPEATABLE,
                "retryPolicy": {
                    "maxAttempts": 4,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ]
    }
)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the services listen, each `host:port`, `unix:/path`, or `https://host[:port]` for TLS."""

    ingest: str
    retrieval: str
    answer: str


@dataclass(frozen=True, slots=True)
class Reach:
    """Where the services are, and how they are called."""

    addresses: Addresses
    credential: str | Callable[[], str] = field(repr=False)
    """Every call carries it, or what it returns, unless it is empty."""
    ca_certificates: bytes | None
    """PEM of the authorities that TLS trusts; None: the public ones."""
    client_certificate: tuple[bytes, bytes] | None = field(repr=False)
    """PEM of what is shown to who asks for a certificate: it and those that signed it, and its key."""
    deadline_seconds: float
    """Deadline of calls that name none of their own."""


@dataclass(frozen=True, slots=True)
class Channels:
    """Open channels to the services, and how long a call over them may take."""

    ingest: grpc.aio.Channel
    retrieval: grpc.aio.Channel
    answer: grpc.aio.Channel
    deadline_seconds: float
    """Deadline of calls that name none of their own."""


class Listing(Protocol):
    """A request of a call that lists."""

    page_size: int
    page_token: str


class Page(Protocol):
    """A response of a call that lists."""

    next_page_token: str
    """Empty on the last page."""


T = TypeVar("T", covariant=True)


class Stream(Protocol[T]):
    """A running call that streams its responses."""

    def __aiter__(self) -> AsyncIterator[T]:
        """The responses as they come."""

    def cancel(self) -> bool:
        """End the call."""


P = TypeVar("P", bound=Page)
E = TypeVar("E")


class Connection:
    """Channels to the services, and the ways of calling over them. Failed calls raise `ClausegateError`."""

    def __init__(self, channels: Channels) -> None:
        """Nothing is sent yet."""
        self._channels = channels

    async def __aenter__(self) -> Self:
        """Channels connect with the first call."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel what still runs and close the channels."""
        channels = self._channels
        async with AsyncExitStack() as stack:
            for channel in {channels.ingest, channels.retrieval, channels.answer}:
                stack.push_async_callback(channel.close)

    async def _answer(
        self, call: Callable[..., Awaitable[E]], request: Message, deadline_seconds: float | None
    ) -> E:
        with clausegate_errors():
            return await call(request, timeout=self._timeout(deadline_seconds))

    async def _events(
        self, call: Callable[..., Stream[E]], request: Message, deadline_seconds: float | None
    ) -> AsyncGenerator[E]:
        """Every response of a streaming call; closing the iterator cancels it."""
        running = call(request, timeout=self._timeout(deadline_seconds))
        try:
            with clausegate_errors():
                async for event in running:
                    yield event
        finally:
            running.cancel()

    async def _pages(
        self, call: Callable[..., Awaitable[P]], request: Listing, deadline_seconds: float | None
    ) -> AsyncIterator[P]:
        """Every page of a call that lists, fetched as needed; the deadline is each page's."""
        request.page_size = PAGE_SIZE
        while True:
            with clausegate_errors():
                page = await call(request, timeout=self._timeout(deadline_seconds))
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def _timeout(self, deadline_seconds: float | None) -> float:
        return self._channels.deadline_seconds if deadline_seconds is None else deadline_seconds


def open_channels(reach: Reach) -> Channels:
    """Channels that connect with their first call; one to each address. Raises `ValueError` as `connect`."""
    addresses = reach.addresses
    opened = {address: _channel(address, reach) for address in set(astuple(addresses))}
    return Channels(
        opened[addresses.ingest],
        opened[addresses.retrieval],
        opened[addresses.answer],
        reach.deadline_seconds,
    )


def _channel(address: str, reach: Reach) -> grpc.aio.Channel:
    options: list[tuple[str, str | int]] = [
        ("grpc.service_config", _SERVICE_CONFIG),
        # A machine that is gone says nothing: without pings a call waits for it to its deadline.
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.http2.ping_timeout_ms", 5_000),
    ]
    interceptors = bearer(reach.credential)
    if not address.startswith(_TLS):
        if address.startswith("http://") or not _PLAIN.fullmatch(address):
            raise ValueError(f"{address}: expected host:port, unix:/path or, for TLS, {_TLS}host[:port]")
        return grpc.aio.insecure_channel(address, options=options, interceptors=interceptors)
    parts = urlsplit(address)
    if parts.path.strip("/") or not parts.hostname:
        raise ValueError(f"{address}: expected {_TLS}host[:port]")
    place = parts.netloc if parts.port else f"{parts.netloc}:443"
    chain, key = reach.client_certificate or (None, None)
    credentials = grpc.ssl_channel_credentials(reach.ca_certificates, key, chain)
    return grpc.aio.secure_channel(place, credentials, options=options, interceptors=interceptors)


class _Bearer:
    """Lets calls carry the caller's credential, an API key or a token.

    grpc has credentials of a call, but sends them over channels with TLS only. Ours goes along as metadata
    therefore, over TLS as well.
    """

    def __init__(self, credential: str | Callable[[], str]) -> None:
        self._credential = credential

    async def _call(self, continuation: Any, details: Any, request: Any) -> Any:
        presented = self._credential if isinstance(self._credential, str) else self._credential()
        entry = ("authorization", f"Bearer {presented}")
        metadata = grpc.aio.Metadata(*tuple(details.metadata or ()), entry)
        return await continuation(details._replace(metadata=metadata), request)


class _UnaryUnary(_Bearer, grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        return await self._call(continuation, details, request)


class _UnaryStream(_Bearer, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return await self._call(continuation, details, request)


class _StreamStream(_Bearer, grpc.aio.StreamStreamClientInterceptor):
    async def intercept_stream_stream(self, continuation: Any, details: Any, requests: Any) -> Any:
        return await self._call(continuation, details, requests)


def bearer(credential: str | Callable[[], str]) -> list[grpc.aio.ClientInterceptor]:
    """Interceptors that let calls carry a credential, or what a function returns; none for an empty one. The
    services have no call of a fourth kind.

    Raises `ValueError`, which does not show it.
    """
    if isinstance(credential, str) and not re.fullmatch("[!-~]*", credential):
        raise ValueError("a credential is printable ASCII without spaces")
    return [kind(credential) for kind in (_UnaryUnary, _UnaryStream, _StreamStream)] if credential else []
