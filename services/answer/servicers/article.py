"""What the answer service offers: `clausegate.answer.v1.ArticleService`."""

from __future__ import annotations

import grpc

from chassis.auth import current_caller
from clausegate.answer.v1 import answer_pb2
from clausegate.answer.v1 import article_service_pb2 as articles_pb2
from clausegate.answer.v1.article_service_pb2_grpc import ArticleServiceServicer
from clausegate.corpus.v1 import article_pb2
from corpus.codec import to_message
from services.answer.article import ArticleScope, CompileRequest
from services.answer.articles.compiling import Compiling
from services.answer.clients.articles import ArticlesClient
from services.answer.servicers.flat import asks_for_flat, flat
from services.answer.servicers.wire import usage_to_wire

CompileContext = grpc.aio.ServicerContext[
    articles_pb2.CompileArticleRequest, articles_pb2.CompileArticleResponse
]
GetContext = grpc.aio.ServicerContext[articles_pb2.GetArticleRequest, articles_pb2.GetArticleResponse]
ListContext = grpc.aio.ServicerContext[articles_pb2.ListArticlesRequest, articles_pb2.ListArticlesResponse]
DeleteContext = grpc.aio.ServicerContext[
    articles_pb2.DeleteArticleRequest, articles_pb2.DeleteArticleResponse
]


class ArticleServicer(ArticleServiceServicer):
    """Compiles articles, and passes on what the store of articles says of them."""

    def __init__(self, compiling: Compiling, store: ArticlesClient) -> None:
        self._compiling = compiling
        self._store = store

    async def CompileArticle(  # noqa: N802 - the name of the RPC
        self, request: articles_pb2.CompileArticleRequest, context: CompileContext
    ) -> articles_pb2.CompileArticleResponse:
        """Compile and store."""
        as_flat = asks_for_flat(request.format)
        asked = CompileRequest(
            scope=ArticleScope(tuple(request.sources), tuple(request.document_ids), request.topic),
            article_id=request.article_id,
            max_cost_usd=request.max_cost_usd if request.HasField("max_cost_usd") else None,
        )
        compiled = await self._compiling.compile(asked, current_caller())
        article = to_message(compiled.article, article_pb2.Article)
        return articles_pb2.CompileArticleResponse(
            article=None if as_flat else article,
            flat=flat(article) if as_flat else None,
            metadata=to_message(compiled.metadata, answer_pb2.Metadata),
            usage=usage_to_wire(compiled.usage),
        )

    async def GetArticle(  # noqa: N802 - the name of the RPC
        self, request: articles_pb2.GetArticleRequest, context: GetContext
    ) -> articles_pb2.GetArticleResponse:
        """One article."""
        as_flat = asks_for_flat(request.format)
        article = await self._store.read(request.article_id)
        if as_flat:
            return articles_pb2.GetArticleResponse(flat=flat(article))
        return articles_pb2.GetArticleResponse(article=article)

    async def ListArticles(  # noqa: N802 - the name of the RPC
        self, request: articles_pb2.ListArticlesRequest, context: ListContext
    ) -> articles_pb2.ListArticlesResponse:
        """A page of articles."""
        page = await self._store.page(
            stale=request.stale, page_size=request.page_size, page_token=request.page_token
        )
        return articles_pb2.ListArticlesResponse(articles=page.articles, next_page_token=page.next_page_token)

    async def DeleteArticle(  # noqa: N802 - the name of the RPC
        self, request: articles_pb2.DeleteArticleRequest, context: DeleteContext
    ) -> articles_pb2.DeleteArticleResponse:
        """Delete one."""
        await self._store.remove(request.article_id)
        return articles_pb2.DeleteArticleResponse()
