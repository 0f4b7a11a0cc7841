"""Writes: how a version is stored, becomes visible, and is collected.

The object of a document names its live version, and writing it is the flip. Everything else is ordered
around that, so that a process may die between any two calls:

- An object in the collection of staged versions is written before anything of a version, and before the flip
  for the version that it replaces, and removed after everything else of it: while a document may have objects
  that are not live, one of these says of which version.
- The revision is written after the flip, and what was replaced is collected after the revision.
- What an interrupted write left behind is invisible; the next write of the document collects it.

An index that another took the place of takes no writes. That is asked before a write and once more after the
flip: a write that was overtaken is not acknowledged, so whoever sent it sends it again, to the other index.

Two writers of one document in a process wait for each other. Two processes do not: the last flip wins, and
a writer whose objects another collected finds them missing before its flip or right after it, and is not
acknowledged. Only one that stood still between looking which version is live and deleting what it took for
dead can still take an acknowledged version with it, as the log says: ingest writes a document once at a time.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

from typing_extensions import override
from weaviate.collections.classes.data import DataObject
from weaviate.collections.classes.filters import FilterReturn
from weaviate.exceptions import WeaviateInsertManyAllFailedError

from corpus.definitions import Definition
from corpus.documents import Document, DocumentId, Generation, Version
from services.retrieval.corpus import EVERYWHERE, EmbeddedChunk, Scope
from services.retrieval.store.port import Committed, StoreUnavailable, VersionIsLive
from services.retrieval.store.revisions import revision_of
from services.retrieval.store.weaviate import filters
from services.retrieval.store.weaviate.failures import failed, of_objects
from services.retrieval.store.weaviate.keys import key_of
from services.retrieval.store.weaviate.lookups import EXPECTED, STATE, Lookups
from services.retrieval.store.weaviate.objects import (
    VERSION,
    chunk_object,
    definition_object,
    document_object,
    read_version,
    staged_object,
    version_key,
)
from services.retrieval.store.weaviate.stored import Stored
from services.retrieval.store.weaviate.tenants import TenantCollections

logger = logging.getLogger(__name__)

Objects = Sequence[DataObject[dict[str, Any], None]]
CheckWritable = Callable[[], Awaitable[None]]
"""Raises what keeps this process from writing to the index now."""

REMOVAL = Generation("")
"""Generation whose sign says that a document is being removed; no version of a document has it."""
RECOUNT_PAUSES_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)


class Writing(Lookups):
    """The part of a `Store` with the writes, and the revision that tells of them."""

    def __init__(
        self, tenant: TenantCollections, clock: Callable[[], datetime], check_writable: CheckWritable
    ) -> None:
        super().__init__(tenant)
        self._clock = clock
        self._check_writable = check_writable
        self._owes_revision = False
        self._locks: WeakValueDictionary[DocumentId, asyncio.Lock] = WeakValueDictionary()

    @override
    async def put_chunks(self, version: Version, chunks: Sequence[EmbeddedChunk]) -> None:
        await self._put(version, self._names.chunks, list(map(chunk_object, chunks)))

    @override
    async def put_definitions(self, version: Version, definitions: Sequence[Definition]) -> None:
        await self._put(version, self._names.definitions, list(map(definition_object, definitions)))

    @override
    async def commit(self, document: Document) -> Committed:
        document_id, version = document.document_id, version_key(document.version)
        document_key = key_of(document_id)
        async with self._lock(document_id):
            live, staged, stored, _ = await asyncio.gather(
                self._live([document_id]),
                self._staged_keys(document_key),
                self._stored(document.version),
                self._check_writable(),
            )
            if version in staged:
                stored = await self._seen_whole(document, stored)
            stored.check(document)
            before = {version_key(current.version): current.version for current in live.values()}
            dead = {version: document.version, **before}
            await self._insert(
                self._names.staged,
                [staged_object(gone) for key, gone in dead.items() if key not in staged],
            )
            visible = replace(document, indexed_at=document.indexed_at or self._clock())
            flipped = document_object(visible, stored.windows, set(stored.terms))
            with self._owing_revision():
                await self._insert(self._names.documents, [flipped])
                revision, after, _ = await asyncio.gather(
                    self._revise(), self._stored(document.version), self._check_writable()
                )
            (await self._seen_whole(document, after)).check(document)
            with _left_for_later():
                await self._collect_dead(document_id, staged | dead.keys())
        return Committed(visible, bool(before.keys() - {version}), revision)

    @override
    async def remove(self, document_id: DocumentId) -> str | None:
        document_key = key_of(document_id)
        removal = staged_object(Version(document_id, REMOVAL))
        async with self._lock(document_id):
            document, staged, _ = await asyncio.gather(
                self.document(document_id), self._staged_keys(document_key), self._check_writable()
            )
            if document:
                signs = [staged_object(document.version), removal]
                await self._insert(self._names.staged, signs)
                staged |= set(map(_id, signs))
            revision = None
            # Without a document, if an earlier call died before its revision.
            if _id(removal) in staged:
                with self._owing_revision():
                    await self._delete_by_id(self._names.documents, document_key)
                    revision, _ = await asyncio.gather(self._revise(), self._check_writable())
            with _left_for_later():
                await self._collect_dead(document_id, staged)
            return revision if document else None

    @override
    @override
    async def revision(self, scope: Scope = EVERYWHERE) -> str:
        # A flip whose revision failed has one before any is read again: who repeats the write may be told
        # that nothing has changed.
        if self._owes_revision:
            with suppress(StoreUnavailable), self._owing_revision():
                self._owes_revision = False
                await self._revise()
        if scope == EVERYWHERE:
            return await self._whole_revision()
        names = [*VERSION, "indexed_at"]
        found = await self._tenant.every(self._names.documents, filters.within(scope), names)
        return revision_of(tuple(str(stored.properties[name]) for name in names) for stored in found)

    @override
    async def expect(self, documents: int) -> None:
        kept = DataObject({"revision": str(documents)}, uuid=EXPECTED)
        await self._insert(self._names.state, [kept])

    async def _put(self, version: Version, collection: str, objects: Objects) -> None:
        document_key, key = key_of(version.document_id), version_key(version)
        async with self._lock(version.document_id):
            live, staged, _ = await asyncio.gather(
                self._live([version.document_id]), self._staged_keys(document_key), self._check_writable()
            )
            kept = {key} | {version_key(document.version) for document in live.values()}
            is_live = len(kept) == 1 and bool(live)
            if is_live:
                stored = await self._existing(collection, [_id(new_object) for new_object in objects])
                if len(stored) < len({new_object.uuid for new_object in objects}):
                    raise VersionIsLive(f"{version.document_id} is live without some of these")
            elif key not in staged:
                await self._insert(self._names.staged, [staged_object(version)])
                await self._collect_dead(version.document_id, staged)
            await self._insert(collection, objects)
            # Another process may have collected the version, and its sign, before these objects came.
            known = await (
                self._live_keys(version.document_id) if is_live else self._staged_keys(document_key)
            )
            if key not in known:
                await self._insert(self._names.staged, [staged_object(version)])

    async def _stored(self, version: Version) -> Stored:
        (chunks, windows), terms = await asyncio.gather(self._stored_counts(version), self._terms_of(version))
        return Stored(chunks, windows, terms)

    async def _seen_whole(self, document: Document, stored: Stored) -> Stored:
        """What is stored once all of the document is, or the pauses are over.

        One replica counts, and for some milliseconds it may lack what a majority has acknowledged: of three
        nodes under load 2 of 29 commits met one.
        """
        for seconds in RECOUNT_PAUSES_SECONDS:
            if stored.is_whole(document):
                break
            await asyncio.sleep(seconds)
            stored = await self._stored(document.version)
        return stored

    async def _staged_keys(self, document_key: UUID) -> set[UUID]:
        """Keys of the versions of a document that were begun."""
        async with self._tenant.reading("read staged versions", self._names.staged) as staged:
            found = await staged.query.fetch_objects(
                filters=filters.of("document_key", document_key), return_properties=[]
            )
        return {stored.uuid for stored in found.objects}

    @contextmanager
    def _owing_revision(self) -> Iterator[None]:
        """For a flip and its revision: what ends in between, or may have, is remembered."""
        try:
            yield
        except BaseException:
            self._owes_revision = True
            raise

    async def _revise(self) -> str:
        revision = secrets.token_hex(8)
        await self._insert(self._names.state, [DataObject({"revision": revision}, uuid=STATE)])
        return revision

    async def _collect_dead(self, document_id: DocumentId, versions: Set[UUID]) -> None:
        """Delete chunks and definitions of those of these versions that are not live, then all their signs.

        A version that another process begins meanwhile is that one's. If it makes one of these live, the
        document goes: it would be one without chunks, which no repeated write mends.
        """
        dead = versions - await self._live_keys(document_id)
        unsigned = [filters.one_of("version_key", dead)] if dead else []
        if dead:
            collections = (self._names.chunks, self._names.definitions)
            await asyncio.gather(*(self._delete(collection, *unsigned) for collection in collections))
            if dead & await self._live_keys(document_id):
                logger.error("a version that two processes wrote was lost", extra={"document": document_id})
                await self._delete_by_id(self._names.documents, key_of(document_id))
                await self._revise()
                unsigned = [filters.of("document_key", key_of(document_id))]
        await asyncio.gather(*(self._delete_by_id(self._names.staged, version) for version in versions))
        if unsigned:
            await self._sign_again(unsigned)

    async def _sign_again(self, chunks: list[FilterReturn]) -> None:
        """Give the versions of chunks that came after theirs were deleted, or lost their document, signs."""
        found = await self._tenant.every(self._names.chunks, chunks, VERSION)
        versions = {read_version(stored.properties) for stored in found}
        await self._insert(self._names.staged, list(map(staged_object, versions)))

    async def _live_keys(self, document_id: DocumentId) -> set[UUID]:
        """The key of the live version, if there is one."""
        live = await self._live([document_id])
        return {version_key(document.version) for document in live.values()}

    async def _delete_by_id(self, collection: str, key: UUID) -> None:
        async with self._tenant.writing("delete", collection) as handle:
            await handle.data.delete_by_id(key)

    async def _delete(self, collection: str, condition: FilterReturn) -> None:
        """Delete all that match; Weaviate takes 10,000 at most in one call, and says so to nobody."""
        matches = 1
        while matches:
            async with self._tenant.writing("delete", collection) as handle:
                result = await handle.data.delete_many(condition)
            if result.failed:
                raise failed()
            matches = result.matches

    async def _insert(self, collection: str, objects: Objects) -> None:
        """Store objects in place of those with their ids; a batch with one that is refused is tried again.

        All of it: of a batch that finds the disk full, Weaviate reports the first object alone (1.39.0).
        """
        if not objects:
            return
        refused = await self._try_insert(collection, objects)
        if refused:
            refused = await self._try_insert(collection, objects)
        if refused:
            raise of_objects(refused)

    async def _try_insert(self, collection: str, objects: Objects) -> list[str]:
        """What Weaviate says of those that it refuses."""
        async with self._tenant.writing("insert", collection) as handle:
            try:
                result = await handle.data.insert_many(objects)
            except WeaviateInsertManyAllFailedError as error:
                return [error.message]
        return [refused.message for refused in result.errors.values()]

    def _lock(self, document_id: DocumentId) -> asyncio.Lock:
        return self._locks.setdefault(document_id, asyncio.Lock())


@contextmanager
def _left_for_later() -> Iterator[None]:
    """What cannot be deleted after a flip is invisible: the next write of the document deletes it."""
    try:
        yield
    except StoreUnavailable:
        logger.warning("what a write replaced is collected by the next", exc_info=True)


def _id(written: DataObject[dict[str, Any], None]) -> UUID:
    assert isinstance(written.uuid, UUID)
    return written.uuid
