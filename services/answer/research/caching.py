"""Keeps results for a while, so that a question is worked on once, also when many ask it at once.

Whoever asks first works; others with the same key wait, and take what was found. When the first one fails or
goes away, the next in line works, on its own account and within its own deadline: nobody pays for, or fails
with, somebody else. Failures are not kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from chassis.telemetry import counter

V = TypeVar("V")

_lookups = counter(__name__, "clausegate.cache.lookups", "Questions whose result may be kept.", "{lookup}")


@dataclass(slots=True)
class _Turn:
    """Who may work on a key, one after the other."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wanted_by: int = 0


class ResultCache(Generic[V]):
    """Results by key, each for `ttl_seconds`, the newest `max_entries` of them."""

    def __init__(self, ttl_seconds: float, max_entries: int, seconds: Callable[[], float]) -> None:
        """`seconds` is a monotonic clock. A time to live of 0 keeps nothing, and then nobody waits either."""
        self._ttl_seconds = ttl_seconds
        self._max_entries = max_entries
        self._seconds = seconds
        # All live equally long, so the order of insertion is that of expiry.
        self._kept: dict[Hashable, tuple[float, V]] = {}
        self._turns: dict[Hashable, _Turn] = {}

    async def get(self, key: Hashable, work: Callable[[], Awaitable[V]]) -> tuple[V, bool]:
        """The result of `work`, and whether it was there already. Raises what `work` raises."""
        if not self._ttl_seconds:
            return await work(), False
        async with self._turn(key):
            self._drop_expired()
            _lookups.add(1, {"clausegate.cache": "snippets", "clausegate.cache.hit": key in self._kept})
            if key in self._kept:
                return self._kept[key][1], True
            value = await work()
            self._keep(key, value)
            return value, False

    @asynccontextmanager
    async def _turn(self, key: Hashable) -> AsyncIterator[None]:
        turn = self._turns.setdefault(key, _Turn())
        turn.wanted_by += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.wanted_by -= 1
            if not turn.wanted_by:
                del self._turns[key]

    def _keep(self, key: Hashable, value: V) -> None:
        if len(self._kept) >= self._max_entries:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = (self._seconds() + self._ttl_seconds, value)

    def _drop_expired(self) -> None:
        now = self._seconds()
        while self._kept and next(iter(self._kept.values()))[0] <= now:
            del self._kept[next(iter(self._kept))]
