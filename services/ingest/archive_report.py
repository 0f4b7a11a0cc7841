"""Tells the index what the archive holds, so that one that lost documents does not pass for a whole one."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from chassis.errors import ServiceError
from services.ingest.archive import Archive

REPORT_SECONDS = 5.0
"""Between two reports; each is one small call for every tenant."""
RETRY_SECONDS = 0.5
"""After one that did not come through, as while the services start."""
logger = logging.getLogger(__name__)


class Reported(Protocol):
    """The index, as far as it is told of the archive."""

    def speaks_for(self, tenant: str) -> bool:
        """Whether the index can be told of this tenant: without a key, of that of all callers alone."""
        ...

    async def report_archive(self, tenant: str, documents: int) -> int:
        """Say how many documents the archive has; how many of them the index lacks."""
        ...

    async def shown(self, tenant: str) -> Mapping[str, str]:
        """The SHA-256 of the file of every document that the index shows, by id."""
        ...


class ArchiveReport:
    """Compares archive and index, tenant by tenant."""

    def __init__(self, archive: Archive, index: Reported) -> None:
        self._archive = archive
        self._index = index
        self._counting = asyncio.Lock()
        self._missing: dict[str, int] = {}

    @asynccontextmanager
    async def kept_up(self) -> AsyncIterator[None]:
        """Compare all tenants now and then, for as long as the context lasts."""
        comparing = asyncio.create_task(self._repeat(), name="compare archive and index")
        try:
            yield
        finally:
            comparing.cancel()
            await asyncio.gather(comparing, return_exceptions=True)

    async def hide(self, tenant: str, document_id: str) -> None:
        """Do not miss a document from now on: it is about to be removed from the index.

        Not while a count is on its way: it would be one too many when it comes.
        """
        async with self._counting:
            await self._archive.set_visible(tenant, document_id, visible=False)

    async def compare(self, tenant: str) -> None:
        """Tell the index of one tenant, and the log when documents are missing or are back."""
        async with self._counting:
            if not await self._archive.knows_what_is_visible(tenant):
                await self._archive.learn_what_is_visible(tenant, await self._index.shown(tenant))
            archived = await self._archive.count_visible(tenant)
            missing = await self._index.report_archive(tenant, archived)
        if missing and not self._missing.get(tenant):
            logger.error(
                "the index has lost documents, run clausegate reindex --originals",
                extra={"tenant": tenant, "archived": archived, "missing": missing},
            )
        if self._missing.get(tenant) and not missing:
            logger.info("the index has all documents again", extra={"tenant": tenant})
        self._missing[tenant] = missing

    async def compare_all(self) -> bool:
        """Tell the index of all tenants; whether it could be told."""
        try:
            for tenant in filter(self._index.speaks_for, await self._archive.tenants()):
                await self.compare(tenant)
        except (ServiceError, OSError, sqlite3.Error) as error:
            logger.info("the index cannot be told of the archive now", extra={"why": str(error)})
            return False
        return True

    async def _repeat(self) -> None:
        while True:
            told = await self.compare_all()
            await asyncio.sleep(REPORT_SECONDS if told else RETRY_SECONDS)
