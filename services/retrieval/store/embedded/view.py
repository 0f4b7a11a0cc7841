"""What readers see: one moment of all three indexes together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from services.retrieval.store.embedded.codes import CodeTable
from services.retrieval.store.embedded.database import Database
from services.retrieval.store.embedded.keywords import Searcher


@dataclass(frozen=True, slots=True)
class View:
    """The derived indexes at one state of the database. Together they hold all of its live versions."""

    revision: str
    keywords: Searcher
    stale: frozenset[int]
    """Versions that the keyword index holds although they are not live."""
    stale_chunks: int
    """Chunks of these."""
    codes: CodeTable
    """Codes of live versions only."""


class CurrentView:
    """The newest view. Readers take it together with the state of the database that it belongs to."""

    def __init__(self, database: Database, view: View) -> None:
        self._database = database
        self._lock = Lock()
        self._view = view

    @contextmanager
    def reading(self) -> Iterator[tuple[View, sqlite3.Connection]]:
        """The view, and a connection in a transaction that sees just its state."""
        with self._database.reading() as connection:
            with self._lock:
                connection.execute("BEGIN")
                # SQLite takes its snapshot with the first read, not with BEGIN.
                connection.execute("SELECT 1 FROM meta LIMIT 1").fetchone()
                view = self._view
            yield view, connection

    @property
    def view(self) -> View:
        """For the thread that writes, and for reads of it alone."""
        return self._view

    @contextmanager
    def flipping(self, view: View) -> Iterator[sqlite3.Connection]:
        """A transaction that makes `view` the newest when it succeeds; nobody begins to read meanwhile."""
        with self._lock:
            with self._database.writing() as connection:
                yield connection
            self._view = view

    def replace(self, view: View) -> None:
        """Another view of the same state of the database."""
        self._view = view
