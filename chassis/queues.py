"""Places where work waits for its turn: each says how much waits there and how much runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar

from chassis.telemetry import gauge

P = ParamSpec("P")
T = TypeVar("T")

_waiting = gauge(__name__, "clausegate.queue.waiting", "Work that waits for its turn.", "{item}")
_running = gauge(__name__, "clausegate.queue.running", "Work that has its turn.", "{item}")


class Queue:
    """Counts for one place; several of one name are counted together."""

    def __init__(self, name: str) -> None:
        """`name` stands in `docs/telemetry.md`."""
        self._attributes = {"clausegate.queue": name}
        self.waits(0)  # so that an empty queue is told from one that is not there
        self.runs(0)

    def waits(self, change: int) -> None:
        """So many more wait."""
        _waiting.add(change, self._attributes)

    def runs(self, change: int) -> None:
        """So many more run."""
        _running.add(change, self._attributes)

    @asynccontextmanager
    async def turn(self, slots: asyncio.Semaphore) -> AsyncIterator[None]:
        """Wait for one of `slots` and hold it."""
        self.waits(1)
        try:
            await slots.acquire()
        finally:
            self.waits(-1)
        self.runs(1)
        try:
            yield
        finally:
            self.runs(-1)
            slots.release()


class Threads(ThreadPoolExecutor):
    """Threads for one kind of work, counted under their name."""

    def __init__(self, count: int, name: str) -> None:
        """At most `count` threads; each starts when it is needed."""
        super().__init__(count, thread_name_prefix=name)
        self._queue = Queue(name)

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """See `Executor.submit`."""

        def run() -> T:
            self._queue.waits(-1)
            self._queue.runs(1)
            try:
                return work(*args, **kwargs)
            finally:
                self._queue.runs(-1)

        future = super().submit(run)
        self._queue.waits(1)
        future.add_done_callback(self._given_up)
        return future

    def _given_up(self, done: Future[T]) -> None:
        if done.cancelled():
            self._queue.waits(-1)
