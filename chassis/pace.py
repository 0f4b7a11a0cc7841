"""How fast a client has to send what it has begun to send."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator

from chassis.errors import DeadlineExceeded

MIN_SENT_BYTES = 16 * 2**10
"""What a client sends at least in the time that it may stall, unless there is less to send."""


class TooSlow(DeadlineExceeded):
    """The client sends next to nothing of what it has begun."""


async def paced(
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
