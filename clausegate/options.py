"""What may be said beside a question: keyword arguments of the client's methods; None is as if not said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from clausegate.answer.v1.research_service_pb2 import UnverifiedSnippets
from clausegate.retrieval.v1.retrieval_service_pb2 import DocumentVersion, Passage, SearchMode


class Scope(TypedDict, total=False):
    """Where to look; everywhere when empty."""

    sources: Iterable[str]
    document_ids: Iterable[str]


class QueryOptions(Scope, total=False):
    """See `clausegate.answer.v1.QueryRequest`."""

    gate: bool
    grading: bool
    debug: bool
    max_cost_usd: float | None
    dry_run: bool
    everywhere: bool


class EachOptions(Scope, total=False):
    """See `clausegate.answer.v1.QueryEachRequest`."""

    max_cost_usd: float | None


class SnippetOptions(TypedDict, total=False):
    """See `clausegate.answer.v1.ExtractSnippetsRequest`."""

    source_ids: Iterable[str]
    max_snippets: int
    unverified: UnverifiedSnippets.ValueType
    max_cost_usd: float | None


class ArticleOptions(Scope, total=False):
    """See `clausegate.answer.v1.CompileArticleRequest`."""

    topic: str
    article_id: str
    max_cost_usd: float | None
    format: str


class QueriesOptions(TypedDict, total=False):
    """See `clausegate.answer.v1.GenerateQueriesRequest`."""

    category: str
    locality: str
    count: int | None
    max_cost_usd: float | None


class RewriteOptions(Scope, total=False):
    """See `clausegate.answer.v1.RewriteRequest`."""

    before: str
    after: str
    reference_tokens: int
    max_cost_usd: float | None


class ContextOptions(Scope, total=False):
    """See `clausegate.retrieval.v1.AssembleContextRequest`."""

    token_budget: int


class SearchOptions(Scope, total=False):
    """See `clausegate.retrieval.v1.SearchRequest`."""

    mode: SearchMode.ValueType
    top_k: int
    vector_k: int
    keyword_k: int
    background: bool
    route: bool
    at_least: Iterable[DocumentVersion]


class DefinitionOptions(Scope, total=False):
    """See `clausegate.retrieval.v1.FindDefinitionsRequest`; exactly one of `terms` and `passages`."""

    terms: Iterable[str]
    passages: Iterable[Passage]
    max_depth: int
