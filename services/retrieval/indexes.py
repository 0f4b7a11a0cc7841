"""An index for each tenant and for each set of sources of one, and everything that works over it."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Self
from weakref import WeakSet

from chassis.auth import Caller
from chassis.errors import ServiceError
from inference.embedding.model import EmbeddingModel
from inference.tokens import TokenCounter
from services.retrieval.context import Assembler
from services.retrieval.definitions import Finder, Glossary
from services.retrieval.overview import Overviews
from services.retrieval.search import Searcher
from services.retrieval.sizes import IndexSize
from services.retrieval.store.port import Store, StoreUnavailable
from services.retrieval.store.restricted import RestrictedStore
from services.retrieval.wholeness import check_whole

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Index:
    """The index of one tenant, or what lies of it in some sources."""

    store: Store
    model: EmbeddingModel
    overviews: Overviews
    searcher: Searcher
    finder: Finder
    assembler: Assembler

    @classmethod
    def over(
        cls,
        store: Store,
        model: EmbeddingModel,
        counter: TokenCounter,
        executor: Executor,
        size: IndexSize | None = None,
    ) -> Self:
        """Everything that works over `store`; `executor` takes what would keep the event loop busy."""
        overviews = Overviews(store, executor, size)
        glossary = Glossary(store)
        searcher = Searcher(store, model, overviews, glossary, executor)
        assembler = Assembler(store, searcher, counter, executor)
        return cls(store, model, overviews, searcher, Finder(store, glossary), assembler)


class Indexes:
    """Opens the index of a tenant when it is first asked for, and keeps it open."""

    def __init__(
        self,
        open_store: Callable[[str], Awaitable[Store]],
        model: EmbeddingModel,
        counter: TokenCounter,
        executor: Executor,
        max_restricted: int,
    ) -> None:
        """`max_restricted` sets of sources have an index at a time: the ones used last."""
        self._open_store = open_store
        self._model = model
        self._counter = counter
        self._executor = executor
        self._max_restricted = max_restricted
        self._open: dict[str, Index] = {}
        self._opening = asyncio.Lock()
        self._restricted: OrderedDict[tuple[str, frozenset[str]], Index] = OrderedDict()
        self._dropped: WeakSet[Overviews] = WeakSet()

    async def of(self, caller: Caller) -> Index:
        """All that the caller may see: the index of its tenant, or what lies of it in the caller's sources.

        Raises `StoreUnavailable` and `EmbeddingModelMismatch`.
        """
        whole = await self._of_tenant(caller.tenant)
        return self._within(whole, caller) if caller.sources else whole

    async def whole(self, caller: Caller) -> Index:
        """The same, of a tenant whose index has lost nothing. Raises `IndexLost`."""
        index = await self.of(caller)
        await check_whole(index.store)
        return index

    def stores(self) -> list[Store]:
        """The stores of all tenants that are open."""
        return [index.store for index in self._open.values()]

    async def _of_tenant(self, tenant: str) -> Index:
        if tenant in self._open:  # without waiting for another tenant's to be opened
            return self._open[tenant]
        async with self._opening:
            if tenant not in self._open:
                self._open[tenant] = self._over(await self._open_store(tenant), IndexSize())
            return self._open[tenant]

    def _within(self, whole: Index, caller: Caller) -> Index:
        key = (caller.tenant, caller.sources)
        if key not in self._restricted:
            self._restricted[key] = self._over(RestrictedStore(whole.store, caller.sources))
        self._restricted.move_to_end(key)
        while len(self._restricted) > self._max_restricted:
            # Not closed at once: a call may be working over it, and it goes with the last one.
            _, oldest = self._restricted.popitem(last=False)
            self._dropped.add(oldest.overviews)
        return self._restricted[key]

    def _over(self, store: Store, size: IndexSize | None = None) -> Index:
        return Index.over(store, self._model, self._counter, self._executor, size)

    async def warm(self, caller: Caller) -> None:
        """Open the index of `caller` before it is asked for, and begin to read its overview.

        Left to its first call when the store may be there by then. Raises what `of` does otherwise.
        """
        try:
            index = await self.of(caller)
        except StoreUnavailable as error:
            if error.retry_after_seconds is None:
                raise
            logger.warning(
                "an index cannot be opened yet", extra={"tenant": caller.tenant, "why": error.message}
            )
        else:
            index.overviews.refresh()

    async def first_overview(self, caller: Caller) -> None:
        """Wait until the overview of `caller` was read, or that failed, as the log says then."""
        with suppress(ServiceError):
            await asyncio.wait([(await self.of(caller)).overviews.refresh()])

    async def close(self) -> None:
        """Stop what runs in the background; the stores belong to whoever opened them."""
        kept = [index.overviews for index in (*self._open.values(), *self._restricted.values())]
        for overviews in (*kept, *self._dropped):
            await overviews.close()
