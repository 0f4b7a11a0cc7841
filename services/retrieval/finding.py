"""Answers a request for definitions, page by page."""

from __future__ import annotations

from dataclasses import dataclass

from chassis.errors import InvalidInput
from services.retrieval.corpus import Scope
from services.retrieval.definitions import Glossary, Passage, ResolvedDefinition, define, resolve
from services.retrieval.paging import Page, page_position, page_token
from services.retrieval.queries import check_scope
from services.retrieval.store.port import Store


@dataclass(frozen=True, slots=True)
class DefinitionQuery:
    """See `clausegate.retrieval.v1.FindDefinitionsRequest`."""

    terms: tuple[str, ...]
    passages: tuple[Passage, ...]
    scope: Scope
    max_depth: int
    page_size: int
    page_token: str

    def __post_init__(self) -> None:
        """Raise `InvalidInput` unless exactly one of terms and passages is given."""
        if bool(self.terms) == bool(self.passages):
            raise InvalidInput("Exactly one of terms and passages must be given.", field="terms")


class Finder:
    """Finds definitions in one store."""

    def __init__(self, store: Store, glossary: Glossary) -> None:
        self._store = store
        self._glossary = glossary

    async def find(self, query: DefinitionQuery) -> tuple[Page[ResolvedDefinition], str]:
        """A page of definitions, and the revision that was read.

        Raises `SourceNotFound`, `DocumentNotFound`, and `InvalidInput` for a token of another request or of
        another state of the index.
        """
        await check_scope(self._store, query.scope)
        revision = await self._store.revision()
        request = ("definitions", query.terms, query.passages, query.scope, query.max_depth, revision)
        start = int(page_position(query.page_token, *request) or 0)
        found = await self._find(query, revision)
        end = start + query.page_size
        more = end < len(found)
        return Page(tuple(found[start:end]), page_token(str(end), *request) if more else ""), revision

    async def _find(self, query: DefinitionQuery, revision: str) -> list[ResolvedDefinition]:
        if query.terms:
            return await define(self._store, query.terms, query.scope)
        terms = await self._glossary.terms(query.scope, revision)
        return await resolve(self._store, terms, query.passages, query.scope, query.max_depth)
