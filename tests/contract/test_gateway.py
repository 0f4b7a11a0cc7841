"""The gateway over real sockets, in front of small services of ours that echo, hang and fail on request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import grpc
import httpx
import pytest

from chassis.errors import NotFound
from chassis.server import Services
from chassis.server import serving as serving_grpc
from clausegate.answer.v1 import answer_pb2, query_service_pb2, query_service_pb2_grpc
from clausegate.corpus.v1 import chunk_pb2, document_pb2
from clausegate.retrieval.v1 import (
    document_service_pb2,
    document_service_pb2_grpc,
    index_service_pb2_grpc,
    retrieval_service_pb2,
    retrieval_service_pb2_grpc,
)
from gateway.settings import GatewaySettings
from gateway.wiring import serving

SHA = "0" * 64
PATIENCE_SECONDS = 10.0


@dataclass
class Script:
    """What the services behind the gateway do next, and what they have seen."""

    failure: Exception | None = None
    hang_after_events: int | None = None
    started: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list = field(default_factory=list)
    metadata: dict = field(default_factory=dict)
    seconds_left: float = 0.0
    known_sha256: str = ""

    def note(self, request, context):
        self.requests.append(request)
        self.metadata = dict(context.invocation_metadata())
        self.seconds_left = context.time_remaining()
        if self.failure:
            raise self.failure

    async def hang(self):
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


class Queries(query_service_pb2_grpc.QueryServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def Query(self, request, context):  # noqa: N802
        self.script.note(request, context)
        if self.script.hang_after_events is not None:
            await self.script.hang()
        return query_service_pb2.QueryResponse(answer=f"answer to {request.query}")

    async def StreamQuery(self, request, context):  # noqa: N802
        Event = query_service_pb2.StreamQueryResponse  # noqa: N806
        self.script.note(request, context)
        events = [
            Event(retrieved=query_service_pb2.Retrieved(candidates=12)),
            Event(
                statement=query_service_pb2.ValidatedStatement(statement=answer_pb2.Statement(text="§ 1\n"))
            ),
            Event(
                completed=query_service_pb2.Completed(response=query_service_pb2.QueryResponse(answer="done"))
            ),
        ]
        for number, event in enumerate(events):
            if number == self.script.hang_after_events:
                await self.script.hang()
            yield event
        if request.query == "fail late":
            raise NotFound("gone meanwhile", field="document_ids[0]")


class Retrieval(retrieval_service_pb2_grpc.RetrievalServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def Search(self, request, context):  # noqa: N802
        self.script.note(request, context)
        chunk = chunk_pb2.Chunk(chunk_id="c1", text=request.query)
        return retrieval_service_pb2.SearchResponse(
            candidates=[retrieval_service_pb2.Candidate(chunk=chunk, vector_similarity=0.5)]
        )

    async def FindDefinitions(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return retrieval_service_pb2.FindDefinitionsResponse(next_page_token="more")


class Documents(document_service_pb2_grpc.DocumentServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def GetDocument(self, request, context):  # noqa: N802
        self.script.note(request, context)
        document = document_pb2.Document(document_id=request.document_id, size_bytes=2**40)
        return document_service_pb2.GetDocumentResponse(document=document)

    async def ListDocuments(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return document_service_pb2.ListDocumentsResponse()


class Index(index_service_pb2_grpc.IndexServiceServicer):
    pass


def offer(script: Script) -> Services:
    """All services of the product on one server, as the embedded process has them."""

    def register(server: grpc.aio.Server) -> None:
        query_service_pb2_grpc.add_QueryServiceServicer_to_server(Queries(script), server)
        retrieval_service_pb2_grpc.add_RetrievalServiceServicer_to_server(Retrieval(script), server)
        document_service_pb2_grpc.add_DocumentServiceServicer_to_server(Documents(script), server)
        index_service_pb2_grpc.add_IndexServiceServicer_to_server(Index(), server)

    return Services(
        (
            "clausegate.answer.v1.QueryService",
            "clausegate.ingest.v1.IngestService",
            "clausegate.retrieval.v1.RetrievalService",
            "clausegate.retrieval.v1.DocumentService",
            "clausegate.retrieval.v1.IndexService",
        ),
        register,
    )


@asynccontextmanager
async def running(script: Script, **settings) -> AsyncIterator[httpx.AsyncClient]:
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(serving_grpc("127.0.0.1:0", [offer(script)], 0.1))
        addresses = dict.fromkeys(("ingest_address", "retrieval_address", "answer_address"), upstream)
        defaults = {"gateway_address": "127.0.0.1:0", "drain_seconds": 0.5, **addresses}
        address = await stack.enter_async_context(serving(GatewaySettings(**defaults | settings)))
        yield await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://{address}", timeout=PATIENCE_SECONDS, trust_env=False)
        )


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def client(script):
    async with running(script) as client:
        yield client


async def test_a_question_is_answered_as_proto3_json(client, script):
    response = await client.post(
        "/v1/query", json={"query": "What does it cost?", "documentIds": ["cme/a.pdf"]}
    )
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["answer"] == "answer to What does it cost?"
    assert body["supportingClauses"] == []
    assert "refusal" not in body
    assert list(script.requests[0].document_ids) == ["cme/a.pdf"]


async def test_a_search_returns_candidates(client):
    response = await client.post(
        "/v1/search", json={"query": "fees", "mode": "SEARCH_MODE_KEYWORD", "topK": 3}
    )
    [candidate] = response.json()["candidates"]
    assert candidate["chunk"]["text"] == "fees"
    assert candidate["vectorSimilarity"] == 0.5
    assert "bm25Score" not in candidate
