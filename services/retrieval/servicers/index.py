"""IndexService on the wire: messages to values, one call, values to messages."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TypeVar

import grpc

from chassis.auth import current_caller
from chassis.errors import InvalidInput
from clausegate.corpus.v1 import chunk_pb2, document_pb2
from clausegate.retrieval.v1 import index_service_pb2 as wire
from clausegate.retrieval.v1.index_service_pb2_grpc import IndexServiceServicer
from corpus.chunks import Chunk
from corpus.codec import from_message
from corpus.definitions import Definition
from corpus.documents import Document, Generation
from services.retrieval.ids import check_chunk_ids, check_definition_ids
from services.retrieval.indexes import Indexes
from services.retrieval.queries import required_document_id, version_of
from services.retrieval.reading import read_document
from services.retrieval.replacing import (
    ChunkBatch,
    Commit,
    DefinitionBatch,
    Header,
    Part,
    StoredChunks,
    remove,
    replace,
)
from services.retrieval.servicers.intact import Arrived, document_to_wire, is_intact
from services.retrieval.store.port import Committed
from services.retrieval.wholeness import report

Requests = AsyncIterator[wire.ReplaceDocumentRequest]
Dated = TypeVar("Dated", chunk_pb2.Chunk, document_pb2.Document)
Context = grpc.aio.ServicerContext[object, object]


class IndexServicer(IndexServiceServicer):
    """Serves each caller its index."""

    def __init__(self, indexes: Indexes, store_kind: str) -> None:
        """`store_kind` is what `DescribeIndex` calls the kind of store."""
        self._indexes = indexes
        self._store_kind = store_kind

    async def ReplaceDocument(  # noqa: N802
        self, request_iterator: Requests, context: Context
    ) -> AsyncIterator[wire.ReplaceDocumentResponse]:
        """Store a version and make it visible."""
        index = await self._indexes.of(current_caller())
        # Closed at once when the caller goes, so that nothing more is embedded for it.
        async with aclosing(replace(index.store, index.model, _parts(request_iterator))) as events:
            async for event in events:
                yield _response(event)

    async def RemoveDocument(  # noqa: N802
        self, request: wire.RemoveDocumentRequest, context: Context
    ) -> wire.RemoveDocumentResponse:
        """Remove a document."""
        document_id = required_document_id(request.document_id)
        index = await self._indexes.of(current_caller())
        return wire.RemoveDocumentResponse(index_revision=await remove(index.store, document_id))

    async def CheckDocument(  # noqa: N802
        self, request: wire.CheckDocumentRequest, context: Context
    ) -> wire.CheckDocumentResponse:
        """Say whether a document is as it was indexed."""
        document_id = required_document_id(request.document_id)
        index = await self._indexes.of(current_caller())
        document = await read_document(index.store, document_id)
        return wire.CheckDocumentResponse(intact=await is_intact(index.store, document))

    async def ReportArchive(  # noqa: N802
        self, request: wire.ReportArchiveRequest, context: Context
    ) -> wire.ReportArchiveResponse:
        """Take what the archive holds."""
        index = await self._indexes.of(current_caller())
        return wire.ReportArchiveResponse(missing_count=await report(index.store, request.document_count))

    async def DescribeIndex(  # noqa: N802
        self, request: wire.DescribeIndexRequest, context: Context
    ) -> wire.DescribeIndexResponse:
        """Say what the index holds."""
        index = await self._indexes.of(current_caller())
        revision = await index.store.revision()
        counts = await index.store.counts()
        return wire.DescribeIndexResponse(
            embedding_model=index.model.name,
            embedding_dimension=index.model.dimension,
            index_revision=revision,
            document_count=counts.documents,
            chunk_count=counts.chunks,
            definition_count=counts.definitions,
            window_count=counts.windows,
            store=self._store_kind,
            embedding_host=index.model.host,
        )


async def _parts(requests: Requests) -> AsyncIterator[Part]:
    generation = Generation("")
    arrived = Arrived()
    async for request in requests:
        match request.WhichOneof("part"):
            case "header":
                version = version_of(request.header.document_id, request.header.generation, "header")
                generation = version.generation
                yield Header(version)
            case "chunks":
                chunks = tuple(from_message(_undated(chunk), Chunk) for chunk in request.chunks.chunks)
                check_chunk_ids(chunks)
                arrived.check_chunks(chunks)
                yield ChunkBatch(chunks)
            case "definitions":
                sent = request.definitions.definitions
                definitions = tuple(
                    dataclasses.replace(from_message(definition, Definition), generation=generation)
                    for definition in sent
                )
                check_definition_ids(definitions)
                arrived.check_definitions(definitions)
                yield DefinitionBatch(definitions)
            case "commit":
                document = from_message(_undated(request.commit.document), Document)
                arrived.check_document(document)
                yield Commit(document)
            case None:
                raise InvalidInput("A message must have a part.", field="part")


def _undated(message: Dated) -> Dated:
    """What ingest sends; when it was indexed is for the index to say."""
    message.ClearField("indexed_at")
    return message


def _response(event: StoredChunks | Committed) -> wire.ReplaceDocumentResponse:
    match event:
        case StoredChunks(count):
            return wire.ReplaceDocumentResponse(stored=wire.StoredChunks(count=count))
        case Committed(document, replaced, revision):
            receipt = wire.ReplaceReceipt(
                document=document_to_wire(document), index_revision=revision, replaced=replaced
            )
            return wire.ReplaceDocumentResponse(receipt=receipt)
