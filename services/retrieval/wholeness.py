"""Whether an index has all documents that the archive says it had; one that lost some answers no question.

Of a lost index it would be said that the documents do not say a thing, which they do. Retrieval cannot know
what it does not hold: ingest counts its archive and tells, and the index keeps the number for as long as it
has fewer, so that every process over it knows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Protocol

from chassis.errors import InvalidInput, Precondition, ServiceError
from chassis.readiness import Readiness
from services.retrieval.store.port import Store

LOOK_SECONDS = 2.0
"""Between two looks of a process at what others were told."""
logger = logging.getLogger(__name__)


class IndexLost(Precondition):
    """The archive holds documents that the index lacks."""

    reason = "INDEX_LOST"


async def report(store: Store, archived: int) -> int:
    """Take how many documents the archive holds; how many of them the index lacks."""
    if archived < 0:
        raise InvalidInput("Must not be negative.", field="document_count")
    missing = max(0, archived - (await store.counts()).documents)
    expected = archived if missing else 0
    if await store.expected() != expected:
        await store.expect(expected)
    return missing


async def check_whole(store: Store) -> None:
    """Raise `IndexLost` while documents are missing."""
    if await store.expected():
        raise IndexLost(
            "The index has lost documents that are archived, so nothing can be said of what they say. Run "
            "`clausegate reindex --originals`."
        )


class Opened(Protocol):
    """What knows the stores that are in use."""

    def stores(self) -> list[Store]:
        """The stores of all tenants that are open."""
        ...


class Wholeness:
    """Whether all open indexes are whole, as readiness tells it."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self.readiness = Readiness()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[Readiness]:
        """Look now and then, for as long as the context lasts; yields what follows from it."""
        watching = asyncio.create_task(self._watch(), name="watch for lost documents")
        try:
            yield self.readiness
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def look(self) -> None:
        """See whether documents are missing from any open index."""
        missing = [await store.expected() for store in self._opened.stores()]
        if any(missing) and self.readiness.ready:
            logger.error("the index has lost documents, run clausegate reindex --originals")
        self.readiness.set(not any(missing))

    async def _watch(self) -> None:
        while True:
            with suppress(ServiceError):
                await self.look()
            await asyncio.sleep(LOOK_SECONDS)
