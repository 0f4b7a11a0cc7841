"""All writes to the index of one tenant; one thread at a time calls them.

A version is staged in the database alone. To become live it is first added to the keyword index, where
readers pass over it; then one transaction of the database flips it, and in the same moment readers see its
codes.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from typing_extensions import override

from corpus.definitions import Definition
from corpus.documents import Document, DocumentId, Version
from services.retrieval.corpus import EmbeddedChunk
from services.retrieval.store.embedded import rows
from services.retrieval.store.embedded.codes import encode
from services.retrieval.store.embedded.database import Database
from services.retrieval.store.embedded.derived import Derived
from services.retrieval.store.embedded.keywords import KeywordIndex
from services.retrieval.store.embedded.threads import Threads
from services.retrieval.store.embedded.view import CurrentView
from services.retrieval.store.port import Committed, IncompleteVersion, Store, VersionIsLive

MAX_STALE_CHUNKS = 1000
"""Chunks of removed versions that may wait in the keyword index for the next commit to take them out."""
STATE_BITS = 62
"""Bits of the number that names a state of the index; SQLite's largest has 63."""
HELD_CHUNKS = """
    SELECT count(*) FROM chunks WHERE version = ? AND chunk_id IN (SELECT value FROM json_each(?))
"""
HELD_DEFINITIONS = """
    SELECT count(*) FROM definitions WHERE version = ? AND definition_id IN (SELECT value FROM json_each(?))
"""
STORED_COUNTS = """
    SELECT (SELECT count(*) FROM chunks WHERE version = :number) AS chunks,
        (SELECT count(*) FROM definitions WHERE version = :number) AS definitions,
        (SELECT coalesce(sum(json_array_length(windows)), 0) FROM chunks WHERE version = :number) AS windows
"""


@dataclass(frozen=True, slots=True)
class _Flip:
    """A version that is stored in full and may become live."""

    number: int
    document: Document
    windows: int
    replaced: Set[int]
    """The live version that it takes the place of, if any."""


class Writing(Store):
    """The part of a `Store` that writes to the database, and shows readers what became live."""

    def __init__(
        self, database: Database, keywords: KeywordIndex, dimension: int, clock: Callable[[], datetime]
    ) -> None:
        """Bring the derived indexes to the state of the database."""
        self._database = database
        self._threads = Threads(database)
        self._clock = clock
        self._waiting: deque[tuple[Document, Future[Committed]]] = deque()
        with database.reading() as connection:
            meta = dict(connection.execute("SELECT key, value FROM meta").fetchall())
            live = connection.execute("SELECT number FROM versions WHERE live").fetchall()
        self._epoch = meta["epoch"]
        self._live = frozenset(row["number"] for row in live)
        self._derived = Derived(database, keywords, dimension, self._live)
        view = self._derived.view(f"{self._epoch}.{meta['sequence']}", self._live)
        self._current = CurrentView(database, view)

    @override
    async def put_chunks(self, version: Version, chunks: Sequence[EmbeddedChunk]) -> None:
        def put() -> None:
            ids = [embedded.chunk.chunk_id for embedded in chunks]
            with self._staging(version) as (connection, number):
                self._check_held(connection, HELD_CHUNKS, number, ids)
                for embedded in chunks:
                    _put_chunk(connection, number, embedded)

        await self._threads.write(put)

    @override
    async def put_definitions(self, version: Version, definitions: Sequence[Definition]) -> None:
        def put() -> None:
            ids = [definition.definition_id for definition in definitions]
            with self._staging(version) as (connection, number):
                self._check_held(connection, HELD_DEFINITIONS, number, ids)
                for definition in definitions:
                    connection.execute(rows.PUT_DEFINITION, rows.definition_values(number, definition))

        await self._threads.write(put)

    def _check_held(self, connection: sqlite3.Connection, held: str, number: int, ids: Sequence[str]) -> None:
        """Raise `VersionIsLive` for what a live version does not hold."""
        if number in self._live:
            found = connection.execute(held, (number, rows.listed(ids))).fetchone()[0]
            if found < len(set(ids)):
                raise VersionIsLive("the version is live without some of these")

    @override
    async def commit(self, document: Document) -> Committed:
        # Documents that wait for the same commit to end share the next one.
        committed: Future[Committed] = Future()

        def submit() -> Future[Committed]:
            self._waiting.append((document, committed))
            self._threads.writer.submit(self._commit_waiting)
            return committed

        return await self._threads.answer(submit)

    @override
    async def remove(self, document_id: DocumentId) -> str | None:
        def removed() -> str | None:
            live = self._live - self._numbers_of(document_id)
            was_live = live != self._live
            with self._flipping(live) if was_live else self._database.writing() as connection:
                connection.execute("DELETE FROM versions WHERE document_id = ?", (document_id,))
            return self._current.view.revision if was_live else None

        return await self._threads.write(removed)

    def _commit_waiting(self) -> None:
        """Commit documents that wait, all different; every `commit` brings one call, so none is left over."""
        group: dict[DocumentId, tuple[Document, Future[Committed]]] = {}
        while self._waiting and self._waiting[0][0].version.document_id not in group:
            document, committed = self._waiting.popleft()
            if committed.set_running_or_notify_cancel():
                group[document.version.document_id] = (document, committed)
        futures = [committed for _, committed in group.values()]
        try:
            results = self._commit_together([document for document, _ in group.values()])
        except BaseException as error:
            for committed in futures:
                committed.set_exception(error)
            raise
        for committed, result in zip(futures, results, strict=True):
            if isinstance(result, Committed):
                committed.set_result(result)
            else:
                committed.set_exception(result)

    def _commit_together(self, documents: Sequence[Document]) -> list[Committed | IncompleteVersion]:
        """What came of each; those that are stored in full become live in the same moment."""
        results = [self._checked(document) for document in documents]
        self._flip([result for result in results if isinstance(result, _Flip)])
        revision = self._current.view.revision
        return [
            Committed(result.document, bool(result.replaced), revision)
            if isinstance(result, _Flip)
            else result
            for result in results
        ]

    def _flip(self, flips: Sequence[_Flip]) -> None:
        if not flips:
            return
        numbers = frozenset(flip.number for flip in flips)
        replaced = frozenset[int]().union(*(flip.replaced for flip in flips))
        self._derived.include(numbers, self._live)
        with self._flipping(self._live - replaced | numbers) as connection:
            connection.executemany(
                "DELETE FROM versions WHERE number = ?", [(number,) for number in replaced]
            )
            values = [rows.document_values(flip.number, flip.windows, flip.document) for flip in flips]
            connection.executemany(rows.MAKE_LIVE, values)

    @contextmanager
    def _staging(self, version: Version) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A transaction, and the number of the version; a new one takes the place of others not live."""
        key = (version.document_id, version.generation)
        find = "SELECT number FROM versions WHERE document_id = ? AND generation = ?"
        # A number that no other database has, nor this one after a back-up was restored: a keyword index that
        # was left beside it would take one version for the other.
        make = (
            "INSERT INTO versions (number, document_id, generation) "
            "VALUES (random() & 0x7FFFFFFFFFFFFFFF, ?, ?) RETURNING number"
        )
        with self._database.writing() as connection:
            row = connection.execute(find, key).fetchone()
            if row is None:
                connection.execute("DELETE FROM versions WHERE document_id = ? AND NOT live", key[:1])
                row = connection.execute(make, key).fetchone()
            yield connection, row["number"]

    def _checked(self, document: Document) -> _Flip | IncompleteVersion:
        """What the flip needs to know, or why there can be none; nothing is changed then."""
        document_id = document.document_id
        try:
            with self._staging(document.version) as (connection, number):
                stored = connection.execute(STORED_COUNTS, {"number": number}).fetchone()
                if (stored["chunks"], stored["definitions"]) != (
                    document.chunk_count,
                    document.definition_count,
                ):
                    raise IncompleteVersion(
                        f"{document_id}: {stored['chunks']} of {document.chunk_count} chunks and "
                        f"{stored['definitions']} of {document.definition_count} definitions are stored"
                    )
        except IncompleteVersion as error:
            return error
        replaced = (self._numbers_of(document_id) & self._live) - {number}
        visible = replace(document, indexed_at=document.indexed_at or self._clock())
        return _Flip(number, visible, stored["windows"], replaced)

    @contextmanager
    def _flipping(self, live: frozenset[int]) -> Iterator[sqlite3.Connection]:
        """A transaction with which these versions and no others are live; `Derived` includes them already."""
        # Not the next of a count: after a back-up was restored, it would name two states alike.
        state = secrets.randbits(STATE_BITS)
        view = self._derived.view(f"{self._epoch}.{state}", live)
        with self._current.flipping(view) as connection:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'sequence'", (state,))
            yield connection
        self._live = live
        self._derived.adopt(view)
        if view.stale_chunks > MAX_STALE_CHUNKS:
            self._derived.drop(view.stale)
            self._current.replace(self._derived.view(view.revision, live))

    def _numbers_of(self, document_id: DocumentId) -> frozenset[int]:
        with self._database.reading() as connection:
            query = "SELECT number FROM versions WHERE document_id = ?"
            return frozenset(row["number"] for row in connection.execute(query, (document_id,)))


def _put_chunk(connection: sqlite3.Connection, version: int, embedded: EmbeddedChunk) -> None:
    """Store a chunk, or replace it under its number, by which the derived indexes know it."""
    (number,) = connection.execute(rows.PUT_CHUNK, rows.chunk_values(version, embedded)).fetchone()
    vectors = np.ascontiguousarray(embedded.vectors, np.float32)
    connection.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (number, vectors.tobytes()))
    codes = encode(vectors).tobytes()
    connection.execute("INSERT OR REPLACE INTO codes VALUES (?, ?, ?)", (number, version, codes))
