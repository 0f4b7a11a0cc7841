"""What searches keep in memory of the whole index and refresh with it: heads of documents, and a sample."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeVar

from chassis.deadlines import set_deadline
from chassis.errors import ServiceError
from services.retrieval.background import MAX_CHUNKS, Sample, SampledDocument, choose
from services.retrieval.corpus import DocumentId, Scope, Version
from services.retrieval.routing import Head, HeadIndex
from services.retrieval.store.port import Store

logger = logging.getLogger(__name__)

Read = TypeVar("Read")

HEAD_CHUNKS = 4
PAGE_SIZE = 1000
READS_AT_ONCE = 16
STALE_GRACE_SECONDS = 2.0
"""How long a search waits for a refresh before it makes do with the overview of an earlier revision.

A refresh takes .1 s at 200 documents and 1.2 s at 10,000: an answer right after an ingestion is routed and
calibrated like any other, and only an index that grows without pause ever makes one that is not."""


@dataclass(frozen=True, slots=True)
class Overview:
    """The index at one revision, at most a write behind while documents come and go."""

    revision: str
    heads: HeadIndex
    sample: Sample


class Overviews:
    """Keeps the overview of one store. Only documents that changed are read again."""

    def __init__(self, store: Store, executor: Executor) -> None:
        self._store = store
        self._executor = executor
        self._heads: dict[Version, Head] = {}
        self._sampled: dict[Version, SampledDocument] = {}
        self._current: Overview | None = None
        self._refresh: asyncio.Task[None] | None = None

    async def at(self, revision: str) -> Overview:
        """The overview of `revision` or a later one; an earlier one only while a refresh takes too long.

        Raises `StoreUnavailable` when the store fails a refresh.
        """
        give_up = asyncio.get_running_loop().time() + STALE_GRACE_SECONDS
        # A refresh that runs may have begun before `revision`; the one after it has not.
        for _ in range(2):
            if self._current is not None and self._current.revision == revision:
                break
            refresh = self.refresh()
            left = give_up - asyncio.get_running_loop().time()
            await asyncio.wait([refresh], timeout=None if self._current is None else max(0.0, left))
            if not refresh.done():
                break
            refresh.result()
        assert self._current is not None
        return self._current

    def refresh(self) -> asyncio.Task[None]:
        """Begin to read what changed, unless that goes on; at start, so that no search need wait for it.

        Nobody has to wait for the task: one that fails says so in the log, and the next begins anew.
        """
        if self._refresh is None or self._refresh.done():
            self._refresh = asyncio.create_task(self._refreshed(), name="refresh the overview")
            self._refresh.add_done_callback(_log_failure)
        return self._refresh

    async def close(self) -> None:
        """Stop a refresh that runs."""
        if self._refresh is not None:
            self._refresh.cancel()
            await asyncio.gather(self._refresh, return_exceptions=True)

    async def _refreshed(self) -> None:
        set_deadline(None)  # that of the call which began it is not that of others which wait for it
        revision = await self._store.revision()
        versions = await self._versions()
        self._heads = await _updated(self._heads, versions.values(), self._head)
        chosen = [versions[document_id] for document_id in choose(versions)]
        self._sampled = await _updated(self._sampled, chosen, self._sample)
        build = asyncio.get_running_loop().run_in_executor
        self._current = await build(
            self._executor, _overview, revision, [*self._heads.values()], [*self._sampled.values()]
        )

    async def _versions(self) -> dict[DocumentId, Version]:
        versions: dict[DocumentId, Version] = {}
        after: DocumentId | None = None
        while page := await self._store.documents(Scope(), after, PAGE_SIZE):
            versions |= {document.version.document_id: document.version for document in page}
            after = page[-1].version.document_id
        return versions

    async def _head(self, version: Version) -> Head | None:
        chunks = await self._store.chunks_of(version.document_id, None, HEAD_CHUNKS)
        if not chunks:
            return None
        return Head.of(version.document_id, chunks[0].title, "\n".join(chunk.text for chunk in chunks))

    async def _sample(self, version: Version) -> SampledDocument | None:
        first = await self._store.chunks_of(version.document_id, None, MAX_CHUNKS)
        chunk_ids = [chunk.chunk_id for chunk in first]
        embedded = await self._store.embedded_chunks(chunk_ids)
        chunks = [embedded[chunk_id] for chunk_id in chunk_ids if chunk_id in embedded]
        if not chunks:
            return None
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, SampledDocument.of, version, chunks)


def _log_failure(refresh: asyncio.Task[None]) -> None:
    if refresh.cancelled() or (failure := refresh.exception()) is None:
        return
    expected = isinstance(failure, ServiceError)
    logger.warning(
        "the overview was not refreshed",
        extra={"error": type(failure).__name__},
        exc_info=None if expected else failure,
    )


async def _updated(
    known: dict[Version, Read], wanted: Iterable[Version], read: Callable[[Version], Awaitable[Read | None]]
) -> dict[Version, Read]:
    """What is known of the wanted versions, in their order, with the missing ones read.

    A version that vanishes meanwhile is left out: the next refresh sees why.
    """
    wanted = list(wanted)
    missing = [version for version in wanted if version not in known]
    updated = dict(known)
    for start in range(0, len(missing), READS_AT_ONCE):
        batch = missing[start : start + READS_AT_ONCE]
        read_now = await asyncio.gather(*(read(version) for version in batch))
        updated |= {version: each for version, each in zip(batch, read_now, strict=True) if each is not None}
    return {version: updated[version] for version in wanted if version in updated}


def _overview(revision: str, heads: Sequence[Head], sampled: Sequence[SampledDocument]) -> Overview:
    sample = Sample(sampled)
    return Overview(revision, HeadIndex(heads, sample.usage), sample)
