"""Where a question is to be answered: in the documents that it names, by card or by head, or in all."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from corpus.documents import DocumentId
from corpus.spans import Span
from services.retrieval.corpus import Scope
from services.retrieval.names.finding import NamesFound, QuestionName, find, is_unknown, nearest
from services.retrieval.names.unmatched import UnmatchedName
from services.retrieval.names.words import stems_in_capitals
from services.retrieval.overview import Overview
from services.retrieval.queries import SearchQuery
from services.retrieval.routing import Routed
from services.retrieval.store.port import Store

MAX_NAMED = 100
"""Documents that a search may be told to stay in."""
MENTIONS = 20
"""Chunks in which the words of a name are looked for together: those that hold most of them."""


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name by which a question asks for a document, and that none of those searched bears."""

    text: str
    span: Span
    """In code points of the question."""
    nearest: tuple[str, ...]
    """Names of parties that are spelled most like it, the most alike first, at most three."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a question is to be answered, and what it asks there."""

    clause_question: str
    scope: Scope
    routed: tuple[Routed, ...] = ()
    """The documents that the question names, best first; empty when it names none."""
    names: tuple[QuestionName, ...] = ()
    """How it names them, when it does so by names of their cards."""
    unknown: tuple[UnknownName, ...] = ()

    @property
    def is_nowhere(self) -> bool:
        """Whether the question names nothing but what is not there."""
        return bool(self.unknown) and not self.names


class Router:
    """Finds where questions to one store are to be answered."""

    def __init__(self, store: Store, executor: Executor) -> None:
        self._store = store
        self._executor = executor

    async def route(self, query: SearchQuery, overview: Overview) -> Destination:
        """Where a question is to be answered, within the scope of its query. Raises `StoreUnavailable`."""
        everywhere = Destination(query.text, query.scope)
        if not query.route:
            return everywhere
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._executor, find, overview.names, query.text, query.scope)
        unknown = await self._unknown(found, query.scope, overview)
        named = tuple(dict.fromkeys(document for name in found.named for document in name.documents))
        if len(query.scope.document_ids) == 1:
            return Destination(found.clause_question, query.scope, unknown=unknown)
        if len(named) > MAX_NAMED:
            return replace(everywhere, unknown=unknown)
        if named:
            routed = tuple(Routed(document, 1.0) for document in named)
            scope = Scope(document_ids=named)
            return Destination(found.clause_question, scope, routed, found.named, unknown)
        if unknown or query.scope.document_ids:
            return replace(everywhere, unknown=unknown)
        route = overview.heads.route(query.text, query.scope.sources)
        if route is None:
            return everywhere
        scope = Scope(document_ids=tuple(routed.document_id for routed in route.documents))
        return Destination(route.clause_question, scope, route.documents)

    async def _unknown(self, found: NamesFound, scope: Scope, overview: Overview) -> tuple[UnknownName, ...]:
        unknown = []
        for name in found.unmatched:
            if is_unknown(overview.names, found, name, await self._standing_in(name, scope), scope):
                alike = await asyncio.get_running_loop().run_in_executor(
                    self._executor, nearest, overview.names, name.text, scope
                )
                unknown.append(UnknownName(name.text, name.span, alike))
        return tuple(unknown)

    async def _standing_in(self, name: UnmatchedName, scope: Scope) -> set[DocumentId]:
        """Documents with a passage that holds all words of a name, each with a capital."""
        hits = await self._store.keyword_hits(name.stems, MENTIONS, scope)
        chunks = await self._store.chunks([hit.chunk_id for hit in hits])
        return {
            chunk.document_id
            for chunk in chunks.values()
            if stems_in_capitals(" ".join([chunk.title, *chunk.heading_chain, chunk.text])).issuperset(
                name.stems
            )
        }
