"""How much may run at once: what is beyond is refused (`CallLimiter`) or waits for its turn (`FairQueue`).

Each process counts for itself, so what several replicas allow adds up.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import ParamSpec, TypeVar

from chassis.access import Load
from chassis.auth import Caller
from chassis.errors import Exhausted
from chassis.limits.rate import RateLimit, RateLimited, RateLimiter
from chassis.limits.settings import LimitSettings
from chassis.telemetry import gauge

RETRY_AFTER_SECONDS = 1.0
"""What is said to a caller of too many calls at once: when one of them ends is not known."""
SHARE = 2
"""One subject has at most this part of the calls of a process, one half, whatever its own limits are."""
NOUNS = {Load.READ: "reads", Load.WRITE: "writes", Load.QUERY: "queries"}
PART = "clausegate-part"
"""Metadata key that marks a call which a service makes for a call that it works on. That one was counted, so
this one is not counted once more. The mark is no secret and is trusted with nothing: who sets it gets a queue
instead of a rate, see `chassis.limits.interceptor`."""

P = ParamSpec("P")
T = TypeVar("T")

_in_call: ContextVar[bool] = ContextVar("in_call", default=False)
_one_more: ContextVar[Callable[[], Awaitable[None]] | None] = ContextVar("one_more", default=None)
_waiting = gauge(__name__, "clausegate.queue.waiting", "Work that waits for its turn.", "{item}")
_running = gauge(__name__, "clausegate.queue.running", "Work that has its turn.", "{item}")


class TooManyAtOnce(Exhausted):
    """As many calls of the subject, or of all callers together, run or wait as may."""

    reason = "OVERLOADED"

    def __init__(self, message: str) -> None:
        super().__init__(message, retry_after_seconds=RETRY_AFTER_SECONDS)


class CallLimiter:
    """Counts the calls of a process.

    All keys and tokens of a subject count together: who is given a second one is given no second allowance.
    Callers without a credential are on this machine: only the limit of all together is theirs.
    """

    def __init__(
        self,
        running: int = 0,
        open_calls: int = 0,
        at_once: Mapping[Load, int] | None = None,
        rates: Mapping[Load, RateLimit] | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """`running` calls of all callers are worked on at most; 0 means no limit, here and in the others.

        A subject has `open_calls` whose answer it has not taken in full; of a load `at_once` run, at
        its rate.
        """
        limits = [limit for limit in (open_calls, -(-running // SHARE)) if limit]
        self._most_open = min(limits, default=math.inf)
        self._most_running = running or math.inf
        self._at_once = at_once or {}
        self._rates = rates or {}
        self._rate_limiter = RateLimiter(clock)
        self._open = Counter[Hashable]()
        self._running = Counter[Hashable]()
        self._running_of_all = 0

    @classmethod
    def configured(cls, limits: LimitSettings) -> CallLimiter:
        """The one of a process."""
        return cls(limits.max_running_calls, limits.open_calls, limits.at_once(), limits.rates())

    def __len__(self) -> int:
        """What is remembered of subjects."""
        return len(self._open) + len(self._running) + len(self._rate_limiter)

    def open(self, caller: Caller) -> Callable[[], None]:
        """Count a call until what is returned is called, once: its caller has all of its answer, or is gone.

        Raises `TooManyAtOnce`.
        """
        if not caller.credential_id:
            return lambda: None
        subject = caller.counted_as
        if self._open[subject] >= self._most_open:
            raise TooManyAtOnce("Too many calls of this caller are open.")
        self._open[subject] += 1
        return lambda: _take_one(self._open, subject)

    @contextmanager
    def running(self, caller: Caller, load: Load) -> Iterator[None]:
        """Count a call that is open while it is worked on.

        Raises `TooManyAtOnce`, and `RateLimited` with the wait that suffices; what is refused counts for
        nothing.
        """
        if self._running_of_all >= self._most_running:
            raise TooManyAtOnce("Too many calls are running.")
        key = (caller.counted_as, load)
        if caller.credential_id:
            self._check(key, load)
        self._running_of_all += 1
        self._running[key] += 1
        try:
            yield
        finally:
            self._running_of_all -= 1
            _take_one(self._running, key)

    async def one_more(self, caller: Caller, load: Load) -> None:
        """Count one more piece of a running call at the rate of calls; wait until the rate allows for it.

        Pieces leave half of the burst to calls, which would otherwise be refused for as long as pieces wait.
        """
        rate = self._rates.get(load)
        if not caller.credential_id or rate is None or not rate.per_second:
            return
        key, for_pieces = (caller.counted_as, load), replace(rate, burst=max(1, rate.burst // 2))
        wait = self._rate_limiter.wait(key, for_pieces)
        while wait:
            await asyncio.sleep(wait)
            wait = self._rate_limiter.wait(key, for_pieces)

    def _check(self, key: Hashable, load: Load) -> None:
        """Raise unless one more call of the subject and load may run now."""
        at_once, rate = self._at_once.get(load, 0), self._rates.get(load)
        if at_once and self._running[key] >= at_once:
            raise TooManyAtOnce(f"Too many {NOUNS[load]} of this caller are running.")
        if rate and rate.per_second and (wait := self._rate_limiter.wait(key, rate)):
            message = f"This caller may make {rate.per_second:g} {NOUNS[load]} a second."
            raise RateLimited(message, retry_after_seconds=wait)


def _take_one(counts: Counter[Hashable], key: Hashable) -> None:
    """Count one less; what is at none is forgotten."""
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


def set_in_call() -> None:
    """From now on, in this task, calls of other services are parts of the one that is worked on."""
    _in_call.set(True)


def set_one_more(count: Callable[[], Awaitable[None]]) -> None:
    """From now on, in this task, `count` counts what `count_one_more` is called for."""
    _one_more.set(count)


async def count_one_more() -> None:
    """Count one more piece of the call that is worked on, which asks for several, as if it were a call.

    Returns when the rate of its caller allows for it; at once outside of a call.
    """
    if count := _one_more.get():
        await count()


def part_metadata() -> tuple[tuple[str, str], ...]:
    """What a call made now says of itself."""
    return ((PART, "1"),) if _in_call.get() else ()


class _Gauges:
    """Tells how much waits and how much runs in one place; several of one name are counted together."""

    def __init__(self, name: str) -> None:
        self._attributes = {"clausegate.queue": name}
        self.waits(0)  # so that an empty queue is told from one that is not there
        self.runs(0)

    def waits(self, change: int) -> None:
        _waiting.add(change, self._attributes)

    def runs(self, change: int) -> None:
        _running.add(change, self._attributes)


@dataclass(slots=True)
class _Line:
    """The work of one owner."""

    slots: asyncio.Semaphore
    length: int = 0
    """Work that has its turn, and that waits."""


class FairQueue:
    """Lets each owner have so many turns at once; what has to wait is let in as it came.

    An owner's waiting costs the others nothing, and one without work is forgotten. Work that is cancelled
    while it waits gives up its place.
    """

    def __init__(
        self,
        name: str,
        at_once: int,
        waiting: float = math.inf,
        full: Callable[[], Exhausted] = lambda: TooManyAtOnce("Too many calls wait already."),
    ) -> None:
        """Each owner has `at_once` turns, 1 or more, and `waiting` more wait; beyond, `full()` is raised.

        Under `name`, which stands in `docs/telemetry.md`, all owners are counted together.
        """
        self._gauges = _Gauges(name)
        self._at_once = at_once
        self._most = at_once + waiting
        self._full = full
        self._lines: dict[Hashable, _Line] = {}

    def __len__(self) -> int:
        """Owners that are remembered."""
        return len(self._lines)

    @asynccontextmanager
    async def turn(self, owner: Hashable = None) -> AsyncIterator[None]:
        """Wait for a turn of `owner`, and have it. Raises `full()` at once when as much waits as may."""
        line = self._lines.setdefault(owner, _Line(asyncio.Semaphore(self._at_once)))
        if line.length >= self._most:
            raise self._full()
        line.length += 1
        try:
            await self._wait(line.slots)
            self._gauges.runs(1)
            try:
                yield
            finally:
                self._gauges.runs(-1)
                line.slots.release()
        finally:
            line.length -= 1
            if not line.length:
                del self._lines[owner]

    async def _wait(self, slots: asyncio.Semaphore) -> None:
        self._gauges.waits(1)
        try:
            await slots.acquire()
        finally:
            self._gauges.waits(-1)


class Threads(ThreadPoolExecutor):
    """Threads for one kind of work, counted under their name."""

    def __init__(self, count: int, name: str) -> None:
        """At most `count` threads; each starts when it is needed."""
        super().__init__(count, thread_name_prefix=name)
        self._gauges = _Gauges(name)

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """See `Executor.submit`."""

        def run() -> T:
            self._gauges.waits(-1)
            self._gauges.runs(1)
            try:
                return work(*args, **kwargs)
            finally:
                self._gauges.runs(-1)

        future = super().submit(run)
        self._gauges.waits(1)
        future.add_done_callback(self._given_up)
        return future

    def _given_up(self, done: Future[T]) -> None:
        if done.cancelled():
            self._gauges.waits(-1)
