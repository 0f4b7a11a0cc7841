"""The documents themselves, and the projects that name sets of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing
from pathlib import Path

from clausegate.connection import Channels, Connection
from clausegate.corpus.v1.citation_pb2 import QuoteBox
from clausegate.corpus.v1.document_pb2 import Document
from clausegate.errors import clausegate_errors
from clausegate.ingest.v1.ingest_service_pb2 import (
    GetOriginalRequest,
    IngestProgress,
    IngestReceipt,
    ListOriginalsRequest,
    Original,
    ReindexDocumentRequest,
    RemoveDocumentRequest,
    RemoveDocumentResponse,
    RenderPageRequest,
    RenderPageResponse,
)
from clausegate.ingest.v1.ingest_service_pb2_grpc import IngestServiceStub
from clausegate.retrieval.v1.document_service_pb2 import (
    GetDocumentRequest,
    GetTextRequest,
    GetTextResponse,
    ListDocumentsRequest,
    ListSourcesRequest,
    Source,
)
from clausegate.retrieval.v1.document_service_pb2_grpc import DocumentServiceStub
from clausegate.retrieval.v1.project_service_pb2 import (
    CreateProjectRequest,
    DeleteProjectRequest,
    GetProjectRequest,
    ListProjectsRequest,
    Project,
    UpdateProjectRequest,
)
from clausegate.retrieval.v1.project_service_pb2_grpc import ProjectServiceStub
from clausegate.upload import Target, no_receipt, upload


class Library(Connection):
    """Calls of `IngestService`, `DocumentService` and `ProjectService`."""

    def __init__(self, channels: Channels) -> None:
        super().__init__(channels)
        self._ingest = IngestServiceStub(channels.ingest)
        self._documents = DocumentServiceStub(channels.retrieval)
        self._projects = ProjectServiceStub(channels.retrieval)

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

    async def reindex_document(
        self,
        document_id: str,
        *,
        progress: Callable[[IngestProgress], None] | None = None,
        deadline_seconds: float = 600.0,
    ) -> IngestReceipt:
        """Let the service read the archived original of a document again, after an update of the product.

        Repeating after a failure is safe; until the receipt the old version answers. `progress` is called for
        every report of the service.
        """
        request = ReindexDocumentRequest(document_id=document_id)
        receipt = None
        async with aclosing(self._events(self._ingest.ReindexDocument, request, deadline_seconds)) as events:
            async for event in events:
                if event.HasField("progress"):
                    (progress or _ignore)(event.progress)
                elif event.HasField("receipt"):
                    receipt = event.receipt
        if receipt is None:
            raise no_receipt()
        return receipt

    async def originals(
        self, sources: Iterable[str] = (), *, deadline_seconds: float | None = None
    ) -> AsyncIterator[Original]:
        """Documents of these sources whose originals are archived, in the index or not, by id."""
        request = ListOriginalsRequest(sources=sources)
        async for page in self._pages(self._ingest.ListOriginals, request, deadline_seconds):
            for original in page.originals:
                yield original

    async def remove_document(
        self, document_id: str, *, deadline_seconds: float | None = None
    ) -> RemoveDocumentResponse:
        """Remove a document from index and archive."""
        request = RemoveDocumentRequest(document_id=document_id)
        return await self._answer(self._ingest.RemoveDocument, request, deadline_seconds)

    async def get_original(
        self, document_id: str, *, deadline_seconds: float | None = None
    ) -> AsyncIterator[bytes]:
        """The file's bytes as they were ingested, in parts of at most 1 MiB."""
        request = GetOriginalRequest(document_id=document_id)
        async with aclosing(self._events(self._ingest.GetOriginal, request, deadline_seconds)) as parts:
            async for part in parts:
                if part.data:
                    yield part.data

    async def render_page(
        self,
        document_id: str,
        page: int,
        *,
        width: int = 0,
        boxes: Iterable[QuoteBox] = (),
        deadline_seconds: float | None = None,
    ) -> RenderPageResponse:
        """A page of a PDF as a picture in PNG, with those of `boxes` marked that are on it.

        `width` in pixels, 200 to 2,000; 0 for 1,000.
        """
        marks = [f"{box.left},{box.top},{box.right},{box.bottom}" for box in boxes if box.page == page]
        request = RenderPageRequest(document_id=document_id, page=page, width=width, boxes=marks)
        return await self._answer(self._ingest.RenderPage, request, deadline_seconds)

    async def get_document(self, document_id: str, *, deadline_seconds: float | None = None) -> Document:
        """A document as its live version stands in the index."""
        request = GetDocumentRequest(document_id=document_id)
        return (await self._answer(self._documents.GetDocument, request, deadline_seconds)).document

    async def get_text(
        self,
        document_id: str,
        start: int,
        end: int,
        *,
        around: int | None = None,
        whole_section: bool = False,
        deadline_seconds: float | None = None,
    ) -> GetTextResponse:
        """A part of a document's extracted text with so many characters on each side, 500 by default.

        `whole_section` asks for the section that holds `start` in place of the part.
        """
        request = GetTextRequest(
            document_id=document_id, start=start, end=end, around=around, whole_section=whole_section
        )
        return await self._answer(self._documents.GetText, request, deadline_seconds)

    async def documents(
        self, sources: Iterable[str] = (), *, deadline_seconds: float | None = None
    ) -> AsyncIterator[Document]:
        """All documents of these sources by id; pages are fetched as needed."""
        request = ListDocumentsRequest(sources=sources)
        async for page in self._pages(self._documents.ListDocuments, request, deadline_seconds):
            for document in page.documents:
                yield document

    async def sources(self, *, deadline_seconds: float | None = None) -> AsyncIterator[Source]:
        """All sources that have documents by name; pages are fetched as needed."""
        async for page in self._pages(self._documents.ListSources, ListSourcesRequest(), deadline_seconds):
            for source in page.sources:
                yield source

    async def create_project(
        self,
        project_id: str,
        sources: Iterable[str],
        *,
        display_name: str = "",
        deadline_seconds: float | None = None,
    ) -> Project:
        """A new named set of sources."""
        request = CreateProjectRequest(project_id=project_id, sources=sources, display_name=display_name)
        return (await self._answer(self._projects.CreateProject, request, deadline_seconds)).project

    async def get_project(self, project_id: str, *, deadline_seconds: float | None = None) -> Project:
        """One project."""
        request = GetProjectRequest(project_id=project_id)
        return (await self._answer(self._projects.GetProject, request, deadline_seconds)).project

    async def projects(self, *, deadline_seconds: float | None = None) -> AsyncIterator[Project]:
        """All projects by id; pages are fetched as needed."""
        async for page in self._pages(self._projects.ListProjects, ListProjectsRequest(), deadline_seconds):
            for project in page.projects:
                yield project

    async def update_project(
        self,
        project_id: str,
        sources: Iterable[str],
        *,
        display_name: str = "",
        deadline_seconds: float | None = None,
    ) -> Project:
        """The project with this name and these sources in place of its own."""
        request = UpdateProjectRequest(project_id=project_id, sources=sources, display_name=display_name)
        return (await self._answer(self._projects.UpdateProject, request, deadline_seconds)).project

    async def delete_project(self, project_id: str, *, deadline_seconds: float | None = None) -> None:
        """Delete a project; its documents stay."""
        request = DeleteProjectRequest(project_id=project_id)
        await self._answer(self._projects.DeleteProject, request, deadline_seconds)


def _ignore(progress: IngestProgress) -> None:
    """Nobody asked for progress."""
