"""The client: one method per thing that a caller may ask of the services; it returns protobuf messages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

import grpc
import grpc.aio

from clausegate.answer.v1.query_service_pb2 import (
    QueryRequest,
    QueryResponse,
    StreamQueryRequest,
    StreamQueryResponse,
)
from clausegate.answer.v1.query_service_pb2_grpc import QueryServiceStub
from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.corpus.v1.document_pb2 import Document
from clausegate.errors import clausegate_errors
from clausegate.ingest.v1.ingest_service_pb2 import (
    GetOriginalRequest,
    IngestProgress,
    IngestReceipt,
    RemoveDocumentRequest,
    RemoveDocumentResponse,
)
from clausegate.ingest.v1.ingest_service_pb2_grpc import IngestServiceStub
from clausegate.options import DefinitionOptions, QueryOptions, Scope, SearchOptions
from clausegate.retrieval.v1.document_service_pb2 import (
    GetDocumentRequest,
    ListDocumentsRequest,
    ListSourcesRequest,
    Source,
)
from clausegate.retrieval.v1.document_service_pb2_grpc import DocumentServiceStub
from clausegate.retrieval.v1.index_service_pb2 import DescribeIndexRequest, DescribeIndexResponse
from clausegate.retrieval.v1.index_service_pb2_grpc import IndexServiceStub
from clausegate.retrieval.v1.retrieval_service_pb2 import (
    CountTermsRequest,
    CountTermsResponse,
    FindDefinitionsRequest,
    GetChunksRequest,
    ResolvedDefinition,
    SearchRequest,
    SearchResponse,
)
from clausegate.retrieval.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from clausegate.upload import Target, upload

_PAGE_SIZE = 200
# Calls that change nothing are repeated by the channel when a service restarts; nothing else retries.
_READS = [
    {"service": "clausegate.answer.v1.QueryService"},
    {"service": "clausegate.retrieval.v1.RetrievalService"},
    {"service": "clausegate.retrieval.v1.DocumentService"},
    {"service": "clausegate.retrieval.v1.IndexService", "method": "DescribeIndex"},
    {"service": "clausegate.ingest.v1.IngestService", "method": "GetOriginal"},
]
_SERVICE_CONFIG = json.dumps(
    {
        "methodConfig": [
            {
                "name": _READS,
                "retryPolicy": {
                    "maxAttempts": 4,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ]
    }
)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the services listen, each `host:port` or `unix:/path`."""

    ingest: str
    retrieval: str
    answer: str


def connect(address: str | Addresses, *, deadline_seconds: float = 30.0) -> Client:
    """A client of the services at `address`; one address means that all of them listen there.

    Use it as an async context manager. `deadline_seconds` bounds each call that names no deadline of its own.
    """
    addresses = Addresses(address, address, address) if isinstance(address, str) else address
    return Client(addresses, deadline_seconds)


class Client:
    """See `connect`. Every method raises `ClausegateError` when its call fails."""

    def __init__(self, addresses: Addresses, deadline_seconds: float) -> None:
        self._deadline_seconds = deadline_seconds
        options = [("grpc.service_config", _SERVICE_CONFIG)]
        self._channels = {
            address: grpc.aio.insecure_channel(address, options=options)
            for address in set(astuple(addresses))
        }
        retrieval = self._channels[addresses.retrieval]
        self._ingest = IngestServiceStub(self._channels[addresses.ingest])
        self._retrieval = RetrievalServiceStub(retrieval)
        self._documents = DocumentServiceStub(retrieval)
        self._index = IndexServiceStub(retrieval)
        self._queries = QueryServiceStub(self._channels[addresses.answer])

    async def __aenter__(self) -> Self:
        """Channels connect with the first call."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel what still runs and close the channels."""
        async with AsyncExitStack() as stack:
            for channel in self._channels.values():
                stack.push_async_callback(channel.close)

    async def query(
        self, query: str, *, deadline_seconds: float | None = None, **options: Unpack[QueryOptions]
    ) -> QueryResponse:
        """One cited answer, or one refusal (`response.HasField("refusal")`)."""
        with clausegate_errors():
            return await self._queries.Query(
                QueryRequest(query=query, **options), timeout=self._timeout(deadline_seconds)
            )

    async def stream_query(
        self, query: str, *, deadline_seconds: float | None = None, **options: Unpack[QueryOptions]
    ) -> AsyncIterator[StreamQueryResponse]:
        """The same as events; the last is `completed`. Closing the iterator cancels the work."""
        request = StreamQueryRequest(query=query, **options)
        call = self._queries.StreamQuery(request, timeout=self._timeout(deadline_seconds))
        try:
            with clausegate_errors():
                async for event in call:
                    yield event
        finally:
            call.cancel()

    async def search(
        self, query: str, *, deadline_seconds: float | None = None, **options: Unpack[SearchOptions]
    ) -> SearchResponse:
        """The chunks that best match, with their scores."""
        with clausegate_errors():
            return await self._retrieval.Search(
                SearchRequest(query=query, **options), timeout=self._timeout(deadline_seconds)
            )

    async def find_definitions(
        self, *, deadline_seconds: float | None = None, **options: Unpack[DefinitionOptions]
    ) -> AsyncIterator[ResolvedDefinition]:
        """Definitions of `terms`, or of all terms that `passages` use; pages are fetched as needed."""
        request = FindDefinitionsRequest(page_size=_PAGE_SIZE, **options)
        while True:
            with clausegate_errors():
                page = await self._retrieval.FindDefinitions(request, timeout=self._timeout(deadline_seconds))
            for definition in page.definitions:
                yield definition
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def get_chunks(
        self, chunk_ids: Iterable[str], *, deadline_seconds: float | None = None
    ) -> list[Chunk]:
        """Live chunks in the order asked, at most 100."""
        with clausegate_errors():
            response = await self._retrieval.GetChunks(
                GetChunksRequest(chunk_ids=chunk_ids), timeout=self._timeout(deadline_seconds)
            )
        return list(response.chunks)

    async def count_terms(
        self, terms: Iterable[str], *, deadline_seconds: float | None = None, **scope: Unpack[Scope]
    ) -> CountTermsResponse:
        """In how many live chunks each term stands, and what was searched."""
        with clausegate_errors():
            return await self._retrieval.CountTerms(
                CountTermsRequest(terms=terms, **scope), timeout=self._timeout(deadline_seconds)
            )

    async def ingest(
        self,
        content: bytes | Path,
        *,
        source: str,
        path: str,
        progress: Callable[[IngestProgress], None] | None = None,
        deadline_seconds: float = 600.0,
    ) -> IngestReceipt:
        """Make a file the live version of the document `{source}/{path}`.

        Bytes that are indexed already are not sent. Repeating after a failure is safe; until the receipt the
        old version answers. `progress` is called for every report of the service.
        """
        with clausegate_errors():
            return await upload(
                self._ingest, content, Target(source, path, deadline_seconds), progress or _ignore
            )

    async def remove_document(
        self, document_id: str, *, deadline_seconds: float | None = None
    ) -> RemoveDocumentResponse:
        """Remove a document from index and archive."""
        with clausegate_errors():
            return await self._ingest.RemoveDocument(
                RemoveDocumentRequest(document_id=document_id), timeout=self._timeout(deadline_seconds)
            )

    async def get_document(self, document_id: str, *, deadline_seconds: float | None = None) -> Document:
        """A document as its live version stands in the index."""
        with clausegate_errors():
            response = await self._documents.GetDocument(
                GetDocumentRequest(document_id=document_id), timeout=self._timeout(deadline_seconds)
            )
        return response.document

    async def get_original(
        self, document_id: str, *, deadline_seconds: float | None = None
    ) -> AsyncIterator[bytes]:
        """The file's bytes as they were ingested, in parts of at most 1 MiB."""
        request = GetOriginalRequest(document_id=document_id)
        call = self._ingest.GetOriginal(request, timeout=self._timeout(deadline_seconds))
        try:
            with clausegate_errors():
                async for part in call:
                    yield part.data
        finally:
            call.cancel()

    async def documents(
        self, sources: Iterable[str] = (), *, deadline_seconds: float | None = None
    ) -> AsyncIterator[Document]:
        """All documents of these sources by id; pages are fetched as needed."""
        request = ListDocumentsRequest(sources=sources, page_size=_PAGE_SIZE)
        while True:
            with clausegate_errors():
                page = await self._documents.ListDocuments(request, timeout=self._timeout(deadline_seconds))
            for document in page.documents:
                yield document
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def sources(self, *, deadline_seconds: float | None = None) -> AsyncIterator[Source]:
        """All sources that have documents by name; pages are fetched as needed."""
        request = ListSourcesRequest(page_size=_PAGE_SIZE)
        while True:
            with clausegate_errors():
                page = await self._documents.ListSources(request, timeout=self._timeout(deadline_seconds))
            for source in page.sources:
                yield source
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def describe_index(self, *, deadline_seconds: float | None = None) -> DescribeIndexResponse:
        """What the index holds and how it was made."""
        with clausegate_errors():
            return await self._index.DescribeIndex(
                DescribeIndexRequest(), timeout=self._timeout(deadline_seconds)
            )

    def _timeout(self, deadline_seconds: float | None) -> float:
        return self._deadline_seconds if deadline_seconds is None else deadline_seconds


def _ignore(progress: IngestProgress) -> None:
    """Nobody asked for progress."""
