"""One index for each tenant, and everything that works over it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Self

from inference.embedding.model import EmbeddingModel
from inference.tokens import TokenCounter
from services.retrieval.context import Assembler
from services.retrieval.definitions import Glossary
from services.retrieval.finding import Finder
from services.retrieval.overview import Overviews
from services.retrieval.search import Searcher
from services.retrieval.store.port import Store, StoreUnavailable

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Index:
    """The index of one tenant."""

    store: Store
    model: EmbeddingModel
    overviews: Overviews
    searcher: Searcher
    finder: Finder
    assembler: Assembler

    @classmethod
    def over(cls, store: Store, model: EmbeddingModel, counter: TokenCounter, executor: Executor) -> Self:
        """Everything that works over `store`; `executor` takes what would keep the event loop busy."""
        overviews = Overviews(store, executor)
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
    ) -> None:
        self._open_store = open_store
        self._model = model
        self._counter = counter
        self._executor = executor
        self._open: dict[str, Index] = {}
        self._opening = asyncio.Lock()

    async def of(self, tenant: str) -> Index:
        """The index of `tenant`. Raises `StoreUnavailable` and `EmbeddingModelMismatch`."""
        if tenant in self._open:  # without waiting for another tenant's to be opened
            return self._open[tenant]
        async with self._opening:
            if tenant not in self._open:
                store = await self._open_store(tenant)
                self._open[tenant] = Index.over(store, self._model, self._counter, self._executor)
            return self._open[tenant]

    async def warm(self, tenant: str) -> None:
        """Open the index of `tenant` before it is asked for, and begin to read its overview.

        Left to its first call when the store may be there by then. Raises what `of` does otherwise.
        """
        try:
            index = await self.of(tenant)
        except StoreUnavailable as error:
            if error.retry_after_seconds is None:
                raise
            logger.warning("an index cannot be opened yet", extra={"tenant": tenant, "why": error.message})
        else:
            index.overviews.refresh()

    async def close(self) -> None:
        """Stop what runs in the background; the stores belong to whoever opened them."""
        for index in self._open.values():
            await index.overviews.close()
