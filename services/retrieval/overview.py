"""What searches keep in memory of the whole index and refresh with it: names, heads, and a sample."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, TypeVar

from chassis.errors import ServiceError
from chassis.limits.deadlines import set_deadline
from corpus.chunks import Chunk, ChunkId
from corpus.documents import Document, DocumentId, Version
from services.retrieval.background import MAX_CHUNKS, Sample, SampledDocument, choose
from services.retrieval.corpus import EVERYWHERE, EmbeddedChunk, Scope
from services.retrieval.names.index import NamedDocument, NameIndex
from services.retrieval.routing import Head, HeadIndex
from services.retrieval.sizes import IndexSize
from services.retrieval.store.port import Store

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

HEAD_CHUNKS = 12
"""Enough for the words of a head where a document begins with small sections, each of them a chunk."""
HEADS_AT_ONCE = 35
"""Documents of one read: of 420 chunks, which keeps the event loop busy for 20 ms."""
SAMPLED_AT_ONCE = 10
"""The same with vectors: at 3,072 dimensions a read of at most 40 MB."""
STALE_GRACE_SECONDS = 2.0
"""How long a search waits for a refresh before it makes do with the overview of an earlier revision.

A refresh takes .1 s at 200 documents and .8 s at 10,000: an answer right after an ingestion is routed and
calibrated like any other, and only an index that grows without pause ever makes one that is not."""


@dataclass(frozen=True, slots=True)
class Overview:
    """The index at one revision, at most a write behind while documents come and go."""

    revision: str
    heads: HeadIndex
    names: NameIndex
    sample: Sample


@dataclass(frozen=True, slots=True)
class Known:
    """How a question finds one version of a document."""

    head: Head
    named: NamedDocument


class Overviews:
    """Keeps the overview of one store. Only documents that changed are read again."""

    def __init__(self, store: Store, executor: Executor, size: IndexSize | None = None) -> None:
        """`size` is told how large the store is whenever it is read."""
        self._size = size
        self._store = store
        self._executor = executor
        self._known: dict[Version, Known] = {}
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
        self._known = await _updated(self._known, versions.values(), self._read_heads, HEADS_AT_ONCE)
        chosen = [versions[document_id] for document_id in choose(versions)]
        self._sampled = await _updated(self._sampled, chosen, self._read_sample, SAMPLED_AT_ONCE)
        if self._size is not None:
            self._size.tell(await self._store.counts())
        self._current = await self._build(
            _overview, revision, [*self._known.values()], [*self._sampled.values()]
        )

    async def _versions(self) -> dict[DocumentId, Version]:
        """By id: what two documents of equal score are told apart by must not depend on the store."""
        live = await self._store.live_versions(EVERYWHERE)
        return {
            document.document_id: document
            for document in sorted(live, key=lambda document: document.document_id)
        }

    async def _read_heads(self, document_ids: Sequence[DocumentId]) -> dict[DocumentId, Known]:
        first = await self._store.first_chunks(document_ids, HEAD_CHUNKS)
        scope = Scope(document_ids=tuple(document_ids))
        documents = await self._store.documents(scope, None, len(document_ids))
        return await self._build(_known_of, first, documents)

    async def _read_sample(self, document_ids: Sequence[DocumentId]) -> dict[DocumentId, SampledDocument]:
        first = await self._store.first_chunks(document_ids, MAX_CHUNKS)
        embedded = await self._store.embedded_chunks(
            [chunk.chunk_id for chunks in first.values() for chunk in chunks]
        )
        return await self._build(_sampled_of, first, embedded)

    async def _build(self, build: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._executor, partial(build, *args, **kwargs)
        )


def _known_of(
    first: Mapping[DocumentId, Sequence[Chunk]], documents: Sequence[Document]
) -> dict[DocumentId, Known]:
    """A document that comes or goes between the two reads is left out."""
    return {
        document.document_id: Known(
            Head.of(document.document_id, chunks[0].title, "\n".join(chunk.text for chunk in chunks)),
            NamedDocument.of(document.document_id, document.title, document.profile),
        )
        for document in documents
        if (chunks := first.get(document.document_id))
    }


def _sampled_of(
    first: Mapping[DocumentId, Sequence[Chunk]], embedded: Mapping[ChunkId, EmbeddedChunk]
) -> dict[DocumentId, SampledDocument]:
    """Chunks of a document that was replaced meanwhile are not live any more."""
    found = {
        document_id: [embedded[chunk.chunk_id] for chunk in chunks if chunk.chunk_id in embedded]
        for document_id, chunks in first.items()
    }
    return {
        document_id: SampledDocument.of(chunks[0].chunk.version, chunks)
        for document_id, chunks in found.items()
        if chunks
    }


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
    known: dict[Version, T],
    wanted: Collection[Version],
    read: Callable[[Sequence[DocumentId]], Awaitable[Mapping[DocumentId, T]]],
    at_once: int,
) -> dict[Version, T]:
    """What is known of the wanted versions, in their order, with the missing ones read, `at_once` together.

    A version that vanishes meanwhile is left out: the next refresh sees why. When a read fails, what was read
    before it is known to the next refresh.
    """
    missing = [version for version in wanted if version not in known]
    for start in range(0, len(missing), at_once):
        batch = missing[start : start + at_once]
        found = await read([version.document_id for version in batch])
        known |= {version: found[version.document_id] for version in batch if version.document_id in found}
    return {version: known[version] for version in wanted if version in known}


def _overview(revision: str, known: Sequence[Known], sampled: Sequence[SampledDocument]) -> Overview:
    sample = Sample(sampled)
    heads = HeadIndex([document.head for document in known], sample.usage)
    names = NameIndex([document.named for document in known], heads, sample.usage)
    return Overview(revision, heads, names, sample)
