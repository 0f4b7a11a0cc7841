"""Looking things up in the index: chunks, definitions, counts, and text for writers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Unpack

from clausegate.connection import Channels, Connection
from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.options import ContextOptions, DefinitionOptions, Scope, SearchOptions
from clausegate.retrieval.v1.index_service_pb2 import DescribeIndexRequest, DescribeIndexResponse
from clausegate.retrieval.v1.index_service_pb2_grpc import IndexServiceStub
from clausegate.retrieval.v1.retrieval_service_pb2 import (
    AssembleContextRequest,
    AssembleContextResponse,
    CountTermsRequest,
    CountTermsResponse,
    FindDefinitionsRequest,
    GetChunksRequest,
    ListChunksRequest,
    ResolvedDefinition,
    SearchRequest,
    SearchResponse,
)
from clausegate.retrieval.v1.retrieval_service_pb2_grpc import RetrievalServiceStub


class Searches(Connection):
    """Calls of `RetrievalService` and `IndexService`."""

    def __init__(self, channels: Channels) -> None:
        super().__init__(channels)
        self._retrieval = RetrievalServiceStub(channels.retrieval)
        self._index = IndexServiceStub(channels.retrieval)

    async def search(
        self, query: str, *, deadline_seconds: float | None = None, **options: Unpack[SearchOptions]
    ) -> SearchResponse:
        """The chunks that best match, with their scores."""
        request = SearchRequest(query=query, **options)
        return await self._answer(self._retrieval.Search, request, deadline_seconds)

    async def find_definitions(
        self, *, deadline_seconds: float | None = None, **options: Unpack[DefinitionOptions]
    ) -> AsyncIterator[ResolvedDefinition]:
        """Definitions of `terms`, or of all terms that `passages` use; pages are fetched as needed."""
        request = FindDefinitionsRequest(**options)
        async for page in self._pages(self._retrieval.FindDefinitions, request, deadline_seconds):
            for definition in page.definitions:
                yield definition

    async def get_chunks(
        self, chunk_ids: Iterable[str], *, deadline_seconds: float | None = None
    ) -> list[Chunk]:
        """Live chunks in the order asked, at most 100."""
        request = GetChunksRequest(chunk_ids=chunk_ids)
        return list((await self._answer(self._retrieval.GetChunks, request, deadline_seconds)).chunks)

    async def chunks(
        self, document_id: str, *, html: bool = False, deadline_seconds: float | None = None
    ) -> AsyncIterator[Chunk]:
        """The live chunks of a document in order, with `html` as that too; pages are fetched as needed."""
        request = ListChunksRequest(document_id=document_id, html=html)
        async for page in self._pages(self._retrieval.ListChunks, request, deadline_seconds):
            for chunk in page.chunks:
                yield chunk

    async def assemble_context(
        self, query: str = "", *, deadline_seconds: float | None = None, **options: Unpack[ContextOptions]
    ) -> AssembleContextResponse:
        """Source text for a writer: what matches `query` best, or documents from their beginnings."""
        request = AssembleContextRequest(query=query, **options)
        return await self._answer(self._retrieval.AssembleContext, request, deadline_seconds)

    async def count_terms(
        self, terms: Iterable[str], *, deadline_seconds: float | None = None, **scope: Unpack[Scope]
    ) -> CountTermsResponse:
        """In how many live chunks each term stands, and what was searched."""
        request = CountTermsRequest(terms=terms, **scope)
        return await self._answer(self._retrieval.CountTerms, request, deadline_seconds)

    async def describe_index(self, *, deadline_seconds: float | None = None) -> DescribeIndexResponse:
        """What the index holds and how it was made."""
        return await self._answer(self._index.DescribeIndex, DescribeIndexRequest(), deadline_seconds)
