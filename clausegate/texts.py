"""What models make of documents: articles, queries, rewritten texts; and which models those are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Unpack

from clausegate.answer.v1.article_service_pb2 import (
    CompileArticleRequest,
    CompileArticleResponse,
    DeleteArticleRequest,
    FlatArticle,
    GetArticleRequest,
    ListArticlesRequest,
)
from clausegate.answer.v1.article_service_pb2_grpc import ArticleServiceStub
from clausegate.answer.v1.model_service_pb2 import DescribeModelsRequest, DescribeModelsResponse
from clausegate.answer.v1.model_service_pb2_grpc import ModelServiceStub
from clausegate.answer.v1.query_generation_service_pb2 import GenerateQueriesRequest, GenerateQueriesResponse
from clausegate.answer.v1.query_generation_service_pb2_grpc import QueryGenerationServiceStub
from clausegate.answer.v1.rewrite_service_pb2 import (
    RewriteRequest,
    RewriteResponse,
    StreamRewriteRequest,
    StreamRewriteResponse,
)
from clausegate.answer.v1.rewrite_service_pb2_grpc import RewriteServiceStub
from clausegate.connection import Channels, Connection
from clausegate.corpus.v1.article_pb2 import Article
from clausegate.options import ArticleOptions, QueriesOptions, RewriteOptions


class Texts(Connection):
    """Calls of `ArticleService`, `QueryGenerationService`, `RewriteService` and `ModelService`."""

    def __init__(self, channels: Channels) -> None:
        super().__init__(channels)
        self._articles = ArticleServiceStub(channels.answer)
        self._generation = QueryGenerationServiceStub(channels.answer)
        self._rewriting = RewriteServiceStub(channels.answer)
        self._models = ModelServiceStub(channels.answer)

    async def compile_article(
        self, *, deadline_seconds: float | None = None, **options: Unpack[ArticleOptions]
    ) -> CompileArticleResponse:
        """Compile an article from `sources` or `document_ids`, or again the one named `article_id`."""
        request = CompileArticleRequest(**options)
        return await self._answer(self._articles.CompileArticle, request, deadline_seconds)

    async def get_article(self, article_id: str, *, deadline_seconds: float | None = None) -> Article:
        """One article, with its state of now."""
        request = GetArticleRequest(article_id=article_id)
        return (await self._answer(self._articles.GetArticle, request, deadline_seconds)).article

    async def get_flat_article(
        self, article_id: str, *, deadline_seconds: float | None = None
    ) -> FlatArticle:
        """One article as plain values, without its citations."""
        request = GetArticleRequest(article_id=article_id, format="flat")
        return (await self._answer(self._articles.GetArticle, request, deadline_seconds)).flat

    async def articles(
        self, *, stale: bool = False, deadline_seconds: float | None = None
    ) -> AsyncIterator[Article]:
        """All articles by id, without their bodies; with `stale` those whose documents changed since."""
        request = ListArticlesRequest(stale=stale)
        async for page in self._pages(self._articles.ListArticles, request, deadline_seconds):
            for article in page.articles:
                yield article

    async def delete_article(self, article_id: str, *, deadline_seconds: float | None = None) -> None:
        """Delete an article."""
        request = DeleteArticleRequest(article_id=article_id)
        await self._answer(self._articles.DeleteArticle, request, deadline_seconds)

    async def generate_queries(
        self, topic: str, *, deadline_seconds: float | None = None, **options: Unpack[QueriesOptions]
    ) -> GenerateQueriesResponse:
        """Exactly `count` (10) distinct search queries for a topic."""
        request = GenerateQueriesRequest(topic=topic, **options)
        return await self._answer(self._generation.GenerateQueries, request, deadline_seconds)

    async def rewrite(
        self,
        text: str,
        instruction: str,
        *,
        deadline_seconds: float | None = None,
        **options: Unpack[RewriteOptions],
    ) -> RewriteResponse:
        """`text` rewritten as instructed, with documents for reference only."""
        request = RewriteRequest(text=text, instruction=instruction, **options)
        return await self._answer(self._rewriting.Rewrite, request, deadline_seconds)

    def stream_rewrite(
        self,
        text: str,
        instruction: str,
        *,
        deadline_seconds: float | None = None,
        **options: Unpack[RewriteOptions],
    ) -> AsyncIterator[StreamRewriteResponse]:
        """The same sentence by sentence; the last event is `completed`. Closing the iterator cancels it."""
        request = StreamRewriteRequest(text=text, instruction=instruction, **options)
        return self._events(self._rewriting.StreamRewrite, request, deadline_seconds)

    async def describe_models(self, *, deadline_seconds: float | None = None) -> DescribeModelsResponse:
        """Which models are in force, where text goes for them, and what a thousand questions cost."""
        return await self._answer(self._models.DescribeModels, DescribeModelsRequest(), deadline_seconds)
