"""The embedded store: one tenant's index in one folder, owned by one process."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TextIO

from typing_extensions import override

from chassis.folders import private_folder
from services.retrieval.clock import now
from services.retrieval.store.embedded.database import SCHEMA_VERSION, Database, upgrade
from services.retrieval.store.embedded.keywords import LAYOUT as KEYWORDS
from services.retrieval.store.embedded.keywords import KeywordIndex
from services.retrieval.store.embedded.lookups import EXPECTED, Lookups
from services.retrieval.store.embedded.records import EmbeddedRecords
from services.retrieval.store.embedded.searching import Searching
from services.retrieval.store.embedded.writing import Writing
from services.retrieval.store.port import EmbeddingModelMismatch, StoreUnavailable

FILE = "store.sqlite"
CANNOT_OPEN = "Let the retrieval service write to the folder; restore a damaged index from a back-up."

logger = logging.getLogger(__name__)


async def open_store(
    folder: Path, model_name: str, dimension: int, clock: Callable[[], datetime] = now
) -> EmbeddedStore:
    """Open the index in `folder`, or make it, for vectors of the model with this name and dimension.

    Raises `StoreUnavailable` when another process has it open, it is of another release or cannot be read,
    and `EmbeddingModelMismatch` when it was made with another model.
    """

    def opened() -> EmbeddedStore:
        return EmbeddedStore(folder, own(folder), model_name, dimension, clock)

    try:
        return await asyncio.to_thread(opened)
    except (sqlite3.Error, OSError) as error:
        logger.exception("an index cannot be opened")
        why = getattr(error, "strerror", None) or error  # both are one line, and tell of files alone
        raise StoreUnavailable(f"the index in {folder} cannot be opened: {why}. {CANNOT_OPEN}") from error


class EmbeddedStore(Lookups, Searching, Writing):
    """A `Store`. Writes go through one thread, reads through a few; the event loop never waits."""

    def __init__(
        self, folder: Path, lock: TextIO, model_name: str, dimension: int, clock: Callable[[], datetime]
    ) -> None:
        """Use `open_store`: this blocks. `lock` is what `own` gave; it is closed with the store."""
        self._lock = lock
        with ExitStack() as opened:
            opened.callback(lock.close)
            database = Database(folder / FILE)
            opened.callback(database.close)
            _check_identity(database, folder, model_name, dimension)
            super().__init__(database, KeywordIndex(folder), dimension, clock)
            opened.pop_all()
        self.records = EmbeddedRecords(self._threads)

    @override
    async def close(self) -> None:
        def release() -> None:
            self._threads.close()  # waits for what runs
            self._database.close()
            self._lock.close()

        await asyncio.to_thread(release)


def own(folder: Path) -> TextIO:
    """Lock the folder, made if missing, for this process: until the file is closed, and all that were
    duplicated from it, or the process ends, however it ends. Raises `StoreUnavailable`.
    """
    private_folder(folder)
    file = (folder / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise StoreUnavailable(f"another process has the index in {folder} open") from error
    return file


def _check_identity(database: Database, folder: Path, model_name: str, dimension: int) -> None:
    """Record what a new index is made with; refuse one that was made with something else."""
    ours = {"schema": SCHEMA_VERSION, "model": model_name, "dimension": dimension}
    with database.writing() as connection:
        recorded = dict(connection.execute("SELECT key, value FROM meta").fetchall())
        if not recorded:
            # A keyword index without its database: that was removed, or cut to nothing, and held documents.
            lost = (folder / KEYWORDS).exists()
            fresh = {**ours, "epoch": secrets.token_hex(4), "sequence": 0, EXPECTED: int(lost)}
            connection.executemany("INSERT INTO meta VALUES (?, ?)", fresh.items())
            return
        if (recorded["model"], recorded["dimension"]) != (model_name, dimension):
            raise EmbeddingModelMismatch(
                f"the index in {folder} was made with {recorded['model']} ({recorded['dimension']} "
                f"dimensions), not {model_name} ({dimension}): run `clausegate reindex`, or set the "
                "embedding model back"
            )
        if upgrade(connection, recorded["schema"]) != SCHEMA_VERSION:
            raise StoreUnavailable(
                f"the index in {folder} has layout {recorded['schema']}, this release reads "
                f"{SCHEMA_VERSION}: ingest the documents again with another CLAUSEGATE_DATA_DIR"
            )
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (SCHEMA_VERSION,))
