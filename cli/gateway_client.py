"""Calls the gateway's REST routes; bodies are the JSON form of the protobuf messages, both ways."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar
from urllib.parse import quote

import httpx
import httpx_sse
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message

from clausegate.answer.v1.query_service_pb2 import StreamQueryRequest, StreamQueryResponse
from clausegate.corpus.v1.document_pb2 import Document
from clausegate.ingest.v1.ingest_service_pb2 import (
    IngestDocumentResponse,
    IngestProgress,
    IngestReceipt,
    RemoveDocumentResponse,
)
from clausegate.retrieval.v1.document_service_pb2 import ListDocumentsResponse, ListSourcesResponse, Source
from clausegate.retrieval.v1.retrieval_service_pb2 import (
    FindDefinitionsResponse,
    ResolvedDefinition,
    SearchRequest,
    SearchResponse,
)
from cli.errors import CommandError
from cli.folders import LocalFile

M = TypeVar("M", bound=Message)
Page = TypeVar("Page", ListDocumentsResponse, ListSourcesResponse, FindDefinitionsResponse)
Parameters = Mapping[str, str | int | list[str]]
Event = dict[str, object]
"""A message of a stream as JSON: the name of the field that is set, and its value."""

PAGE_SIZE = 1000
TIMEOUT = httpx.Timeout(120.0, connect=5.0)
"""Seconds without a byte; a stream's heartbeats come oftener."""


class GatewayError(CommandError):
    """A call failed; the message is one line for people, naming the field and the reason."""

    def __init__(self, problem: Mapping[str, object]) -> None:
        super().__init__(_line(problem))
        self._problem = problem

    def problem(self) -> Mapping[str, object]:
        """As the gateway sent it."""
        return self._problem


class GatewayClient:
    """One method per route that the command line needs. All raise `GatewayError`."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def stream_query(self, request: StreamQueryRequest) -> AsyncIterator[StreamQueryResponse]:
        """The events of an answer; the last is `completed`."""
        async with self._events("/v1/query:stream", json=MessageToDict(request)) as events:
            async for event in events:
                yield _parsed(event, StreamQueryResponse())

    async def search(self, request: SearchRequest) -> SearchResponse:
        """The chunks that best match."""
        return await self._call("POST", "/v1/search", SearchResponse(), body=request)

    async def definitions(self, term: str, sources: list[str]) -> AsyncIterator[ResolvedDefinition]:
        """Definitions of a term."""
        parameters: Parameters = {"terms": term, "sources": sources}
        async for page in self._pages("/v1/definitions", parameters, FindDefinitionsResponse):
            for definition in page.definitions:
                yield definition

    async def documents(self, sources: list[str]) -> AsyncIterator[Document]:
        """Documents of these sources, all when empty, by id."""
        async for page in self._pages("/v1/documents", {"sources": sources}, ListDocumentsResponse):
            for document in page.documents:
                yield document

    async def sources(self) -> AsyncIterator[Source]:
        """Sources that have documents, by name."""
        async for page in self._pages("/v1/sources", {}, ListSourcesResponse):
            for source in page.sources:
                yield source

    async def remove_document(self, document_id: str) -> None:
        """Remove a document from index and archive."""
        await self._call("DELETE", f"/v1/documents/{quote(document_id)}", RemoveDocumentResponse())

    async def ingest(self, file: LocalFile, progress: Callable[[IngestProgress], None]) -> IngestReceipt:
        """Upload one file; `progress` is told what the service reports meanwhile."""
        receipt = None
        with file.location.open("rb") as content:
            form = {"source": file.source, "path": file.path}
            upload = {"file": (file.location.name, content)}
            async with self._events("/v1/documents", data=form, files=upload) as events:
                async for each in events:
                    event = _parsed(each, IngestDocumentResponse())
                    if event.HasField("progress"):
                        progress(event.progress)
                    elif event.HasField("receipt"):
                        receipt = event.receipt
        if receipt is None:
            raise GatewayError({"title": "The upload ended without a receipt."})
        return receipt

    async def _call(
        self,
        method: str,
        path: str,
        into: M,
        *,
        body: Message | None = None,
        parameters: Parameters | None = None,
    ) -> M:
        with _transport_errors():
            response = await self._http.request(
                method, path, json=None if body is None else MessageToDict(body), params=parameters
            )
        if response.is_error:
            raise GatewayError(_problem(response))
        return _parsed(response.json(), into)

    async def _pages(self, path: str, parameters: Parameters, kind: type[Page]) -> AsyncIterator[Page]:
        token = ""
        while True:
            asked = {**parameters, "pageSize": PAGE_SIZE, "pageToken": token}
            page = await self._call("GET", path, kind(), parameters=asked)
            yield page
            token = page.next_page_token
            if not token:
                return

    @asynccontextmanager
    async def _events(self, path: str, **body: object) -> AsyncIterator[AsyncIterator[Event]]:
        """Server-sent events. Leaving closes the connection, which cancels the work behind it."""
        with _transport_errors():
            async with httpx_sse.aconnect_sse(self._http, "POST", path, **body) as stream:
                if stream.response.is_error:
                    await stream.response.aread()
                    raise GatewayError(_problem(stream.response))
                yield _decoded(stream)


async def _decoded(stream: httpx_sse.EventSource) -> AsyncIterator[Event]:
    async for event in stream.aiter_sse():
        if not event.data:
            continue  # a heartbeat; httpx-sse takes it for an event once an id was sent
        if event.event == "error":
            raise GatewayError(json.loads(event.data))
        yield {event.event: json.loads(event.data)}


@contextmanager
def _transport_errors() -> Iterator[None]:
    try:
        yield
    except httpx.TransportError as error:
        detail = str(error) or type(error).__name__
        raise GatewayError({"reason": "UPSTREAM_UNAVAILABLE", "detail": f"the gateway: {detail}"}) from error


def _parsed(value: dict[str, object], into: M) -> M:
    """A newer gateway may send fields that this client does not know."""
    return ParseDict(value, into, ignore_unknown_fields=True)


def _problem(response: httpx.Response) -> Mapping[str, object]:
    try:
        problem = response.json()
    except json.JSONDecodeError:
        problem = None
    return (
        problem
        if isinstance(problem, dict)
        else {"title": f"HTTP {response.status_code} from {response.url}"}
    )


def _line(problem: Mapping[str, object]) -> str:
    fields = problem.get("errors")
    named = [f"{each['field']}: {each['description']}" for each in fields] if isinstance(fields, list) else []
    text = "; ".join(named) or problem.get("detail") or problem.get("title") or "the gateway failed"
    return f"{problem['reason']}: {text}" if problem.get("reason") else str(text)
