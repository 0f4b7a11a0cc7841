"""Calling a service on behalf of an HTTP request: its deadline, and its end when nobody waits any more."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from google.protobuf.message import Message
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from chassis.errors import InvalidInput
from chassis.status import RETRY_AFTER_SECONDS, upstream_errors
from gateway.errors import ClientGone, ShuttingDown

TIMEOUT_HEADER = "X-Request-Timeout"
MIN_SECONDS = 0.001
"""Shortest time that a request may give itself."""

Endpoint = Callable[[Request], Awaitable[Response]]
"""Answers requests of one route."""

Result = TypeVar("Result")


def deadline_seconds(request: Request, default: float, limit: float) -> float:
    """Seconds that the request gives its call: what `X-Request-Timeout` says, at most `limit`.

    Raises `InvalidInput` unless the header is a number of at least `MIN_SECONDS`.
    """
    text = request.headers.get(TIMEOUT_HEADER)
    if text is None:
        return min(default, limit)
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds >= MIN_SECONDS:
        raise InvalidInput(f"Must be a number of seconds, at least {MIN_SECONDS}.", field=TIMEOUT_HEADER)
    return min(seconds, limit)


async def while_wanted(receive: Receive, cut_off: asyncio.Event, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which is cancelled as soon as nobody wants it.

    The request's body must have been read. Raises `ClientGone` when the client hangs up and `ShuttingDown`
    when the gateway is cut off.
    """
    return await until_cut_off(cut_off, _until(_hung_up(receive), ClientGone(), work))


async def until_cut_off(cut_off: asyncio.Event, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, such as reading a body, which is cancelled with `ShuttingDown` at the cut-off."""
    error = ShuttingDown("The gateway is shutting down.", retry_after_seconds=RETRY_AFTER_SECONDS)
    return await _until(cut_off.wait(), error, work)


async def _until(
    end: Coroutine[Any, Any, object], error: Exception, work: Coroutine[Any, Any, Result]
) -> Result:
    task, watcher = asyncio.ensure_future(work), asyncio.ensure_future(end)
    try:
        await asyncio.wait([task, watcher], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise error
        return task.result()
    finally:
        task.cancel()
        watcher.cancel()
        await asyncio.gather(task, watcher, return_exceptions=True)


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def responses(call: Any) -> AsyncGenerator[Message, None]:
    """The responses of a streaming call; the call ends with the iterator, and its failure is one of ours."""
    try:
        with upstream_errors():
            async for response in call:
                yield response
    finally:
        call.cancel()
