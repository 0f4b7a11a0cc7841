"""What is told of the progress of an upload: the latest, as fast as its reader takes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from services.ingest.records import Progress, Receipt


class LatestProgress:
    """Hands progress from a task to an iterator; what nobody fetched in time is replaced by what is newer."""

    def __init__(self) -> None:
        self._latest: Progress | None = None
        self._changed = asyncio.Event()

    def report(self, progress: Progress) -> None:
        """What there is to tell now."""
        self._latest = progress
        self._changed.set()

    async def until(self, work: asyncio.Task[Receipt]) -> AsyncGenerator[Progress, None]:
        """Yield what is reported until `work` is done; cancel it when nobody listens any more."""
        work.add_done_callback(lambda _: self._changed.set())
        try:
            while not work.done():
                await self._changed.wait()
                self._changed.clear()
                latest, self._latest = self._latest, None
                if latest is not None:
                    yield latest
        finally:
            work.cancel()
            await asyncio.wait([work])
