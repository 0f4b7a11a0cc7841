"""A bounded number of calls at once, and a bounded number that wait for their turn."""

from __future__ import annotations

import asyncio
from types import TracebackType

from chassis.queues import Queue
from inference.errors import ModelQueueFull
from inference.retries import FIRST_PAUSE_SECONDS


class Lane:
    """An async context that one call enters: at once, after others have left, or not at all.

    Calls are let in as they came. A call that is cancelled while it waits gives up its place.
    """

    def __init__(self, name: str, running: int, waiting: int) -> None:
        """At most `running` calls at once, 1 or more, and `waiting` more that wait, 0 or more.

        They are counted as the queue `name`.
        """
        self._queue = Queue(name)
        self._slots = asyncio.Semaphore(running)
        self._waiting = waiting
        self._waits = 0

    async def __aenter__(self) -> None:
        """Wait for a turn. Raises `ModelQueueFull` at once when as many calls wait as may."""
        if self._slots.locked():
            await self._wait()
        else:
            await self._slots.acquire()
        self._queue.runs(1)

    async def _wait(self) -> None:
        if self._waits >= self._waiting:
            raise ModelQueueFull(
                "Too many calls of the model server wait already (CLAUSEGATE_MODEL_QUEUE).",
                retry_after_seconds=FIRST_PAUSE_SECONDS,
            )
        self._waits += 1
        self._queue.waits(1)
        try:
            await self._slots.acquire()
        finally:
            self._waits -= 1
            self._queue.waits(-1)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the next call in."""
        self._queue.runs(-1)
        self._slots.release()
