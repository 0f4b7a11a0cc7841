"""ArticleStoreService on the wire: messages to values, one call, values to messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

import grpc

from chassis.auth import current_caller
from chassis.errors import InvalidInput
from clausegate.corpus.v1 import article_pb2
from clausegate.retrieval.v1 import article_store_service_pb2 as wire
from clausegate.retrieval.v1.article_store_service_pb2_grpc import ArticleStoreServiceServicer
from services.retrieval import articles
from services.retrieval.articles import CurrentArticle
from services.retrieval.corpus import Article, ArticleId, DocumentId, Generation, Scope, Version
from services.retrieval.indexes import Indexes
from services.retrieval.queries import MAX_PAGE, count
from services.retrieval.store.port import Store

Context = grpc.aio.ServicerContext[object, object]


class ArticleStoreServicer(ArticleStoreServiceServicer):
    """Serves each caller its articles."""

    def __init__(self, indexes: Indexes) -> None:
        self._indexes = indexes

    async def PutArticle(  # noqa: N802
        self, request: wire.PutArticleRequest, context: Context
    ) -> wire.PutArticleResponse:
        """Store an article."""
        store = await self._store()
        stored = await articles.put(store, article_of(request.article))
        return wire.PutArticleResponse(article=(await _shown(store, [stored]))[0])

    async def ReadArticle(  # noqa: N802
        self, request: wire.ReadArticleRequest, context: Context
    ) -> wire.ReadArticleResponse:
        """Read one article."""
        store = await self._store()
        found = await articles.read(store, request.article_id)
        return wire.ReadArticleResponse(article=(await _shown(store, [found]))[0])

    async def ReadArticles(  # noqa: N802
        self, request: wire.ReadArticlesRequest, context: Context
    ) -> wire.ReadArticlesResponse:
        """Read a page of articles."""
        size = count(request.page_size, "page_size", default=50, limit=MAX_PAGE)
        store = await self._store()
        page = await articles.list_articles(store, request.stale, size, request.page_token)
        shown = await _shown(store, page.items)
        return wire.ReadArticlesResponse(articles=shown, next_page_token=page.next_token)

    async def RemoveArticle(  # noqa: N802
        self, request: wire.RemoveArticleRequest, context: Context
    ) -> wire.RemoveArticleResponse:
        """Remove an article."""
        await articles.remove(await self._store(), request.article_id)
        return wire.RemoveArticleResponse()

    async def FindArticles(  # noqa: N802
        self, request: wire.FindArticlesRequest, context: Context
    ) -> wire.FindArticlesResponse:
        """Find articles by title."""
        found = await articles.find(await self._store(), request.titles)
        return wire.FindArticlesResponse(
            articles=[wire.FoundArticle(title=title, article_id=article_id) for title, article_id in found]
        )

    async def _store(self) -> Store:
        index = await self._indexes.of(current_caller())
        return index.store


async def _shown(store: Store, found: Sequence[CurrentArticle]) -> list[article_pb2.Article]:
    """Articles as the caller sees them: their links name no article that is gone, or that it may not see."""
    messages = [article_to_wire(each) for each in found]
    links = [link for message in messages for link in message.backlink_suggestions if link.article_id]
    there = await articles.existing(store, {ArticleId(link.article_id) for link in links})
    for link in links:
        if link.article_id not in there:
            link.article_id = ""
    return messages


def article_of(message: article_pb2.Article) -> Article:
    """An article as answer sends it. Its record is the message without body and state."""
    record = article_pb2.Article()
    record.CopyFrom(message)
    record.ClearField("article_body")
    record.ClearField("stale")
    try:
        compiled_at = message.compiled_at.ToDatetime(UTC)
    except ValueError as error:
        raise InvalidInput("Must be an instant.", field="article.compiled_at") from error
    return Article(
        article_id=ArticleId(message.article_id),
        title=message.title,
        scope=Scope(tuple(message.sources), tuple(map(DocumentId, message.document_ids))),
        basis=frozenset(
            Version(DocumentId(each.document_id), Generation(each.generation)) for each in message.basis
        ),
        compiled_at=compiled_at,
        record=record.SerializeToString(deterministic=True),
        body=message.article_body,
    )


def article_to_wire(current: CurrentArticle) -> article_pb2.Article:
    """An article as callers see it."""
    message = article_pb2.Article.FromString(current.article.record)
    message.article_body = current.article.body
    message.stale = current.stale
    return message
