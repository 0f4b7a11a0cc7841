"""How long calls may take and how slow their clients may be.

grpc.aio does not pass the running call's deadline on by itself: `set_deadline` notes it, `time_left` says how
much of it a call has that is made now.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextvars import ContextVar

from chassis.errors import DeadlineExceeded

MIN_SENT_BYTES = 16 * 2**10
"""What a client sends at least in the time that it may stall, unless there is less to send."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class TooSlow(DeadlineExceeded):
    """The client sends next to nothing of what it has begun."""

    reason = "DEADLINE_EXCEEDED"


def set_deadline(seconds: float | None) -> None:
    """From now on, in this task, `time_left` counts down from `seconds`; None means no deadline.

    Each call runs in a task of its own, so nothing has to be set back.
    """
    _deadline.set(None if seconds is None else time.monotonic() + seconds)


def time_left(limit_seconds: float) -> float:
    """Seconds for a call made now: what is left of the caller's deadline, at most `limit_seconds`."""
    deadline = _deadline.get()
    return limit_seconds if deadline is None else max(0.0, min(limit_seconds, deadline - time.monotonic()))


async def in_time(
    pieces: AsyncIterator[bytes], stall_seconds: float, seconds: float = math.inf, *, field: str | None = None
) -> AsyncGenerator[bytes]:
    """The pieces as they come, as long as they come fast enough.

    `MIN_SENT_BYTES` or the end have to come within `stall_seconds` of waiting for the client, over and over,
    and all within `seconds` from now. Raises `TooSlow`, naming `field`.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        come, patience = 0, stall_seconds
        while come < MIN_SENT_BYTES:
            began = loop.time()
            until = min(end, began + patience)
            try:
                async with asyncio.timeout_at(until):
                    data = await anext(pieces, None)
            except TimeoutError as error:
                raise TooSlow(_said(stall_seconds, seconds, in_all=until == end), field=field) from error
            if data is None:
                return
            come += len(data)
            patience -= loop.time() - began
            yield data


def _said(stall_seconds: float, seconds: float, *, in_all: bool) -> str:
    if in_all:
        return f"What is sent was not complete within {seconds:g} seconds."
    return f"Less than {MIN_SENT_BYTES} bytes came within {stall_seconds:g} seconds."
