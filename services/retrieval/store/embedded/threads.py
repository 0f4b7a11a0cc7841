"""The threads of one store: one that writes, and a few that read; the event loop never waits."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

from chassis.limits.concurrency import Threads as CountedThreads
from chassis.storage import is_storage_failure, storage_unavailable
from services.retrieval.store.embedded.database import Database
from services.retrieval.store.port import StoreUnavailable

READERS = 4
"""Threads that read. More would only wait for the two or so cores of the machine this store is for."""

logger = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
Values = Mapping[str, object] | Sequence[object]
Rows = tuple[T, ...]


class Threads:
    """Runs reads and writes of a database; what goes wrong there becomes `StoreUnavailable`, and a disk that
    cannot be used `StorageUnavailable`.
    """

    def __init__(self, database: Database) -> None:
        """The database is closed by whoever opened it, after `close`."""
        self._database = database
        self.writer = CountedThreads(1, "store-writer")
        self._readers = CountedThreads(READERS, "store-reader")
        self._closed = False

    async def read(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run on a thread that reads."""
        return await self.answer(lambda: self._readers.submit(work, *args, **kwargs))

    async def write(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run on the thread that writes."""
        return await self.answer(lambda: self.writer.submit(work, *args, **kwargs))

    async def found(self, read: Callable[[sqlite3.Row], T], statement: str, values: Values = ()) -> Rows[T]:
        """What `read` makes of each row that a statement finds in the database."""

        def work() -> Rows[T]:
            with self._database.reading() as connection:
                return tuple(map(read, connection.execute(statement, values)))

        return await self.read(work)

    async def changed(self, read: Callable[[sqlite3.Row], T], statement: str, values: Values) -> Rows[T]:
        """The same of a statement that writes what no derived index holds, in a transaction of its own."""

        def work() -> Rows[T]:
            with self._database.writing() as connection:
                return tuple(map(read, connection.execute(statement, values)))

        return await self.write(work)

    async def answer(self, submit: Callable[[], Future[T]]) -> T:
        """What comes of what `submit` gives to a thread."""
        self.check_open()
        try:
            return await asyncio.wrap_future(submit())
        except (sqlite3.Error, OSError) as error:
            if is_storage_failure(error):
                raise storage_unavailable(error) from error
            logger.exception("the embedded store failed")
            raise StoreUnavailable("the index cannot be read or written; the log says why") from error

    def check_open(self) -> None:
        """Raise `StoreUnavailable` once closed."""
        if self._closed:
            raise StoreUnavailable("the index is closed")

    def close(self) -> None:
        """Wait for what runs, and take no more; safe to call twice."""
        self._closed = True
        self.writer.shutdown()
        self._readers.shutdown()
