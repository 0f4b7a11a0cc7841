"""Turns of calls that services make for a call that has been let in: they wait, and are not refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from chassis.errors import Exhausted
from chassis.queues import Queue

RETRY_AFTER_SECONDS = 1.0


@dataclass(slots=True)
class _Line:
    """Of one owner."""

    slots: asyncio.Semaphore
    members: int = 0
    """Those whose turn it is, and those that wait."""


class Turns:
    """Lets each owner have so many turns at once; who has to wait is let in as it came.

    An owner's waiting costs the others nothing, and one without turns is forgotten.
    """

    def __init__(self, at_once: int, waiting: int, name: str) -> None:
        """Each owner: `at_once` turns, 1 or more, and at most `waiting` that wait.

        Under `name`, which stands in `docs/telemetry.md`, all owners are counted together.
        """
        self._at_once = at_once
        self._members = at_once + waiting
        self._lines: dict[Hashable, _Line] = {}
        self._queue = Queue(name)

    def __len__(self) -> int:
        """Owners that are remembered."""
        return len(self._lines)

    @asynccontextmanager
    async def turn(self, owner: Hashable) -> AsyncIterator[None]:
        """Wait for a turn of `owner`, and have it. Raises `Exhausted` when as many wait as may."""
        line = self._lines.get(owner) or _Line(asyncio.Semaphore(self._at_once))
        if line.members >= self._members:
            raise Exhausted("Too many calls wait already.", retry_after_seconds=RETRY_AFTER_SECONDS)
        self._lines[owner] = line
        line.members += 1
        try:
            async with self._queue.turn(line.slots):
                yield
        finally:
            line.members -= 1
            if not line.members:
                del self._lines[owner]
