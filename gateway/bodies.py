"""Reading request bodies within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.errors import ServiceError
from chassis.pace import paced
from gateway.errors import BodyTooLarge, MalformedRequest, UnsupportedContentType
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
class BodyBounds:
    """Of one body."""

    bytes: int
    """Most of it."""
    stall_seconds: float
    """How long its client may send next to nothing, see `chassis.pace`."""
    seconds: float
    """How long the whole body may take."""


async def read_body(request: Request, bounds: BodyBounds) -> bytes:
    """The whole body. Raises `BodyTooLarge` and `TooSlow`."""
    error = BodyTooLarge(f"The body is larger than {bounds.bytes} bytes.")
    async with aclosing(bounded_stream(request, bounds, error)) as stream:
        return b"".join([data async for data in stream])


async def bounded_stream(request: Request, bounds: BodyBounds, error: ServiceError) -> AsyncGenerator[bytes]:
    """The body as it comes; `error` is raised when more bytes are declared or have come than may.

    Raises `TooSlow`.
    """
    limit = bounds.bytes
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise error
    received = 0
    async for data in paced(request.stream(), bounds.stall_seconds, bounds.seconds):
        received += len(data)
        if received > limit:
            raise error
        yield data


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
