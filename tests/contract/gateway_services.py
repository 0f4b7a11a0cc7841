"""Small services behind a gateway over real sockets, which echo, hang and fail on request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
import httpx
import httpx_sse

from chassis.errors import Unavailable
from chassis.policy import ServerPolicy
from chassis.server import Services
from chassis.server import serving as serving_grpc
from clausegate.answer.v1 import (
    answer_pb2,
    article_service_pb2,
    article_service_pb2_grpc,
    grounding_service_pb2,
    grounding_service_pb2_grpc,
    model_service_pb2,
    model_service_pb2_grpc,
    query_generation_service_pb2,
    query_generation_service_pb2_grpc,
    query_service_pb2,
    query_service_pb2_grpc,
    research_service_pb2,
    research_service_pb2_grpc,
    rewrite_service_pb2,
    rewrite_service_pb2_grpc,
)
from clausegate.corpus.v1 import article_pb2, chunk_pb2, document_pb2
from clausegate.ingest.v1 import ingest_service_pb2, ingest_service_pb2_grpc
from clausegate.retrieval.v1 import (
    document_service_pb2,
    document_service_pb2_grpc,
    project_service_pb2,
    project_service_pb2_grpc,
    retrieval_service_pb2,
    retrieval_service_pb2_grpc,
)
from gateway.contracts import load_contracts
from gateway.settings import GatewaySettings
from gateway.wiring import serving
from services.ingest.errors import DocumentNotFound

PATIENCE_SECONDS = 30.0


@dataclass
class Script:
    """What the services behind the gateway do next, and what they have seen."""

    failure: Exception | None = None
    response: query_service_pb2.QueryResponse | None = None
    """What a question is answered with, in place of an echo."""
    hang_after_events: int | None = None
    started: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list = field(default_factory=list)
    metadata: dict = field(default_factory=dict)
    seconds_left: float = 0.0
    known_sha256: str = ""
    received: bytes = b""
    ended: bool = False

    def note(self, request, context):
        self.requests.append(request)
        self.metadata = dict(context.invocation_metadata())
        self.seconds_left = context.time_remaining()
        if self.failure:
            raise self.failure

    async def hang(self):
        self.started.set()
        try:
            await self.go_on.wait()
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
        if self.script.response is not None:
            return self.script.response
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
                completed=query_service_pb2.Completed(
                    response=self.script.response or query_service_pb2.QueryResponse(answer="done")
                )
            ),
        ]
        for number, event in enumerate(events):
            if number == self.script.hang_after_events:
                await self.script.hang()
            yield event
        if len(events) == self.script.hang_after_events:
            await self.script.hang()
        if request.query == "fail late":
            raise DocumentNotFound("gone meanwhile", field="document_ids[0]")


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

    async def ListChunks(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return retrieval_service_pb2.ListChunksResponse(next_page_token="more")

    async def AssembleContext(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return retrieval_service_pb2.AssembleContextResponse(text="one", token_count=1)


class Research(research_service_pb2_grpc.ResearchServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def ExtractSnippets(self, request, context):  # noqa: N802
        Event = research_service_pb2.ExtractSnippetsResponse  # noqa: N806
        self.script.note(request, context)
        snippet = research_service_pb2.Snippet(
            content="Fees are due.", source_id="cme/a.pdf", source_title="A", relevance="It says when."
        )
        if request.query != "nothing":
            yield Event(result=snippet)
        if request.query == "fail late":
            raise Unavailable("the model server is gone", retry_after_seconds=2)
        found = [] if request.query == "nothing" else [snippet]
        done = research_service_pb2.SnippetsDone(
            result_count=len(found), no_results=not found, processing_time_ms=7, snippets=found
        )
        yield Event(done=done)


class Articles(article_service_pb2_grpc.ArticleServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def CompileArticle(self, request, context):  # noqa: N802
        self.script.note(request, context)
        article = article_pb2.Article(article_id=request.article_id or "made", title="Fees")
        return article_service_pb2.CompileArticleResponse(article=article)

    async def GetArticle(self, request, context):  # noqa: N802
        self.script.note(request, context)
        article = article_pb2.Article(article_id=request.article_id)
        return article_service_pb2.GetArticleResponse(article=article)

    async def ListArticles(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return article_service_pb2.ListArticlesResponse()

    async def DeleteArticle(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return article_service_pb2.DeleteArticleResponse()


class Texts(
    query_generation_service_pb2_grpc.QueryGenerationServiceServicer,
    rewrite_service_pb2_grpc.RewriteServiceServicer,
    grounding_service_pb2_grpc.GroundingServiceServicer,
    model_service_pb2_grpc.ModelServiceServicer,
):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def GenerateQueries(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return query_generation_service_pb2.GenerateQueriesResponse(queries=[request.topic])

    async def DescribeModels(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return model_service_pb2.DescribeModelsResponse(grader="local")

    async def Rewrite(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return rewrite_service_pb2.RewriteResponse(text=request.text.upper())

    async def CheckGrounding(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return grounding_service_pb2.CheckGroundingResponse(grounded=True)

    async def VerifyCitation(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return grounding_service_pb2.VerifyCitationResponse(
            signature=grounding_service_pb2.SIGNATURE_STATE_VALID,
            text=grounding_service_pb2.TEXT_STATE_PRESENT,
        )


class Projects(project_service_pb2_grpc.ProjectServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def CreateProject(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return project_service_pb2.CreateProjectResponse(project=project_of(request))

    async def GetProject(self, request, context):  # noqa: N802
        self.script.note(request, context)
        project = project_service_pb2.Project(project_id=request.project_id)
        return project_service_pb2.GetProjectResponse(project=project)

    async def ListProjects(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return project_service_pb2.ListProjectsResponse()

    async def UpdateProject(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return project_service_pb2.UpdateProjectResponse(project=project_of(request))

    async def DeleteProject(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return project_service_pb2.DeleteProjectResponse()


def project_of(request) -> project_service_pb2.Project:
    return project_service_pb2.Project(project_id=request.project_id, sources=request.sources)


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


class Ingest(ingest_service_pb2_grpc.IngestServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def IngestDocument(self, request_iterator, context):  # noqa: N802
        Event = ingest_service_pb2.IngestDocumentResponse  # noqa: N806
        header = (await anext(request_iterator)).header
        self.script.note(header, context)
        outcome = ingest_service_pb2.INGEST_OUTCOME_UNCHANGED
        if header.content_sha256 != self.script.known_sha256:
            outcome = ingest_service_pb2.INGEST_OUTCOME_CREATED
            yield Event(send_bytes=ingest_service_pb2.SendBytes())
            received = b"".join([part.data async for part in request_iterator])
            self.script.received = received
            yield Event(progress=ingest_service_pb2.IngestProgress(done=1))
            if self.script.hang_after_events is not None:
                await self.script.hang()
        document = document_pb2.Document(source=header.source, path=header.path, size_bytes=header.size_bytes)
        yield Event(receipt=ingest_service_pb2.IngestReceipt(outcome=outcome, document=document))
        self.script.ended = True

    async def ReindexDocument(self, request, context):  # noqa: N802
        Event = ingest_service_pb2.ReindexDocumentResponse  # noqa: N806
        self.script.note(request, context)
        yield Event(progress=ingest_service_pb2.IngestProgress(done=1))
        document = document_pb2.Document(document_id=request.document_id)
        yield Event(
            receipt=ingest_service_pb2.IngestReceipt(
                outcome=ingest_service_pb2.INGEST_OUTCOME_UPDATED, document=document
            )
        )

    async def RemoveDocument(self, request, context):  # noqa: N802
        self.script.note(request, context)
        return ingest_service_pb2.RemoveDocumentResponse(index_revision="2")


def offer(script: Script) -> Services:
    """All services of the product on one server, as the embedded process has them; not all are there."""

    def register(server: grpc.aio.Server) -> None:
        query_service_pb2_grpc.add_QueryServiceServicer_to_server(Queries(script), server)
        retrieval_service_pb2_grpc.add_RetrievalServiceServicer_to_server(Retrieval(script), server)
        document_service_pb2_grpc.add_DocumentServiceServicer_to_server(Documents(script), server)
        ingest_service_pb2_grpc.add_IngestServiceServicer_to_server(Ingest(script), server)
        project_service_pb2_grpc.add_ProjectServiceServicer_to_server(Projects(script), server)
        research_service_pb2_grpc.add_ResearchServiceServicer_to_server(Research(script), server)
        article_service_pb2_grpc.add_ArticleServiceServicer_to_server(Articles(script), server)
        texts = Texts(script)
        query_generation_service_pb2_grpc.add_QueryGenerationServiceServicer_to_server(texts, server)
        rewrite_service_pb2_grpc.add_RewriteServiceServicer_to_server(texts, server)
        grounding_service_pb2_grpc.add_GroundingServiceServicer_to_server(texts, server)
        model_service_pb2_grpc.add_ModelServiceServicer_to_server(texts, server)

    return Services(tuple(name for _, name in load_contracts().services), register)


@asynccontextmanager
async def services(script: Script, **settings) -> AsyncIterator[GatewaySettings]:
    """Serve the services; yields the settings of a gateway in front of them."""
    async with serving_grpc("127.0.0.1:0", [offer(script)], ServerPolicy(drain_seconds=0.1)) as upstream:
        addresses = dict.fromkeys(("ingest_address", "retrieval_address", "answer_address"), upstream)
        defaults = {
            "gateway_address": "127.0.0.1:0",
            "drain_seconds": 0.5,
            "health_deadline_seconds": PATIENCE_SECONDS,
        }
        yield GatewaySettings(**defaults | addresses | settings)


def client_of(address: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"http://{address}", timeout=PATIENCE_SECONDS, trust_env=False)


@asynccontextmanager
async def running(script: Script, **settings) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        services(script, **settings) as configured,
        serving(configured) as address,
        client_of(address) as client,
    ):
        yield client


async def events_of(client, path, **body):
    async with httpx_sse.aconnect_sse(client, "POST", path, **body) as stream:
        return [(event.event, event.id, event.json()) async for event in stream.aiter_sse()]


def problem_in(response, status, reason, *fields):
    """The problem document, after checking what all of them have in common."""
    problem = response.json()
    assert (response.status_code, problem["reason"]) == (status, reason)
    assert response.headers["content-type"] == "application/problem+json"
    assert problem["status"] == status
    assert problem["title"]
    assert problem["type"] == f"/docs#{reason}"
    assert [error["field"] for error in problem["errors"]] == list(fields)
    return problem


async def seen(event: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        await event.wait()
