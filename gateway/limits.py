"""Limits of HTTP: of heads and bodies, and of calls, which end when their response has been sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.access import Load
from chassis.auth import current_caller
from chassis.errors import ServiceError
from chassis.limits.concurrency import CallLimiter
from chassis.limits.deadlines import in_time
from chassis.limits.size import at_most
from gateway.calls import Endpoint
from gateway.errors import BodyTooLarge, HeadTooLarge, MalformedRequest, UnsupportedContentType
from gateway.problems import problem_response

SWALLOW_SECONDS = 10.0
"""How long a rejected body is read, at most, before its rejection is sent."""
BRIEFLY_SECONDS = 1.0
BRIEFLY_BYTES = 2**20
"""The same for those who may not send any, and when the gateway stops: what usually has come already."""


def check_content_type(request: Request, wanted: str) -> None:
    """Raise `UnsupportedContentType` unless the body is declared as `wanted`, whatever its parameters."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != wanted:
        raise UnsupportedContentType(f"The body must be {wanted}.", field="Content-Type")


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """How large and how slow one body may be."""

    bytes: int
    """Most of it."""
    stall_seconds: float
    """How long its client may send next to nothing, see `chassis.limits.deadlines`."""
    seconds: float
    """How long the whole body may take."""


async def read_body(request: Request, limits: BodyLimits) -> bytes:
    """The whole body. Raises `BodyTooLarge` and `TooSlow`."""
    error = BodyTooLarge(f"The body is larger than {limits.bytes} bytes.")
    async with aclosing(limited_stream(request, limits, error)) as stream:
        return b"".join([data async for data in stream])


def limited_stream(request: Request, limits: BodyLimits, error: ServiceError) -> AsyncGenerator[bytes]:
    """The body as it comes; `error` is raised when more bytes are declared or have come than may.

    Raises `TooSlow`.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limits.bytes:
        raise error
    return at_most(in_time(request.stream(), limits.stall_seconds, limits.seconds), limits.bytes, error)


def limited(answer: Endpoint, limiter: CallLimiter, load: Load) -> Endpoint:
    """The endpoint, refusing what is too much before anything of a body is read."""

    async def counted(request: Request) -> Response:
        with ExitStack() as held:
            held.callback(limiter.open(current_caller()))
            held.enter_context(limiter.running(current_caller(), load))
            return _Counted(await answer(request), held.pop_all())

    return counted


class _Counted(Response):
    """A response that ends a count when it has been sent, or cannot be."""

    def __init__(self, response: Response, held: ExitStack) -> None:
        self._response = response
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._held:
            await self._response(scope, receive, send)


class LimitedHeads:
    """Middleware that refuses a request whose line and headers are too large.

    The parser refuses those that do not end; a whole one passes it when it comes in one piece.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        """`limit` in bytes."""
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http" and head_bytes(scope) > self._limit:
            await problem_response(HeadTooLarge(self._limit))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def head_bytes(scope: Scope) -> int:
    """Size of the request line and the headers, without what is between them."""
    headers = sum(len(name) + len(value) for name, value in scope["headers"])
    return len(scope["raw_path"]) + len(scope["query_string"]) + headers


class RejectedBodies:
    """Middleware that reads what is left of a body before an error is answered, and refuses two lengths.

    A client that is still writing when the connection closes loses the answer. At most `limit` bytes are
    swallowed, next to nothing of a caller without a valid key or after the cut-off, and none of a client that
    waits for `100 Continue`.
    """

    def __init__(self, app: ASGIApp, limit: int, cut_off: asyncio.Event) -> None:
        self._app = app
        self._limit = limit
        self._cut_off = cut_off

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if "content-length" in headers and "transfer-encoding" in headers:
            # RFC 9112, 6.3: a proxy may have ended the body elsewhere, and what it took for another request's
            # body would be read as a request.
            answer = problem_response(MalformedRequest("A body has one length: Content-Length or chunks."))
            answer.headers["Connection"] = "close"
            await answer(scope, receive, send)
            return
        body = _Body(receive, waits=headers.get("expect", "").lower() == "100-continue")

        async def send_after_body(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_worth_it(message["status"]):
                if self._cut_off.is_set() or message["status"] == HTTPStatus.UNAUTHORIZED:
                    await body.swallow(min(BRIEFLY_BYTES, self._limit), BRIEFLY_SECONDS)
                else:
                    await body.swallow(self._limit, SWALLOW_SECONDS)
            await send(message)

        await self._app(scope, body.receive, send_after_body)


def _is_worth_it(status: int) -> bool:
    """Whether an answer is an error that a client which is not too slow is to get."""
    return status >= HTTPStatus.BAD_REQUEST and status != HTTPStatus.REQUEST_TIMEOUT


class _Body:
    """A request's body as far as it has come."""

    def __init__(self, receive: Receive, *, waits: bool) -> None:
        self._receive = receive
        self._complete = False
        self._waits = waits

    async def receive(self) -> Message:
        message = await self._receive()
        self._waits = False
        self._complete = not message.get("more_body", False)
        return message

    async def swallow(self, limit: int, seconds: float) -> None:
        swallowed = 0
        try:
            async with asyncio.timeout(seconds):
                while not self._complete and not self._waits and swallowed < limit:
                    swallowed += len((await self.receive()).get("body", b""))
        except TimeoutError:
            return
