"""Asking the documents, and checking what is said about them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Unpack, cast

from clausegate.answer.v1.grounding_service_pb2 import (
    CheckGroundingRequest,
    CheckGroundingResponse,
    GroundingClaim,
    VerifyCitationRequest,
    VerifyCitationResponse,
)
from clausegate.answer.v1.grounding_service_pb2_grpc import GroundingServiceStub
from clausegate.answer.v1.query_service_pb2 import (
    QueryEachRequest,
    QueryEachResponse,
    QueryRequest,
    StreamQueryRequest,
    StreamQueryResponse,
)
from clausegate.answer.v1.query_service_pb2_grpc import QueryServiceStub
from clausegate.answer.v1.research_service_pb2 import ExtractSnippetsRequest, ExtractSnippetsResponse
from clausegate.answer.v1.research_service_pb2_grpc import ResearchServiceStub
from clausegate.answers import Answer
from clausegate.connection import Channels, Connection
from clausegate.corpus.v1.citation_pb2 import Citation
from clausegate.options import EachOptions, QueryOptions, Scope, SnippetOptions


class Questions(Connection):
    """Calls of `QueryService`, `ResearchService` and `GroundingService`."""

    def __init__(self, channels: Channels) -> None:
        super().__init__(channels)
        self._queries = QueryServiceStub(channels.answer)
        self._research = ResearchServiceStub(channels.answer)
        self._grounding = GroundingServiceStub(channels.answer)

    async def query(
        self, query: str, *, deadline_seconds: float | None = None, **options: Unpack[QueryOptions]
    ) -> Answer:
        """One cited answer, what is only related, or a refusal: `outcome` says which, and `refused`."""
        request = QueryRequest(query=query, **options)
        return cast(Answer, await self._answer(self._queries.Query, request, deadline_seconds))

    def stream_query(
        self, query: str, *, deadline_seconds: float | None = None, **options: Unpack[QueryOptions]
    ) -> AsyncIterator[StreamQueryResponse]:
        """The same as events; the last is `completed`. Closing the iterator cancels the work."""
        request = StreamQueryRequest(query=query, **options)
        return self._events(self._queries.StreamQuery, request, deadline_seconds)

    def query_each(
        self, queries: Iterable[str], *, deadline_seconds: float | None = None, **options: Unpack[EachOptions]
    ) -> AsyncIterator[QueryEachResponse]:
        """Questions asked of each document by itself: `begun`, every `cell` in order, and `completed`.

        A cell that fails says so and the others go on. Closing the iterator cancels the work.
        """
        request = QueryEachRequest(queries=queries, **options)
        return self._events(self._queries.QueryEach, request, deadline_seconds)

    def snippets(
        self,
        query: str,
        *,
        project: str = "-",
        deadline_seconds: float | None = None,
        **options: Unpack[SnippetOptions],
    ) -> AsyncIterator[ExtractSnippetsResponse]:
        """Verbatim passages that bear on a question, each a `result`; the last event is `done`, the whole.

        `project` names the set of sources to search, `-` all of them.
        """
        request = ExtractSnippetsRequest(project=project, query=query, **options)
        return self._events(self._research.ExtractSnippets, request, deadline_seconds)

    async def check_grounding(
        self,
        text: str = "",
        *,
        claims: Iterable[GroundingClaim] = (),
        deadline_seconds: float | None = None,
        **scope: Unpack[Scope],
    ) -> CheckGroundingResponse:
        """Whether a text, or claims with their quotes, stand on the documents. Asks no model."""
        request = CheckGroundingRequest(text=text, claims=claims, **scope)
        return await self._answer(self._grounding.CheckGrounding, request, deadline_seconds)

    async def verify_citation(
        self, citation: Citation, *, deadline_seconds: float | None = None
    ) -> VerifyCitationResponse:
        """Whether a citation is signed by the service, and where its words stand now. Asks no model."""
        request = VerifyCitationRequest(citation=citation)
        return await self._answer(self._grounding.VerifyCitation, request, deadline_seconds)
