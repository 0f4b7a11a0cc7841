"""Fills the index of another embedding model from the index of now, and lets it take its place.

The texts are in the index, so nothing is ingested again: every live version is embedded anew under its own
generation, and everything else of it stays what it was. Searches see the old index until the new one shows
the same documents; then one step changes over.

Documents are compared by their live versions, and only those that differ are copied. That is what makes a
run that was interrupted go on where it was, and what brings over the documents that were written meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from chassis.errors import Conflict
from corpus.documents import Document, DocumentId, Version
from inference.embedding.model import EmbeddingModel
from services.retrieval import replacing
from services.retrieval.corpus import EVERYWHERE, Scope
from services.retrieval.replacing import ChunkBatch, Commit, DefinitionBatch, Header, Part
from services.retrieval.store.port import Store

PAGE = 500
"""Documents that are listed at a time, of each index."""
CHUNKS_A_BATCH = 64
TERMS_A_BATCH = 100
CONCURRENT_DOCUMENTS = 4
"""Enough to store one while others are embedded; the model bounds what it does at once."""
FEW_DOCUMENTS = 5
"""Writes are held as soon as no more than so many differed."""
MAX_ROUNDS = 20


class Changeover(Protocol):
    """What only an engine can do while one index takes the place of another. Raises `StoreUnavailable`."""

    async def open(self) -> Sequence[str]:
        """Which models made what is to be replaced; none when the index is the new model's, or there is none.

        Without them only `drop_replaced` and `close` may follow.
        """
        ...

    async def tenants(self) -> Sequence[str]:
        """Tenants of the old index, by name."""
        ...

    async def old(self, tenant: str) -> Store:
        """The store that searches see."""
        ...

    async def new(self, tenant: str) -> Store:
        """The store that is filled; it holds what an earlier run left there."""
        ...

    async def hold_writes(self) -> None:
        """Let nobody write to the old index any more; a write that this overtakes is not acknowledged."""
        ...

    async def swap(self) -> None:
        """Make the new index the one that is served, in one step for each tenant, with all records."""
        ...

    async def drop_replaced(self) -> Sequence[str]:
        """Delete for good what swaps left behind, or was filled and given up; the names of what it was."""
        ...

    async def close(self) -> None:
        """Close both sides; writes that are held stay so until a swap. Safe to call twice."""
        ...


class NeverEqual(Conflict):
    """The old index goes on changing although writes are held: a process of an older release writes to it."""

    reason = "DOCUMENT_CONFLICT"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a round over one tenant has come."""

    done: int
    """Documents that are the same in both indexes, or were made so."""
    total: int
    """Documents of the old index when the round began."""
    chunks: int
    """Chunks copied since the run began."""


Report = Callable[[str, Progress], None]
"""Is told the tenant, and after each document how far its round has come."""


@dataclass(slots=True)
class Summary:
    """What a run did."""

    tenants: int = 0
    documents: int = 0
    """Copied, each as often as it changed."""
    removed: int = 0
    """Documents that the old index does not show any more."""
    chunks: int = 0
    """Copied; those of them that an interrupted run had stored are not embedded again."""
    rounds: int = 0


class _Replaced(Exception):
    """A document changed while it was read; the next round finds what became of it."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A document, and how each of the indexes shows it, if at all."""

    document_id: DocumentId
    old: Document | None
    new: Document | None

    @property
    def differs(self) -> bool:
        """Whether both show the same version: it says all that an index holds of a document."""
        return (self.old and self.old.version) != (self.new and self.new.version)


async def reindex(changeover: Changeover, model: EmbeddingModel, report: Report) -> Summary:
    """Bring the new index up to the old one and swap them. `model` is that of the new index.

    Raises what stores and model raise; the old index is served then as before, and the next run goes on.
    """
    summary = Summary()
    while await _round(changeover, model, summary, report) > FEW_DOCUMENTS and summary.rounds < MAX_ROUNDS:
        pass
    await changeover.hold_writes()
    last = summary.rounds + MAX_ROUNDS
    while await _round(changeover, model, summary, report):
        if summary.rounds >= last:
            raise NeverEqual("The index goes on changing although writes are held: stop other releases.")
    await changeover.swap()
    return summary


async def _round(changeover: Changeover, model: EmbeddingModel, summary: Summary, report: Report) -> int:
    """Make both indexes show the same documents, tenant by tenant; how many differed."""
    summary.rounds += 1
    tenants = await changeover.tenants()
    summary.tenants = len(tenants)
    differed = 0
    for tenant in tenants:
        old, new = await changeover.old(tenant), await changeover.new(tenant)
        catching_up = _CatchingUp(old, new, model, summary, partial(report, tenant))
        differed += await catching_up.run()
    return differed


class _CatchingUp:
    """One round over one tenant."""

    def __init__(
        self,
        old: Store,
        new: Store,
        model: EmbeddingModel,
        summary: Summary,
        report: Callable[[Progress], None],
    ) -> None:
        self._old = old
        self._new = new
        self._model = model
        self._summary = summary
        self._report = report
        self._done = 0
        self._differed = 0

    async def run(self) -> int:
        """Make both indexes show the same documents; how many differed."""
        total = (await self._old.counts()).documents
        async with aclosing(_pairs(self._old, self._new)) as pairs:
            turn = asyncio.Lock()

            async def work() -> None:
                while True:
                    async with turn:
                        pair = await anext(pairs, None)
                    if pair is None:
                        return
                    await self._settle(pair)
                    self._report(Progress(self._done, total, self._summary.chunks))

            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(CONCURRENT_DOCUMENTS):
                        group.create_task(work())
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from None
        return self._differed

    async def _settle(self, pair: _Pair) -> None:
        if pair.differs:
            self._differed += 1
            if pair.old is None:
                await self._new.remove(pair.document_id)
                self._summary.removed += 1
            elif await _is_copied(self._old, self._new, self._model, pair.old):
                self._summary.documents += 1
                self._summary.chunks += pair.old.chunk_count
        self._done += pair.old is not None


async def _is_copied(old: Store, new: Store, model: EmbeddingModel, document: Document) -> bool:
    """Copy a live version; False when it was replaced meanwhile, which the next round finds."""
    parts = _parts(old, document)
    try:
        async with aclosing(parts), aclosing(replacing.replace(new, model, parts)) as events:
            async for _ in events:
                pass
    except _Replaced:
        return False
    return True


async def _parts(old: Store, document: Document) -> AsyncGenerator[Part, None]:
    """A live version as ingest once sent it."""
    yield Header(document.version)
    sent = 0
    while sent < document.chunk_count:
        after = sent - 1 if sent else None
        chunks = await old.chunks_of(document.document_id, after, CHUNKS_A_BATCH)
        _check(document.version, [chunk.version for chunk in chunks])
        yield ChunkBatch(tuple(replace(chunk, indexed_at=None) for chunk in chunks))
        sent += len(chunks)
    scope = Scope(document_ids=(document.document_id,))
    terms = await old.defined_terms(scope) if document.definition_count else ()
    sent = 0
    for start in range(0, len(terms), TERMS_A_BATCH):
        definitions = await old.definitions(terms[start : start + TERMS_A_BATCH], scope)
        _check(document.version, [definition.version for definition in definitions])
        for first in range(0, len(definitions), replacing.MAX_BATCH):
            yield DefinitionBatch(tuple(definitions[first : first + replacing.MAX_BATCH]))
        sent += len(definitions)
    _check(document.version, [document.version] if sent == document.definition_count else [])
    yield Commit(document)


def _check(wanted: Version, found: Sequence[Version]) -> None:
    """Raise unless something was found, and nothing of another version."""
    if set(found) != {wanted}:
        raise _Replaced


async def _pairs(old: Store, new: Store) -> AsyncGenerator[_Pair, None]:
    """Every document of either index once, by id; both are ordered alike."""
    async with aclosing(_documents(old)) as olds, aclosing(_documents(new)) as news:
        left, right = await anext(olds, None), await anext(news, None)
        while left or right:
            first = min(_id(document) for document in (left, right) if document)
            here = [document if document and _id(document) == first else None for document in (left, right)]
            yield _Pair(first, *here)
            left = await anext(olds, None) if here[0] else left
            right = await anext(news, None) if here[1] else right


async def _documents(store: Store) -> AsyncGenerator[Document, None]:
    """All documents by id."""
    after = None
    while page := await store.documents(EVERYWHERE, after, PAGE):
        for document in page:
            yield document
        after = _id(page[-1])


def _id(document: Document) -> DocumentId:
    return document.document_id
