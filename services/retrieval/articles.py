"""Stored articles: what was compiled from documents, and whether these have changed since."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass

from chassis.errors import InvalidInput, NotFound
from corpus.documents import Version
from services.retrieval.corpus import Article, ArticleId, Scope
from services.retrieval.paging import Page, page_position, page_token
from services.retrieval.queries import at_most, visible
from services.retrieval.store.port import Store

MAX_ARTICLE_BYTES = 3 * 1024 * 1024
MAX_PAGE_BYTES = 3 * 1024 * 1024
"""Size of the articles of a page together, unless one alone is larger: a message has 4 MiB at most."""
MAX_TITLES = 100
ARTICLES_AT_ONCE = 50


class ArticleNotFound(NotFound):
    """No article has this id."""

    reason = "ARTICLE_NOT_FOUND"

    def __init__(self, article_id: str) -> None:
        super().__init__(f"There is no such article: {article_id}", field="article_id")


@dataclass(frozen=True, slots=True)
class CurrentArticle:
    """An article, and its state of now."""

    article: Article
    stale: bool
    """Whether documents of its scope were changed, added or removed since it was compiled."""


def fold_title(title: str) -> str:
    """What titles are compared by: without case and runs of white space."""
    return " ".join(title.casefold().split())


async def put(store: Store, article: Article) -> CurrentArticle:
    """Store an article in place of the one with its id. Raises `InvalidInput` unless it keeps its limits."""
    visible(article.article_id, "article.article_id")
    visible(article.title, "article.title")
    if not article.scope.sources and not article.scope.document_ids:
        raise InvalidInput("An article must have sources or documents.", field="article.sources")
    if len(article.record) + len(article.body.encode()) > MAX_ARTICLE_BYTES:
        raise InvalidInput("Must not exceed 3 MiB.", field="article")
    await store.records.put_article(article)
    return await _LiveVersions(store).current(article)


async def read(store: Store, article_id: str) -> CurrentArticle:
    """The article. Raises `ArticleNotFound`."""
    article = await store.records.article(_required(article_id))
    if article is None:
        raise ArticleNotFound(article_id)
    return await _LiveVersions(store).current(article)


async def list_articles(store: Store, only_stale: bool, size: int, token: str) -> Page[CurrentArticle]:
    """A page of articles by id, their bodies left out. Raises `InvalidInput` for a foreign token.

    It ends early only where it would become larger than a message may be.
    """
    request = ("articles", only_stale)
    live = _LiveVersions(store)
    page: list[CurrentArticle] = []
    page_bytes = 0
    async for article in _after(store, page_position(token, *request)):
        current = await live.current(article)
        if only_stale and not current.stale:
            continue
        page_bytes += len(article.record)
        if len(page) == size or (page and page_bytes > MAX_PAGE_BYTES):
            return Page(tuple(page), page_token(page[-1].article.article_id, *request))
        page.append(current)
    return Page(tuple(page), "")


async def remove(store: Store, article_id: str) -> None:
    """Remove an article. Raises `ArticleNotFound`."""
    if not await store.records.delete_article(_required(article_id)):
        raise ArticleNotFound(article_id)


async def find(store: Store, titles: Sequence[str]) -> tuple[tuple[str, ArticleId], ...]:
    """The titles that articles have, in the order asked, each with its article."""
    folded = [fold_title(title) for title in at_most(titles, MAX_TITLES, "titles")]
    found = await store.records.articles_titled(folded)
    return tuple((title, found[key]) for title, key in zip(titles, folded, strict=True) if key in found)


async def existing(store: Store, article_ids: Collection[ArticleId]) -> frozenset[ArticleId]:
    """Those among these that there are."""
    found = await asyncio.gather(*map(store.records.article, article_ids))
    return frozenset(article.article_id for article in found if article)


def _required(article_id: str) -> ArticleId:
    if not article_id:
        raise InvalidInput("Must not be empty.", field="article_id")
    return ArticleId(article_id)


async def _after(store: Store, position: str) -> AsyncIterator[Article]:
    after = ArticleId(position) or None
    while articles := await store.records.articles(after, ARTICLES_AT_ONCE):
        for article in articles:
            yield article
        after = articles[-1].article_id


class _LiveVersions:
    """What lies in the scopes of articles now; each scope is read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[Scope, frozenset[Version]] = {}

    async def current(self, article: Article) -> CurrentArticle:
        """The article with its state: its own documents count, else all of its sources."""
        ids = article.scope.document_ids
        scope = Scope(document_ids=ids) if ids else Scope(sources=article.scope.sources)
        if scope not in self._known:
            self._known[scope] = frozenset(await self._store.live_versions(scope))
        return CurrentArticle(article, stale=article.basis != self._known[scope])
