"""Counts a request against its caller's limits until its response has been sent, and bounds its head."""

from __future__ import annotations

from contextlib import ExitStack

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from chassis.access import Load
from chassis.auth import current_caller
from chassis.limits import Limits
from gateway.bridge import Endpoint
from gateway.errors import HeadTooLarge
from gateway.problems import problem_response


def limited(answer: Endpoint, limits: Limits, load: Load) -> Endpoint:
    """The endpoint, refusing what is too much before anything of a body is read."""

    async def counted(request: Request) -> Response:
        with ExitStack() as held:
            held.callback(limits.open(current_caller()))
            held.enter_context(limits.running(current_caller(), load))
            return _Counted(await answer(request), held.pop_all())

    return counted


class BoundedHeads:
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
    """Of the line and the headers, without what is between them."""
    headers = sum(len(name) + len(value) for name, value in scope["headers"])
    return len(scope["raw_path"]) + len(scope["query_string"]) + headers


class _Counted(Response):
    """A response that ends a count when it has been sent, or cannot be."""

    def __init__(self, response: Response, held: ExitStack) -> None:
        self._response = response
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._held:
            await self._response(scope, receive, send)
