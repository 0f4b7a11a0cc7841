"""DocumentService on the wire: messages to values, one call, values to messages."""

from __future__ import annotations

import grpc

from chassis.auth import current_caller
from clausegate.retrieval.v1 import document_service_pb2 as wire
from clausegate.retrieval.v1.document_service_pb2_grpc import DocumentServiceServicer
from corpus.codec import to_message
from corpus.spans import Span
from services.retrieval.excerpts import USUAL_AROUND, Wanted, excerpt_of, read_chunks_of
from services.retrieval.indexes import Indexes
from services.retrieval.queries import MAX_PAGE, count, required_document_id, scope
from services.retrieval.reading import list_documents, list_sources, read_document
from services.retrieval.servicers.intact import chunk_to_wire, document_to_wire

Context = grpc.aio.ServicerContext[object, object]


class DocumentServicer(DocumentServiceServicer):
    """Serves each caller its index."""

    def __init__(self, indexes: Indexes) -> None:
        self._indexes = indexes

    async def GetDocument(  # noqa: N802
        self, request: wire.GetDocumentRequest, context: Context
    ) -> wire.GetDocumentResponse:
        """Read one document."""
        document_id = required_document_id(request.document_id)
        index = await self._indexes.of(current_caller())
        document = await read_document(index.store, document_id)
        return wire.GetDocumentResponse(document=document_to_wire(document))

    async def GetText(  # noqa: N802
        self, request: wire.GetTextRequest, context: Context
    ) -> wire.GetTextResponse:
        """Read a part of a document's text."""
        document_id = required_document_id(request.document_id)
        around = request.around if request.HasField("around") else USUAL_AROUND
        wanted = Wanted(Span(request.start, request.end), around, request.whole_section)
        index = await self._indexes.of(current_caller())
        chunks = await read_chunks_of(index.store, document_id, wanted)
        for chunk in chunks:
            chunk_to_wire(chunk)  # which refuses one that is damaged
        return to_message(excerpt_of(chunks, wanted), wire.GetTextResponse)

    async def ListDocuments(  # noqa: N802
        self, request: wire.ListDocumentsRequest, context: Context
    ) -> wire.ListDocumentsResponse:
        """Read a page of documents."""
        size = count(request.page_size, "page_size", default=50, limit=MAX_PAGE)
        index = await self._indexes.of(current_caller())
        page = await list_documents(index.store, scope(request.sources, ()), size, request.page_token)
        return wire.ListDocumentsResponse(
            documents=map(document_to_wire, page.items), next_page_token=page.next_token
        )

    async def ListSources(  # noqa: N802
        self, request: wire.ListSourcesRequest, context: Context
    ) -> wire.ListSourcesResponse:
        """Read a page of sources."""
        size = count(request.page_size, "page_size", default=50, limit=MAX_PAGE)
        index = await self._indexes.of(current_caller())
        page = await list_sources(index.store, size, request.page_token)
        return wire.ListSourcesResponse(
            sources=[
                wire.Source(source=source.source, document_count=source.documents, chunk_count=source.chunks)
                for source in page.items
            ],
            next_page_token=page.next_token,
        )
