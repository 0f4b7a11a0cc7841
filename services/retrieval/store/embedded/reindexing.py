"""Another embedding model for embedded stores: the new index of a tenant is filled within its folder.

Nobody else has the stores open meanwhile. SQLite's file is the index and all else is derived from it: that
file takes the place of the old one in a single rename, and a crash at any moment leaves one of the two whole.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from typing_extensions import override

from chassis.errors import CannotStart
from services.retrieval.clock import now
from services.retrieval.corpus import Article, Project
from services.retrieval.reindexing import Changeover
from services.retrieval.store.embedded.keywords import LAYOUT as KEYWORDS
from services.retrieval.store.embedded.store import FILE, EmbeddedStore, own
from services.retrieval.store.port import StoreUnavailable
from services.retrieval.store.records import Records

NEXT = "next"
"""Folder within a tenant's, where the new index is filled."""
WRITE_AHEAD = f"{FILE}-wal"
"""Gone once a database was closed well; else it would be read into whatever file has the name."""
RECORDS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class MadeWith:
    """The embedding model of an index."""

    model: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.model} ({self.dimension} dimensions)"


class NoIndex(CannotStart):
    """There is no index where one is to be made anew: the folder may be mistyped."""


class EmbeddedChangeover(Changeover):
    """A `Changeover` for tenants whose index another model made; their folders are locked until `close`."""

    def __init__(self, folder: Path, model: MadeWith) -> None:
        """Stores live below `folder`; `model` is to make their indexes. Nothing is opened yet."""
        self._folder = folder
        self._model = model
        self._replaced: dict[str, MadeWith] = {}
        self._locks: dict[str, TextIO] = {}
        self._old: dict[str, EmbeddedStore] = {}
        self._new: dict[str, EmbeddedStore] = {}

    @override
    async def open(self) -> Sequence[str]:
        """Lock all indexes. Raises `StoreUnavailable` while another process has one open, and `NoIndex`."""
        await asyncio.to_thread(self._lock_all)
        return sorted({str(model) for model in self._replaced.values()})

    @override
    async def tenants(self) -> Sequence[str]:
        """Those that were not swapped yet."""
        return sorted(self._replaced)

    @override
    async def old(self, tenant: str) -> EmbeddedStore:
        if tenant not in self._old:
            self._old[tenant] = await self._opened(tenant, self._folder / tenant, self._replaced[tenant])
        return self._old[tenant]

    @override
    async def new(self, tenant: str) -> EmbeddedStore:
        if tenant not in self._new:
            place = self._folder / tenant / NEXT
            await asyncio.to_thread(_prepare, place, self._model)
            self._new[tenant] = await self._opened(tenant, place, self._model)
        return self._new[tenant]

    @override
    async def hold_writes(self) -> None:
        """Nothing: the locks have held them from the beginning."""

    @override
    async def swap(self) -> None:
        """One tenant after the other. What an interruption left is swapped by the next run."""
        for tenant in await self.tenants():
            old, new = await self.old(tenant), await self.new(tenant)
            await _copy_records(old.records, new.records)
            await self._old.pop(tenant).close()
            await self._new.pop(tenant).close()
            await asyncio.to_thread(_swap, self._folder / tenant)
            del self._replaced[tenant]

    @override
    async def drop_replaced(self) -> Sequence[str]:
        """Delete what was filled and given up; a swap leaves nothing behind."""
        given_up = [self._folder / tenant / NEXT for tenant in sorted(self._locks)]
        return [str(place) for place in given_up if await asyncio.to_thread(_is_dropped, place)]

    @override
    async def close(self) -> None:
        for stores in (self._old, self._new):
            while stores:
                await stores.popitem()[1].close()
        while self._locks:
            self._locks.popitem()[1].close()

    async def _opened(self, tenant: str, place: Path, model: MadeWith) -> EmbeddedStore:
        # The store closes a lock of its own: the tenant's ends with the last.
        lock = os.fdopen(os.dup(self._locks[tenant].fileno()), "w")
        return await asyncio.to_thread(EmbeddedStore, place, lock, model.model, model.dimension, now)

    def _lock_all(self) -> None:
        """Lock every index, and see which of them another model made."""
        files = sorted(self._folder.glob(f"*/{FILE}"))
        if not files:
            raise NoIndex(f"there is no index in {self._folder}")
        for file in files:
            place = file.parent
            self._locks[place.name] = own(place)
            made_with = _made_with(place)
            if _made_with(place / NEXT) is None:
                _is_dropped(place / NEXT)  # what is left of an interrupted swap
            if made_with not in (None, self._model):
                self._replaced[place.name] = made_with


def _made_with(place: Path) -> MadeWith | None:
    """What the index in a folder was made with; None without one."""
    if not (place / FILE).exists():
        return None
    try:
        with closing(sqlite3.connect(place / FILE)) as connection:
            meta = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    except sqlite3.Error as error:
        raise StoreUnavailable(f"the index in {place} cannot be read: {error}") from error
    return MadeWith(meta["model"], meta["dimension"]) if meta else None


def _is_dropped(place: Path) -> bool:
    """Delete a folder; whether there was one."""
    if not place.exists():
        return False
    shutil.rmtree(place)
    return True


def _prepare(place: Path, model: MadeWith) -> None:
    """Keep what an interrupted run filled, unless it was filled for another model."""
    if _made_with(place) != model:
        _is_dropped(place)
        place.mkdir()


async def _copy_records(old: Records, new: Records) -> None:
    """Make `new` hold the projects and articles of `old` and, whatever an interrupted run left, no others."""
    async for project in _projects(new):
        await new.delete_project(project.project_id)
    async for article in _articles(new):
        await new.delete_article(article.article_id)
    async for project in _projects(old):
        await new.create_project(project)
    async for listed in _articles(old):
        whole = await old.article(listed.article_id)
        assert whole is not None  # nobody else writes
        await new.put_article(whole)


async def _projects(records: Records) -> AsyncIterator[Project]:
    after = None
    while page := await records.projects(after, RECORDS_AT_ONCE):
        for project in page:
            yield project
        after = page[-1].project_id


async def _articles(records: Records) -> AsyncIterator[Article]:
    """Without their bodies, as lists leave them out."""
    after = None
    while page := await records.articles(after, RECORDS_AT_ONCE):
        for article in page:
            yield article
        after = page[-1].article_id


def _swap(folder: Path) -> None:
    """Let the new index of a closed store take the place of the old one."""
    for place in (folder, folder / NEXT):
        if (place / WRITE_AHEAD).exists():
            raise StoreUnavailable(f"{place / FILE} could not be closed: is the disk full?")
    # A keyword index without its database is wrong, a database without its keyword index makes it anew.
    shutil.rmtree(folder / KEYWORDS, ignore_errors=True)
    os.replace(folder / NEXT / FILE, folder / FILE)
    os.replace(folder / NEXT / KEYWORDS, folder / KEYWORDS)
    shutil.rmtree(folder / NEXT)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
