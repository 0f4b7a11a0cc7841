"""How often calls may be made: a token bucket for each caller and kind of call."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from chassis.errors import Exhausted

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
"""In nanoseconds."""
FORGET_FROM = 1024
"""Buckets that are kept before full ones, which need not be, are looked for."""


class RateLimited(Exhausted):
    """The subject has made more calls than it may within a time."""

    reason = "RATE_LIMITED"


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How often calls of one kind may be made. In any t seconds at most `burst + per_second * t` pass."""

    per_second: float
    """Calls a second, for as long as the caller likes; 0 means no limit."""
    burst: int
    """Calls at once after a pause, 1 or more."""


class RateLimiter:
    """Token buckets, in whole nanoseconds so that no rounding adds up.

    Of each bucket the time is kept at which it will be full again, which says all: the virtual scheduling
    form of the generic cell rate algorithm (ITU-T I.371, annex A). A full bucket is forgotten.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        """`clock` says nanoseconds, and never goes back."""
        self._clock = clock
        self._full_at: dict[Hashable, int] = {}
        self._look_at = FORGET_FROM

    def __len__(self) -> int:
        """Buckets that are kept."""
        return len(self._full_at)

    def wait(self, key: Hashable, limit: RateLimit) -> float:
        """Let one call of `key` pass and return 0, or take nothing and return the seconds until one would."""
        now, interval = self._clock(), math.ceil(SECOND / limit.per_second)
        full_at = max(now, self._full_at.get(key, now))
        wait = full_at - now - (limit.burst - 1) * interval
        if wait > 0:
            return math.ceil(wait / MILLISECOND) / 1000
        if key not in self._full_at and len(self._full_at) >= self._look_at:
            self._forget(now)
        self._full_at[key] = full_at + interval
        return 0.0

    def _forget(self, now: int) -> None:
        """Forget full buckets; looked for so seldom that each new one pays for two looks at most."""
        self._full_at = {key: full_at for key, full_at in self._full_at.items() if full_at > now}
        self._look_at = max(FORGET_FROM, 2 * len(self._full_at))
