"""The gateway's routes that the command line needs, one method each. All raise `GatewayError`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from urllib.parse import quote

import httpx

from clausegate.answer.v1.article_service_pb2 import (
    CompileArticleRequest,
    CompileArticleResponse,
    DeleteArticleResponse,
    GetArticleResponse,
    ListArticlesResponse,
)
from clausegate.answer.v1.grounding_service_pb2 import (
    CheckGroundingRequest,
    CheckGroundingResponse,
    VerifyCitationRequest,
    VerifyCitationResponse,
)
from clausegate.answer.v1.query_generation_service_pb2 import GenerateQueriesRequest, GenerateQueriesResponse
from clausegate.answer.v1.query_service_pb2 import StreamQueryRequest, StreamQueryResponse
from clausegate.answer.v1.research_service_pb2 import ExtractSnippetsRequest, ExtractSnippetsResponse
from clausegate.answer.v1.rewrite_service_pb2 import RewriteRequest, RewriteResponse
from clausegate.corpus.v1.article_pb2 import Article
from clausegate.corpus.v1.citation_pb2 import Citation
from clausegate.corpus.v1.document_pb2 import Document
from clausegate.ingest.v1.ingest_service_pb2 import (
    IngestDocumentResponse,
    IngestProgress,
    IngestReceipt,
    ListOriginalsResponse,
    RemoveDocumentResponse,
)
from clausegate.retrieval.v1.document_service_pb2 import ListDocumentsResponse, ListSourcesResponse, Source
from clausegate.retrieval.v1.project_service_pb2 import (
    CreateProjectRequest,
    CreateProjectResponse,
    DeleteProjectResponse,
    GetProjectResponse,
    ListProjectsResponse,
    Project,
    UpdateProjectRequest,
    UpdateProjectResponse,
)
from clausegate.retrieval.v1.retrieval_service_pb2 import (
    AssembleContextRequest,
    AssembleContextResponse,
    FindDefinitionsResponse,
    ResolvedDefinition,
    SearchRequest,
    SearchResponse,
)
from cli.folders import LocalFile
from cli.rest import Event, GatewayError, Parameters, Rest, parsed, segment


class GatewayClient:
    """Calls the gateway over an open HTTP client."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._rest = Rest(http)

    def stream_query(self, request: StreamQueryRequest) -> AsyncIterator[StreamQueryResponse]:
        """The events of an answer; the last is `completed`."""
        return self._rest.messages("/v1/query:stream", request, StreamQueryResponse)

    def snippets(self, request: ExtractSnippetsRequest) -> AsyncIterator[ExtractSnippetsResponse]:
        """The events of a research query; the last is `done`."""
        path = f"/v1/projects/{segment(request.project)}/research/query"
        return self._rest.messages(path, request, ExtractSnippetsResponse)

    async def search(self, request: SearchRequest) -> SearchResponse:
        """The chunks that best match."""
        return await self._rest.call("POST", "/v1/search", SearchResponse(), body=request)

    async def definitions(self, term: str, sources: list[str]) -> AsyncIterator[ResolvedDefinition]:
        """Definitions of a term."""
        parameters: Parameters = {"terms": term, "sources": sources}
        async for page in self._rest.pages("/v1/definitions", parameters, FindDefinitionsResponse):
            for definition in page.definitions:
                yield definition

    async def assemble_context(self, request: AssembleContextRequest) -> AssembleContextResponse:
        """Source text for a writer."""
        return await self._rest.call("POST", "/v1/context:assemble", AssembleContextResponse(), body=request)

    async def check_grounding(self, request: CheckGroundingRequest) -> CheckGroundingResponse:
        """Whether a text stands on the documents."""
        return await self._rest.call("POST", "/v1/grounding:check", CheckGroundingResponse(), body=request)

    async def verify_citation(self, citation: Citation) -> VerifyCitationResponse:
        """Whether a citation is the service's own and still stands."""
        request = VerifyCitationRequest(citation=citation)
        return await self._rest.call("POST", "/v1/citations:verify", VerifyCitationResponse(), body=request)

    async def compile_article(self, request: CompileArticleRequest) -> CompileArticleResponse:
        """Compile an article and store it."""
        return await self._rest.call("POST", "/v1/articles:compile", CompileArticleResponse(), body=request)

    async def article(self, article_id: str) -> Article:
        """One article, whole."""
        path = f"/v1/articles/{segment(article_id)}"
        return (await self._rest.call("GET", path, GetArticleResponse())).article

    async def articles(self, *, stale: bool) -> AsyncIterator[Article]:
        """All articles by id without their bodies, or only the stale ones."""
        async for page in self._rest.pages("/v1/articles", {"stale": stale}, ListArticlesResponse):
            for article in page.articles:
                yield article

    async def delete_article(self, article_id: str) -> None:
        """Delete an article."""
        await self._rest.call("DELETE", f"/v1/articles/{segment(article_id)}", DeleteArticleResponse())

    async def generate_queries(self, request: GenerateQueriesRequest) -> GenerateQueriesResponse:
        """Search queries for a topic."""
        return await self._rest.call("POST", "/v1/queries:generate", GenerateQueriesResponse(), body=request)

    async def rewrite(self, request: RewriteRequest) -> RewriteResponse:
        """A text rewritten as instructed."""
        return await self._rest.call("POST", "/v1/texts:rewrite", RewriteResponse(), body=request)

    async def projects(self) -> AsyncIterator[Project]:
        """All projects by id."""
        async for page in self._rest.pages("/v1/projects", {}, ListProjectsResponse):
            for project in page.projects:
                yield project

    async def project(self, project_id: str) -> Project:
        """One project."""
        path = f"/v1/projects/{segment(project_id)}"
        return (await self._rest.call("GET", path, GetProjectResponse())).project

    async def create_project(self, request: CreateProjectRequest) -> Project:
        """A new project."""
        return (await self._rest.call("POST", "/v1/projects", CreateProjectResponse(), body=request)).project

    async def update_project(self, request: UpdateProjectRequest) -> Project:
        """The project with other sources or another name."""
        path = f"/v1/projects/{segment(request.project_id)}"
        return (await self._rest.call("PUT", path, UpdateProjectResponse(), body=request)).project

    async def delete_project(self, project_id: str) -> None:
        """Delete a project."""
        await self._rest.call("DELETE", f"/v1/projects/{segment(project_id)}", DeleteProjectResponse())

    async def documents(self, sources: list[str]) -> AsyncIterator[Document]:
        """Documents of these sources, all when empty, by id."""
        async for page in self._rest.pages("/v1/documents", {"sources": sources}, ListDocumentsResponse):
            for document in page.documents:
                yield document

    async def originals(self, sources: list[str]) -> AsyncIterator[str]:
        """Ids of documents of these sources, all when empty, whose originals are archived."""
        async for page in self._rest.pages("/v1/originals", {"sources": sources}, ListOriginalsResponse):
            for original in page.originals:
                yield original.document_id

    async def sources(self) -> AsyncIterator[Source]:
        """Sources that have documents, by name."""
        async for page in self._rest.pages("/v1/sources", {}, ListSourcesResponse):
            for source in page.sources:
                yield source

    async def remove_document(self, document_id: str) -> None:
        """Remove a document from index and archive."""
        await self._rest.call("DELETE", f"/v1/documents/{quote(document_id)}", RemoveDocumentResponse())

    async def ingest(self, file: LocalFile, progress: Callable[[IngestProgress], None]) -> IngestReceipt:
        """Upload one file; `progress` is told what the service reports meanwhile."""
        with file.location.open("rb") as content:
            form = {"source": file.source, "path": file.path}
            upload = {"file": (file.location.name, content)}
            async with self._rest.events("/v1/documents", data=form, files=upload) as events:
                return await _receipt(events, progress)

    async def reindex(self, document_id: str, progress: Callable[[IngestProgress], None]) -> IngestReceipt:
        """Let the archived original of a document be read again; `progress` as in `ingest`."""
        path = f"/v1/documents/{quote(document_id)}:reindex"
        async with self._rest.events(path, json={}) as events:
            return await _receipt(events, progress)


async def _receipt(events: AsyncIterator[Event], progress: Callable[[IngestProgress], None]) -> IngestReceipt:
    """The receipt at the end; events of an upload hold all that those of reading a document again hold."""
    receipt = None
    async for each in events:
        event = parsed(each, IngestDocumentResponse())
        if event.HasField("progress"):
            progress(event.progress)
        elif event.HasField("receipt"):
            receipt = event.receipt
    if receipt is None:
        raise GatewayError({"title": "The call ended without a receipt; it is safe to repeat."})
    return receipt
