"""Removes old records while the service runs, whether calls come or not.

Its time is that of the start and what has passed since, or the time of day where that is earlier: a clock
that is set forward while the service runs removes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from services.answer.records.record_files import RecordWriter
from services.answer.records.tracking import Clock

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 3600.0
"""Retention counts days."""


class Retained(Protocol):
    """A log whose records are kept for a time, see `chain.AuditLog` and `record_files.RecordFile`."""

    def retain(self, now: datetime) -> None:
        """Remove what is older than its time. Raises `OSError`."""
        ...


@asynccontextmanager
async def retaining(
    writer: RecordWriter, logs: Sequence[Retained], clock: Clock, pause_seconds: float = PAUSE_SECONDS
) -> AsyncIterator[None]:
    """Remove what is older than its time, at once and every hour, until the context ends."""
    began, began_seconds = clock.now(), clock.seconds()

    async def retain() -> None:
        while True:
            now = min(clock.now(), began + timedelta(seconds=clock.seconds() - began_seconds))
            for log in logs:
                try:
                    await writer.run(partial(log.retain, now))
                except OSError:
                    logger.exception("old records not removed")
            await asyncio.sleep(pause_seconds)

    task = asyncio.create_task(retain())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
