"""IngestService on the wire: messages to values, one call, values to messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict

import grpc

from chassis.auth import Caller, current_caller
from chassis.errors import InvalidInput
from clausegate.corpus.v1 import document_pb2
from clausegate.ingest.v1 import ingest_service_pb2 as wire
from clausegate.ingest.v1 import ingest_service_pb2_grpc
from corpus.codec import to_message
from services.ingest.addresses import DocumentAddress
from services.ingest.measuring import counted
from services.ingest.originals import OriginalFile, Originals, Part
from services.ingest.pages import Pages
from services.ingest.pictures import USUAL_WIDTH, Look, marks_of
from services.ingest.pipeline import Announcement, Pipeline
from services.ingest.records import Event, Progress, Receipt, SendBytes

MAX_DATA_BYTES = 1 << 20
DEFAULT_PAGE, MAX_PAGE = 50, 1000

Requests = AsyncIterator[wire.IngestDocumentRequest]
Context = grpc.aio.ServicerContext[object, object]


class IngestServicer(ingest_service_pb2_grpc.IngestServiceServicer):
    """Serves one pipeline, and what it has archived."""

    def __init__(self, pipeline: Pipeline, originals: Originals, pages: Pages) -> None:
        self._pipeline = pipeline
        self._originals = originals
        self._pages = pages

    async def IngestDocument(  # noqa: N802
        self, request_iterator: Requests, context: Context
    ) -> AsyncIterator[wire.IngestDocumentResponse]:
        """Ingest one file."""
        announced = await _announcement(request_iterator)
        async for event in counted(self._pipeline.ingest(announced, _data(request_iterator))):
            yield _response(event)

    async def RemoveDocument(  # noqa: N802
        self, request: wire.RemoveDocumentRequest, context: Context
    ) -> wire.RemoveDocumentResponse:
        """Remove a document from index and archive."""
        document_id = _own(request.document_id)
        revision = await self._pipeline.remove(current_caller().tenant, document_id)
        return wire.RemoveDocumentResponse(index_revision=revision)

    async def ReindexDocument(  # noqa: N802
        self, request: wire.ReindexDocumentRequest, context: Context
    ) -> AsyncIterator[wire.ReindexDocumentResponse]:
        """Ingest an archived original again."""
        document_id = _own(request.document_id)
        async for event in counted(self._pipeline.reindex(current_caller().tenant, document_id)):
            match event:
                case Progress():
                    yield wire.ReindexDocumentResponse(progress=to_message(event, wire.IngestProgress))
                case Receipt():
                    yield wire.ReindexDocumentResponse(receipt=_receipt(event))

    async def ListOriginals(  # noqa: N802
        self, request: wire.ListOriginalsRequest, context: Context
    ) -> wire.ListOriginalsResponse:
        """List what is archived."""
        if request.page_size < 0:
            raise InvalidInput("Must not be negative.", field="page_size")
        caller = current_caller()
        found = [
            (document_id, content_sha256)
            for document_id, content_sha256 in (await self._pipeline.originals(caller.tenant)).items()
            if document_id > request.page_token and _is_wanted(document_id, caller, request.sources)
        ]
        size = min(request.page_size or DEFAULT_PAGE, MAX_PAGE)
        return wire.ListOriginalsResponse(
            originals=[
                wire.Original(document_id=original[0], content_sha256=original[1])
                for original in found[:size]
            ],
            next_page_token=found[size - 1][0] if len(found) > size else "",
        )

    async def GetOriginal(  # noqa: N802
        self, request: wire.GetOriginalRequest, context: Context
    ) -> AsyncIterator[wire.GetOriginalResponse]:
        """Send a file's bytes back."""
        document_id, part = _required(request.document_id), Part(request.offset, request.length)
        async for sent in self._originals.read(current_caller().tenant, document_id, part):
            if isinstance(sent, OriginalFile):
                yield wire.GetOriginalResponse(file=to_message(sent, wire.OriginalFile))
            else:
                yield wire.GetOriginalResponse(data=sent)

    async def RenderPage(  # noqa: N802
        self, request: wire.RenderPageRequest, context: Context
    ) -> wire.RenderPageResponse:
        """Draw a page."""
        document_id = _required(request.document_id)
        look = Look(request.page, request.width or USUAL_WIDTH, marks_of(request.boxes))
        shown = await self._pages.show(current_caller().tenant, document_id, look)
        return wire.RenderPageResponse(
            **asdict(shown.picture), page_count=shown.page_count, content_sha256=shown.content_sha256
        )


async def _announcement(requests: Requests) -> Announcement:
    first = await anext(requests, None)
    if first is None or not first.HasField("header"):
        raise InvalidInput("Must come first.", field="header")
    header = first.header
    address = DocumentAddress(header.source, header.path)
    caller = current_caller()
    caller.check_source(address.source, "source")
    return Announcement(
        tenant=caller.tenant,
        address=address,
        content_sha256=header.content_sha256,
        size_bytes=header.size_bytes,
    )


async def _data(requests: Requests) -> AsyncIterator[bytes]:
    async for request in requests:
        if request.HasField("header"):
            raise InvalidInput("Must come once, before the bytes.", field="header")
        if not request.HasField("data"):
            raise InvalidInput("Must hold the next bytes of the file.", field="data")
        if len(request.data) > MAX_DATA_BYTES:
            raise InvalidInput(f"Must not exceed {MAX_DATA_BYTES:,} bytes a message.", field="data")
        yield request.data


def _response(event: Event) -> wire.IngestDocumentResponse:
    match event:
        case SendBytes():
            return wire.IngestDocumentResponse(send_bytes=wire.SendBytes())
        case Progress():
            return wire.IngestDocumentResponse(progress=to_message(event, wire.IngestProgress))
        case Receipt():
            return wire.IngestDocumentResponse(receipt=_receipt(event))


def _receipt(receipt: Receipt) -> wire.IngestReceipt:
    return wire.IngestReceipt(
        outcome=wire.IngestOutcome.Value(f"INGEST_OUTCOME_{receipt.outcome.name}"),
        document=to_message(receipt.document, document_pb2.Document),
        index_revision=receipt.index_revision,
        hidden_characters=receipt.document.hidden_characters,
        guessed_encoding=receipt.guessed_encoding,
    )


def _is_wanted(document_id: str, caller: Caller, sources: Sequence[str]) -> bool:
    source = document_id.partition("/")[0]
    return caller.may_use(source) and (not sources or source in sources)


def _own(document_id: str) -> str:
    """The id of a document that the caller may change, whether or not there is one."""
    source = _required(document_id).partition("/")[0]
    current_caller().check_source(source, "document_id")
    return document_id


def _required(document_id: str) -> str:
    if not document_id:
        raise InvalidInput("Must not be empty.", field="document_id")
    return document_id
