"""ArticleStoreService on the wire: messages to values, one call, values to messages.

An article is given out as it was put, or not at all: what is stored of it begins with its digests.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from datetime import UTC

import grpc

from chassis.auth import current_caller
from chassis.errors import DataLoss, InvalidInput
from clausegate.corpus.v1 import article_pb2
from clausegate.retrieval.v1 import article_store_service_pb2 as wire
from clausegate.retrieval.v1.article_store_service_pb2_grpc import ArticleStoreServiceServicer
from corpus.documents import DocumentId, Generation, Version
from services.retrieval import articles
from services.retrieval.articles import CurrentArticle
from services.retrieval.corpus import Article, ArticleId, Scope
from services.retrieval.indexes import Indexes
from services.retrieval.queries import MAX_PAGE, count
from services.retrieval.store.port import Store

Context = grpc.aio.ServicerContext[object, object]
DIGESTED = b"\0"
"""Begins a record with digests. No message begins so: records of earlier releases are messages alone."""
DIGEST_BYTES = hashlib.sha256().digest_size
logger = logging.getLogger(__name__)


class ArticleDamaged(DataLoss):
    """The store holds something else of an article than was put."""

    reason = "INDEX_DAMAGED"

    def __init__(self, article_id: ArticleId) -> None:
        super().__init__(
            f"The article {article_id} is not stored as it was compiled. Compile it again from its "
            "documents, or delete it."
        )


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
        shown = await _shown(store, page.items, with_bodies=False)
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


async def _shown(
    store: Store, found: Sequence[CurrentArticle], *, with_bodies: bool = True
) -> list[article_pb2.Article]:
    """Articles as the caller sees them: their links name no article that is gone, or that it may not see."""
    messages = [article_to_wire(article, with_body=with_bodies) for article in found]
    links = [link for message in messages for link in message.backlink_suggestions if link.article_id]
    there = await articles.existing(store, {ArticleId(link.article_id) for link in links})
    for link in links:
        if link.article_id not in there:
            link.article_id = ""
    return messages


def article_of(message: article_pb2.Article) -> Article:
    """An article as answer sends it."""
    try:
        compiled_at = message.compiled_at.ToDatetime(UTC)
    except ValueError as error:
        raise InvalidInput("Must be an instant.", field="article.compiled_at") from error
    return Article(
        article_id=ArticleId(message.article_id),
        title=message.title,
        scope=Scope(tuple(message.sources), tuple(map(DocumentId, message.document_ids))),
        basis=frozenset(
            Version(DocumentId(version.document_id), Generation(version.generation))
            for version in message.basis
        ),
        compiled_at=compiled_at,
        record=_record(message),
        body=message.article_body,
    )


def article_to_wire(current: CurrentArticle, *, with_body: bool = True) -> article_pb2.Article:
    """An article as callers see it. Raises `ArticleDamaged`."""
    article = current.article
    message = _read_record(article, with_body=with_body)
    message.article_body = article.body
    message.stale = current.stale
    return message


def _record(message: article_pb2.Article) -> bytes:
    """The digest of what follows, the digest of the body, and the message without body and state."""
    bare = article_pb2.Article()
    bare.CopyFrom(message)
    bare.ClearField("article_body")
    bare.ClearField("stale")
    rest = _digest(message.article_body.encode()) + bare.SerializeToString(deterministic=True)
    return DIGESTED + _digest(rest) + rest


def _read_record(article: Article, *, with_body: bool) -> article_pb2.Article:
    record = article.record
    if not record.startswith(DIGESTED):
        return article_pb2.Article.FromString(record)
    digest, rest = record[1 : 1 + DIGEST_BYTES], record[1 + DIGEST_BYTES :]
    is_intact = _digest(rest) == digest
    if with_body:
        is_intact = is_intact and _digest(article.body.encode()) == rest[:DIGEST_BYTES]
    if not is_intact:
        logger.error("the index is damaged", extra={"article": article.article_id})
        raise ArticleDamaged(article.article_id)
    return article_pb2.Article.FromString(rest[DIGEST_BYTES:])


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
