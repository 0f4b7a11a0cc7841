"""How much a subject of a tenant may ask for, with all of its credentials: calls a second, calls at once.

Each process counts for itself, so what several replicas allow adds up. Plain arithmetic: the clock is an
argument, nothing waits here.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from chassis.access import Load
from chassis.auth import Caller
from chassis.errors import Exhausted

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
"""In nanoseconds."""
RETRY_AFTER_SECONDS = 1.0
"""What is said to a caller of too many calls at once: when one of them ends is not known."""
SHARE = 2
"""One subject has at most this part of the calls of a process, one half, whatever its own limits are."""
FORGET_FROM = 1024
"""Subjects that are remembered before those are looked for that need not be."""

NOUNS = {Load.READ: "reads", Load.WRITE: "writes", Load.QUERY: "queries"}


class RateLimited(Exhausted):
    """The subject has made more calls than it may within a time."""

    reason = "RATE_LIMITED"


class TooManyAtOnce(Exhausted):
    """As many calls of the subject, or of all callers together, are running as may."""


@dataclass(frozen=True, slots=True)
class Law:
    """What one subject may do of one kind; 0 means no limit."""

    per_second: float
    """Calls a second, for as long as it likes."""
    burst: int
    """Calls at once after a pause, 1 or more. In any t seconds at most `burst + per_second * t` pass."""
    at_once: int
    """Calls that run at the same time."""


NO_LIMIT = Law(per_second=0, burst=1, at_once=0)


class Bucket:
    """The calls of a token bucket, in whole nanoseconds so that no rounding adds up.

    It keeps the time at which the bucket will be full again, which says all: the virtual scheduling form of
    the generic cell rate algorithm (ITU-T I.371, annex A).
    """

    __slots__ = ("_full_at",)

    def __init__(self) -> None:
        self._full_at = 0

    def take(self, law: Law, now: int) -> int:
        """Let one call pass at `now`; returns 0, or the nanoseconds until one would pass, taking nothing."""
        interval = math.ceil(SECOND / law.per_second)
        wait = self._full_at - now - (law.burst - 1) * interval
        if wait > 0:
            return wait
        self._full_at = max(self._full_at, now) + interval
        return 0

    def is_full(self, now: int) -> bool:
        """Whether nothing would be different had no call ever passed."""
        return self._full_at <= now


@dataclass(slots=True)
class _Usage:
    """Of one subject."""

    open: int = 0
    running: Counter[Load] = field(default_factory=Counter)
    buckets: dict[Load, Bucket] = field(default_factory=dict)

    def is_idle(self, now: int) -> bool:
        running = self.open or any(self.running.values())
        return not running and all(bucket.is_full(now) for bucket in self.buckets.values())


@dataclass(frozen=True, slots=True)
class LimitLaws:
    """The limits of a process; 0 means none."""

    of_load: Mapping[Load, Law] = field(default_factory=dict)
    """Of each subject; a load that is not here has none."""
    open: int = 0
    """Calls of a subject, of any load, whose answer it has not taken in full."""
    running: int = 0
    """Calls of all callers together that are worked on."""

    @property
    def share(self) -> int:
        """The most calls that one subject has open; 0 means no limit."""
        bounds = [bound for bound in (self.open, -(-self.running // SHARE)) if bound]
        return min(bounds, default=0)


class Limits:
    """Counts the calls of a process.

    All keys and tokens of a subject count together: who is given a second one is given no second allowance.
    Callers without a credential are on this machine: only the bound of all together is theirs. Subjects that
    have been idle for long enough to have their whole burst again are forgotten.
    """

    def __init__(self, laws: LimitLaws, clock: Callable[[], int] = time.monotonic_ns) -> None:
        """`clock` says nanoseconds, and never goes back."""
        self._laws = laws
        self._clock = clock
        self._usages: dict[tuple[str, str], _Usage] = {}
        self._running = 0
        self._look_at = FORGET_FROM

    def __len__(self) -> int:
        """Subjects that are remembered."""
        return len(self._usages)

    def open(self, caller: Caller) -> Callable[[], None]:
        """Count a call until what is returned is called, once: its caller has all of its answer, or is gone.

        Raises `TooManyAtOnce`.
        """
        if not caller.credential_id:
            return _nothing
        usage = self._usage(caller.counted_as)
        if self._laws.share and usage.open >= self._laws.share:
            raise _too_many("Too many calls of this caller are open.")
        usage.open += 1
        return lambda: _close(usage)

    @contextmanager
    def running(self, caller: Caller, load: Load) -> Iterator[None]:
        """Count a call that is open while it is worked on.

        Raises `TooManyAtOnce`, and `RateLimited` with the wait that suffices; what is refused counts for
        nothing.
        """
        if self._laws.running and self._running >= self._laws.running:
            raise _too_many("Too many calls are running.")
        running = self._checked(caller.counted_as, load) if caller.credential_id else Counter()
        running[load] += 1
        self._running += 1
        try:
            yield
        finally:
            running[load] -= 1
            self._running -= 1

    def _checked(self, counted_as: tuple[str, str], load: Load) -> Counter[Load]:
        """What runs for the subject, if one more may."""
        usage, law = self._usage(counted_as), self._laws.of_load.get(load, NO_LIMIT)
        if law.at_once and usage.running[load] >= law.at_once:
            raise _too_many(f"Too many {NOUNS[load]} of this caller are running.")
        if law.per_second:
            wait = usage.buckets.setdefault(load, Bucket()).take(law, self._clock())
            if wait:
                raise RateLimited(
                    f"This caller may make {law.per_second:g} {NOUNS[load]} a second.",
                    retry_after_seconds=math.ceil(wait / MILLISECOND) / 1000,
                )
        return usage.running

    def _usage(self, counted_as: tuple[str, str]) -> _Usage:
        usage = self._usages.get(counted_as)
        if usage is None:
            if len(self._usages) >= self._look_at:
                self._forget()
            usage = self._usages[counted_as] = _Usage()
        return usage

    def _forget(self) -> None:
        """Forget who is idle; looked for so seldom that each new subject pays for two looks at most."""
        now = self._clock()
        self._usages = {each: usage for each, usage in self._usages.items() if not usage.is_idle(now)}
        self._look_at = max(FORGET_FROM, 2 * len(self._usages))


def _nothing() -> None:
    """Of a caller whose calls are not counted."""


def _close(usage: _Usage) -> None:
    usage.open -= 1


def _too_many(message: str) -> TooManyAtOnce:
    return TooManyAtOnce(message, retry_after_seconds=RETRY_AFTER_SECONDS)
