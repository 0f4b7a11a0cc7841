"""The embedded store: one tenant's index in one folder, owned by one process."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import secrets
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, TextIO, TypeVar

from chassis.folders import private_folder
from services.retrieval.clock import now
from services.retrieval.corpus import (
    EVERYWHERE,
    Chunk,
    ChunkId,
    Definition,
    Document,
    DocumentId,
    EmbeddedChunk,
    Hits,
    Scope,
    Vector,
    Version,
)
from services.retrieval.store.embedded import lookups, searching
from services.retrieval.store.embedded.database import SCHEMA_VERSION, Database, upgrade
from services.retrieval.store.embedded.keywords import LAYOUT as KEYWORDS
from services.retrieval.store.embedded.keywords import KeywordIndex
from services.retrieval.store.embedded.records import EmbeddedRecords
from services.retrieval.store.embedded.threads import Threads
from services.retrieval.store.embedded.view import View
from services.retrieval.store.embedded.writing import Writer
from services.retrieval.store.port import (
    Committed,
    Coverage,
    EmbeddingModelMismatch,
    IndexCounts,
    LegHits,
    Legs,
    SourceCounts,
    StoreUnavailable,
)

FILE = "store.sqlite"
CANNOT_OPEN = "Let the retrieval service write to the folder; restore a damaged index from a back-up."

logger = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")


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


class EmbeddedStore:
    """A `Store`. Writes go through one thread, reads through a few; the event loop never waits."""

    def __init__(
        self, folder: Path, lock: TextIO, model_name: str, dimension: int, clock: Callable[[], datetime]
    ) -> None:
        """Use `open_store`: this blocks. `lock` is what `own` gave; it is closed with the store."""
        self._lock = lock
        with ExitStack() as opened:
            opened.callback(lock.close)
            self._database = Database(folder / FILE)
            opened.callback(self._database.close)
            _check_identity(self._database, folder, model_name, dimension)
            self._index = Writer(self._database, KeywordIndex(folder), dimension, clock)
            opened.pop_all()
        self._threads = Threads(self._database)
        self._records = EmbeddedRecords(self._threads)
        self._waiting: deque[tuple[Document, Future[Committed]]] = deque()

    @property
    def records(self) -> EmbeddedRecords:
        """See `Store.records`."""
        return self._records

    async def staged(self, version: Version) -> Mapping[ChunkId, str]:
        """See `Store.staged`."""
        return await self._threads.look_up(lookups.staged, version)

    async def put_chunks(self, version: Version, chunks: Sequence[EmbeddedChunk]) -> None:
        """See `Store.put_chunks`."""
        await self._threads.write(self._index.put_chunks, version, chunks)

    async def put_definitions(self, version: Version, definitions: Sequence[Definition]) -> None:
        """See `Store.put_definitions`."""
        await self._threads.write(self._index.put_definitions, version, definitions)

    async def commit(self, document: Document) -> Committed:
        """See `Store.commit`. Documents that wait for the same commit to end share the next one."""
        committed: Future[Committed] = Future()

        def submit() -> Future[Committed]:
            self._waiting.append((document, committed))
            self._threads.writer.submit(self._commit_waiting)
            return committed

        return await self._threads.answer(submit)

    async def remove(self, document_id: DocumentId) -> str | None:
        """See `Store.remove`."""
        return await self._threads.write(self._index.remove, document_id)

    async def expect(self, documents: int) -> None:
        """See `Store.expect`."""
        await self._threads.change(lookups.expect, documents)

    async def expected(self) -> int:
        """See `Store.expected`."""
        return await self._threads.look_up(lookups.expected)

    async def revision(self, scope: Scope = EVERYWHERE) -> str:
        """See `Store.revision`."""
        if scope != EVERYWHERE:
            return await self._threads.look_up(lookups.revision, scope)
        self._threads.check_open()
        return self._index.current.view.revision

    async def keyword_hits(self, stems: Sequence[str], k: int, scope: Scope) -> Hits:
        """See `Store.keyword_hits`."""
        return await self._search(searching.keyword_hits, stems, k, scope)

    async def vector_hits(self, vector: Vector, k: int, scope: Scope) -> Hits:
        """See `Store.vector_hits`."""
        return await self._search(searching.vector_hits, vector, k, scope)

    async def search(self, legs: Legs, scope: Scope) -> LegHits:
        """See `Store.search`."""
        return await self._search(searching.search, legs, scope)

    async def chunks(self, chunk_ids: Sequence[ChunkId], scope: Scope = EVERYWHERE) -> dict[ChunkId, Chunk]:
        """See `Store.chunks`."""
        return await self._threads.look_up(lookups.chunks, chunk_ids, scope)

    async def embedded_chunks(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, EmbeddedChunk]:
        """See `Store.embedded_chunks`."""
        return await self._threads.look_up(lookups.embedded_chunks, chunk_ids)

    async def chunks_of(self, document_id: DocumentId, after: int | None, limit: int) -> Sequence[Chunk]:
        """See `Store.chunks_of`."""
        return await self._threads.look_up(lookups.chunks_of, document_id, after, limit)

    async def first_chunks(
        self, document_ids: Sequence[DocumentId], limit: int
    ) -> dict[DocumentId, Sequence[Chunk]]:
        """See `Store.first_chunks`."""
        return await self._threads.look_up(lookups.first_chunks, document_ids, limit)

    async def document(self, document_id: DocumentId) -> Document | None:
        """See `Store.document`."""
        return await self._threads.look_up(lookups.document, document_id)

    async def covers(self, scope: Scope) -> bool:
        """See `Store.covers`."""
        return await self._threads.look_up(lookups.covers, scope)

    async def documents(self, scope: Scope, after: DocumentId | None, limit: int) -> Sequence[Document]:
        """See `Store.documents`."""
        return await self._threads.look_up(lookups.documents, scope, after, limit)

    async def live_versions(self, scope: Scope) -> Sequence[Version]:
        """See `Store.live_versions`."""
        return await self._threads.look_up(lookups.live_versions, scope)

    async def sources(self) -> Sequence[SourceCounts]:
        """See `Store.sources`."""
        return await self._threads.look_up(lookups.sources)

    async def definitions(self, folded_terms: Sequence[str], scope: Scope) -> Sequence[Definition]:
        """See `Store.definitions`."""
        return await self._threads.look_up(lookups.definitions, folded_terms, scope)

    async def defined_terms(self, scope: Scope) -> Sequence[str]:
        """See `Store.defined_terms`."""
        return await self._threads.look_up(lookups.defined_terms, scope)

    async def count_term(self, stems: Sequence[str], scope: Scope) -> int:
        """See `Store.count_term`."""
        return await self._search(searching.count_term, stems, scope)

    async def mean_stems(self, scope: Scope) -> float:
        """See `Store.mean_stems`."""
        return await self._threads.look_up(lookups.mean_stems, scope)

    async def coverage(self, scope: Scope) -> Coverage:
        """See `Store.coverage`."""
        return await self._threads.look_up(lookups.coverage, scope)

    async def counts(self, scope: Scope = EVERYWHERE) -> IndexCounts:
        """See `Store.counts`."""
        return await self._threads.look_up(lookups.counts, scope)

    async def close(self) -> None:
        """See `Store.close`. Waits for what runs."""
        await asyncio.to_thread(self._release)

    def _release(self) -> None:
        self._threads.close()
        self._database.close()
        self._lock.close()

    def _commit_waiting(self) -> None:
        """Commit documents that wait, all different; every `commit` brings one call, so none is left over."""
        group: dict[DocumentId, tuple[Document, Future[Committed]]] = {}
        while self._waiting and self._waiting[0][0].version.document_id not in group:
            document, committed = self._waiting.popleft()
            if committed.set_running_or_notify_cancel():
                group[document.version.document_id] = (document, committed)
        futures = [committed for _, committed in group.values()]
        try:
            results = self._index.commit([document for document, _ in group.values()])
        except BaseException as error:
            for committed in futures:
                committed.set_exception(error)
            raise
        for committed, result in zip(futures, results, strict=True):
            if isinstance(result, Committed):
                committed.set_result(result)
            else:
                committed.set_exception(result)

    async def _search(
        self, read: Callable[Concatenate[View, sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Read from all three indexes at one moment."""

        def work() -> T:
            with self._index.current.reading() as (view, connection):
                return read(view, connection, *args, **kwargs)

        return await self._threads.read(work)


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
            fresh = {**ours, "epoch": secrets.token_hex(4), "sequence": 0, lookups.EXPECTED: int(lost)}
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
