"""Removes old records while the service runs, whether calls come or not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Protocol

from services.answer.records.record_files import RecordWriter

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
    writer: RecordWriter, logs: Sequence[Retained], now: Callable[[], datetime]
) -> AsyncIterator[None]:
    """Remove what is older than its time, at once and every hour, until the context ends."""

    async def retain() -> None:
        while True:
            for log in logs:
                try:
                    await writer.run(partial(log.retain, now()))
                except OSError:
                    logger.exception("old records not removed")
            await asyncio.sleep(PAUSE_SECONDS)

    task = asyncio.create_task(retain())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
