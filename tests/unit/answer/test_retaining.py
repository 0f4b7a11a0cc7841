from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from services.answer.records.record_files import RecordWriter
from services.answer.records.retaining import retaining
from services.answer.records.tracking import Clock

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Looks:
    """A log that keeps at what time it was told to remove what is old, and when that was often enough."""

    def __init__(self, enough: int) -> None:
        self.times: list[datetime] = []
        self.done = asyncio.Event()
        self._enough = enough
        self._loop = asyncio.get_running_loop()

    def retain(self, now: datetime) -> None:
        self.times.append(now)
        if len(self.times) == self._enough:
            self._loop.call_soon_threadsafe(self.done.set)


async def test_a_clock_that_is_set_forward_while_the_service_runs_makes_nothing_old():
    shown = iter([START, START, START + HOUR, START + 90_000 * HOUR, START + 3 * HOUR, START - 50 * HOUR])
    passed = iter([0.0, 0.0, 3_600.0, 7_200.0, 10_800.0, 14_400.0])
    log = Looks(enough=5)
    clock = Clock(lambda: next(shown), lambda: next(passed), new_id=str, new_code=str)
    async with RecordWriter() as writer, retaining(writer, [log], clock, pause_seconds=0.01):
        async with asyncio.timeout(10):
            await log.done.wait()
    assert log.times[:5] == [START, START + HOUR, START + 2 * HOUR, START + 3 * HOUR, START - 50 * HOUR]
