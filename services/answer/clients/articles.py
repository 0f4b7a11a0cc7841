"""Keeps articles with the retrieval service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import grpc

from chassis.channel import time_left
from chassis.errors import ServiceError
from chassis.status import upstream_errors
from clausegate.corpus.v1 import article_pb2
from clausegate.retrieval.v1 import article_store_service_pb2 as store_pb2
from clausegate.retrieval.v1.article_store_service_pb2_grpc import ArticleStoreServiceStub
from corpus.codec import to_message
from services.answer.article import Article, ArticleScope

_T = TypeVar("_T")


class ArticlesClient:
    """The calls that articles need. Every one raises `ServiceError` when it fails.

    Articles that are only passed on stay messages: `read`, `page` and `remove` are for the servicer.
    """

    def __init__(self, channel: grpc.aio.Channel, deadline_seconds: float) -> None:
        """`deadline_seconds` bounds each call; the caller's own deadline may be shorter."""
        self._store = ArticleStoreServiceStub(channel)
        self._deadline_seconds = deadline_seconds

    async def put(self, article: Article) -> Article:
        """Store an article in place of the one with its id; the same, with its state as stored.

        An error names the fields as requests of this service do.
        """
        request = store_pb2.PutArticleRequest(article=to_message(article, article_pb2.Article))
        try:
            response = await self._call(self._store.PutArticle, request)
        except ServiceError as error:
            error.field = error.field and error.field.removeprefix("article.")
            raise
        return replace(article, stale=response.article.stale)

    async def scope(self, article_id: str) -> ArticleScope:
        """What an article was compiled from; ARTICLE_NOT_FOUND."""
        article = await self.read(article_id)
        return ArticleScope(tuple(article.sources), tuple(article.document_ids), article.topic)

    async def find(self, titles: Sequence[str]) -> Mapping[str, str]:
        """The articles of these titles, at most 100, by title as asked; others are left out."""
        if not titles:
            return {}
        request = store_pb2.FindArticlesRequest(titles=titles)
        response = await self._call(self._store.FindArticles, request)
        return {article.title: article.article_id for article in response.articles}

    async def read(self, article_id: str) -> article_pb2.Article:
        """An article; ARTICLE_NOT_FOUND."""
        request = store_pb2.ReadArticleRequest(article_id=article_id)
        return (await self._call(self._store.ReadArticle, request)).article

    async def page(self, *, stale: bool, page_size: int, page_token: str) -> store_pb2.ReadArticlesResponse:
        """A page of articles, all of them or those whose documents have changed."""
        request = store_pb2.ReadArticlesRequest(stale=stale, page_size=page_size, page_token=page_token)
        return await self._call(self._store.ReadArticles, request)

    async def remove(self, article_id: str) -> None:
        """Delete an article; ARTICLE_NOT_FOUND."""
        request = store_pb2.RemoveArticleRequest(article_id=article_id)
        await self._call(self._store.RemoveArticle, request)

    async def _call(self, method: Callable[..., Awaitable[_T]], request: object) -> _T:
        with upstream_errors():
            return await method(request, timeout=time_left(self._deadline_seconds))
