"""One SQLite file in WAL mode: a connection that writes, and connections that threads borrow to read."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from chassis.folders import private_file

SCHEMA_VERSION = 9
# Vectors and codes have tables of their own: codes are read through at start, vectors a few at a time, and
# neither should drag the texts along. Codes repeat the version for the same reason.
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE versions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id TEXT NOT NULL,
    generation TEXT NOT NULL,
    live INTEGER NOT NULL DEFAULT 0,
    source TEXT, path TEXT, title TEXT, format TEXT, content_sha256 TEXT,
    size_bytes INTEGER, page_count INTEGER, unreadable_pages TEXT,
    chunk_count INTEGER, definition_count INTEGER, window_count INTEGER, indexed_at TEXT,
    UNIQUE (document_id, generation)
);
CREATE UNIQUE INDEX one_live_version ON versions (document_id) WHERE live;
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    version INTEGER NOT NULL REFERENCES versions ON DELETE CASCADE,
    chunk_id TEXT NOT NULL UNIQUE,
    ordinal INTEGER NOT NULL,
    alias TEXT NOT NULL, source TEXT NOT NULL, title TEXT NOT NULL,
    heading_chain TEXT NOT NULL, section TEXT NOT NULL, text TEXT NOT NULL, word_count INTEGER NOT NULL,
    span_start INTEGER NOT NULL, span_end INTEGER NOT NULL, pages TEXT NOT NULL, table_header TEXT NOT NULL,
    content_sha256 TEXT NOT NULL, is_definitions INTEGER NOT NULL,
    sentences TEXT NOT NULL, sections TEXT NOT NULL, windows TEXT NOT NULL,
    stems TEXT NOT NULL
);
CREATE INDEX chunks_in_order ON chunks (version, ordinal);
CREATE TABLE vectors (chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE, data BLOB NOT NULL);
CREATE TABLE codes (
    chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    version INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE TABLE definitions (
    version INTEGER NOT NULL REFERENCES versions ON DELETE CASCADE,
    definition_id TEXT NOT NULL,
    folded_term TEXT NOT NULL,
    term TEXT NOT NULL, text TEXT NOT NULL, span_start INTEGER NOT NULL, span_end INTEGER NOT NULL,
    pages TEXT NOT NULL, chunk_id TEXT NOT NULL, source TEXT NOT NULL, title TEXT NOT NULL,
    section TEXT NOT NULL,
    PRIMARY KEY (version, definition_id)
);
CREATE INDEX definitions_by_term ON definitions (folded_term);
"""
"""Layout 3."""
ADDED = {
    4: """
CREATE TABLE projects (
    project_id TEXT PRIMARY KEY,
    display_name TEXT NOT NULL, sources TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE TABLE articles (
    article_id TEXT PRIMARY KEY,
    folded_title TEXT NOT NULL,
    compiled_at TEXT NOT NULL,
    title TEXT NOT NULL, sources TEXT NOT NULL, document_ids TEXT NOT NULL, basis TEXT NOT NULL,
    record BLOB NOT NULL, body TEXT NOT NULL
);
CREATE INDEX articles_by_title ON articles (folded_title, compiled_at);
""",
    5: """
ALTER TABLE versions ADD COLUMN hidden_characters INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN scanned_pages TEXT NOT NULL DEFAULT '[]';
""",
    6: """
ALTER TABLE versions ADD COLUMN reference_marks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN running_lines INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN context_before TEXT NOT NULL DEFAULT '[]';
ALTER TABLE chunks ADD COLUMN context_after TEXT NOT NULL DEFAULT '[]';
ALTER TABLE chunks ADD COLUMN doubts TEXT NOT NULL DEFAULT '[]';
""",
    # What was staged before only ingest could, is not believed.
    7: """
ALTER TABLE versions ADD COLUMN contents_sha256 TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN digest TEXT NOT NULL DEFAULT '';
ALTER TABLE chunks ADD COLUMN digest TEXT NOT NULL DEFAULT '';
ALTER TABLE definitions ADD COLUMN digest TEXT NOT NULL DEFAULT '';
DELETE FROM versions WHERE NOT live;
""",
    8: "ALTER TABLE versions ADD COLUMN profile TEXT",
    9: "ALTER TABLE chunks ADD COLUMN layout BLOB NOT NULL DEFAULT x''",
}
"""What a layout has beyond the one before it. An index of that one only lacks it: it is added when the index
is opened, and nothing need be ingested again. Bodies come last: lists do not read them."""


class FileReplaced(OSError):
    """Another file has the name of the one that is open, or none has."""


class Database:
    """Short transactions on one file. Only one thread at a time may write."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it, empty but for its schema."""
        self._path = path
        private_file(path)
        self._idle: deque[sqlite3.Connection] = deque()
        self._writer = self._connect()
        self._file = self._identity()
        with ExitStack() as opened:
            opened.callback(self._writer.close)
            self._begin()
            opened.pop_all()

    def _begin(self) -> None:
        """Write the schema to a file that is new."""
        with self.writing() as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                _run(connection, SCHEMA)
                upgrade(connection, min(ADDED) - 1)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, on disk when it ends, or undone when it fails.

        Raises `FileReplaced`, as `reading` may: what is written to a file without a name is lost.
        """
        self._check_file()
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            yield self._writer
            self._writer.execute("COMMIT")
        finally:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own; whoever begins a transaction need not end it."""
        try:
            connection = self._idle.pop()  # the one used last, whose caches are warm
        except IndexError:
            self._check_file()
            connection = self._connect()
        try:
            yield connection
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._idle.append(connection)

    def close(self) -> None:
        """Close all connections; nobody may be reading."""
        while self._idle:
            self._idle.pop().close()
        self._writer.close()

    def _check_file(self) -> None:
        """Raise `FileReplaced` unless a new connection would be one to the file of the others."""
        if self._identity() != self._file:
            raise FileReplaced(f"{self._path} was removed or replaced while it was open: restart the service")

    def _identity(self) -> tuple[int, int] | None:
        """Device and number of the file that has our name now; None if there is none."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        with ExitStack() as opened:
            opened.callback(connection.close)
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA journal_mode = WAL")
            # FULL: a batch outlives the machine, not only the process. One fsync each, about 5 ms.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            opened.pop_all()
        return connection


def upgrade(connection: sqlite3.Connection, layout: int) -> int:
    """Add what later layouts have. Returns the layout come to; an unknown one stays as it is."""
    while layout + 1 in ADDED:
        layout += 1
        _run(connection, ADDED[layout])
    return layout


def _run(connection: sqlite3.Connection, statements: str) -> None:
    """Unlike `executescript`, within the transaction that goes on."""
    for statement in statements.split(";"):
        connection.execute(statement)
