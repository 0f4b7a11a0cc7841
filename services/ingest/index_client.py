"""The index as ingest sees it: retrieval's IndexService and DocumentService on the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar

import grpc

from chassis.auth import LOCAL, Caller, current_caller
from chassis.channel import time_left
from chassis.errors import UpstreamError
from chassis.index_key import IndexKeys
from chassis.status import error_of, upstream_errors
from clausegate.corpus.v1 import chunk_pb2, definition_pb2, document_pb2
from clausegate.digests import contents_digest, digest_of
from clausegate.retrieval.v1 import (
    document_service_pb2,
    document_service_pb2_grpc,
    index_service_pb2,
    index_service_pb2_grpc,
)
from corpus.chunks import Chunk
from corpus.codec import from_message, to_message
from corpus.definitions import Definition
from corpus.documents import Document
from services.ingest.errors import DocumentNotFound
from services.ingest.records import Indexed

CHUNKS_A_BATCH = 64
"""At most 200: small enough for progress, large enough that a call costs nothing beside embedding."""
DEFINITIONS_A_BATCH = 200
Item = TypeVar("Item")
INDEX_SERVICE = index_service_pb2.DESCRIPTOR.services_by_name["IndexService"].full_name
DOCUMENT_SERVICE = document_service_pb2.DESCRIPTOR.services_by_name["DocumentService"].full_name
DOCUMENTS_A_PAGE = 1000
READ_SERVICES = (DOCUMENT_SERVICE,)
"""Services whose calls the channel may repeat."""


class IndexClient:
    """Reads and replaces documents of the index."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        read_deadline_seconds: float,
        index_deadline_seconds: float,
        keys: IndexKeys | None = None,
    ) -> None:
        """Use an open channel to retrieval; closing it is its owner's. Writes are signed with `keys`."""
        self._keys = keys
        self._index = index_service_pb2_grpc.IndexServiceStub(channel)
        self._documents = document_service_pb2_grpc.DocumentServiceStub(channel)
        self._read_deadline_seconds = read_deadline_seconds
        self._index_deadline_seconds = index_deadline_seconds

    async def find(self, document_id: str) -> Document | None:
        """The visible version of a document; None without one, or without one that can be believed."""
        try:
            response = await self._documents.GetDocument(
                document_service_pb2.GetDocumentRequest(document_id=document_id),
                timeout=time_left(self._read_deadline_seconds),
            )
        except grpc.aio.AioRpcError as failure:
            if failure.code() in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.DATA_LOSS):
                return None
            raise error_of(failure) from failure
        return from_message(response.document, Document)

    async def is_intact(self, document_id: str) -> bool:
        """Whether the index holds a visible document as it was indexed."""
        request = index_service_pb2.CheckDocumentRequest(document_id=document_id)
        with upstream_errors():
            response = await self._index.CheckDocument(
                request, timeout=time_left(self._read_deadline_seconds)
            )
        return response.intact

    async def revision(self) -> str:
        """What changes with every write to the index."""
        with upstream_errors():
            response = await self._index.DescribeIndex(
                index_service_pb2.DescribeIndexRequest(), timeout=time_left(self._read_deadline_seconds)
            )
        return response.index_revision

    async def remove(self, document_id: str) -> str:
        """Remove a document; the new revision. Raises `DocumentNotFound`."""
        request = index_service_pb2.RemoveDocumentRequest(document_id=document_id)
        try:
            with self._in_own_name("RemoveDocument"):
                call = self._index.RemoveDocument(request, timeout=time_left(self._read_deadline_seconds))
            response = await call
        except grpc.aio.AioRpcError as failure:
            if failure.code() is grpc.StatusCode.NOT_FOUND:
                raise DocumentNotFound("The document is not indexed.", field="document_id") from failure
            raise error_of(failure) from failure
        return response.index_revision

    async def replace(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        definitions: Sequence[Definition],
        on_stored: Callable[[int], None],
    ) -> Indexed:
        """Make a version visible in one step; `on_stored` gets the number of chunks on disk as it grows.

        Raises what the index raises; then nothing of the version is visible.
        """
        contents = await asyncio.to_thread(_contents, chunks, definitions)
        commit = _commit(document, contents)
        with self._in_own_name("ReplaceDocument"):
            call = self._index.ReplaceDocument(
                _requests(commit, chunks, definitions), timeout=time_left(self._index_deadline_seconds)
            )
        with upstream_errors():
            async for response in call:
                if response.HasField("receipt"):
                    receipt = response.receipt
                    return Indexed(
                        from_message(receipt.document, Document), receipt.index_revision, receipt.replaced
                    )
                on_stored(response.stored.count)
        raise UpstreamError("the index gave no receipt", code="INTERNAL", reason="INTERNAL")

    def speaks_for(self, tenant: str) -> bool:
        """Whether the index can be told of this tenant: without a key, of that of all callers alone."""
        return self._keys is not None or tenant == LOCAL.tenant

    async def report_archive(self, tenant: str, documents: int) -> int:
        """Say how many documents the archive has; how many of them the index lacks."""
        request = index_service_pb2.ReportArchiveRequest(document_count=documents)
        with upstream_errors():
            with self._for_tenant(tenant, INDEX_SERVICE, "ReportArchive"):
                call = self._index.ReportArchive(request, timeout=time_left(self._read_deadline_seconds))
            response = await call
        return response.missing_count

    async def shown(self, tenant: str) -> Mapping[str, str]:
        """The SHA-256 of the file of every document that the index shows, by id."""
        found: dict[str, str] = {}
        request = document_service_pb2.ListDocumentsRequest(page_size=DOCUMENTS_A_PAGE)
        while True:
            with upstream_errors():
                with self._for_tenant(tenant, DOCUMENT_SERVICE, "ListDocuments"):
                    call = self._documents.ListDocuments(
                        request, timeout=time_left(self._read_deadline_seconds)
                    )
                page = await call
            found |= {document.document_id: document.content_sha256 for document in page.documents}
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def _for_tenant(self, tenant: str, service: str, method: str) -> AbstractContextManager[None]:
        """Within it a call is begun that no caller has asked for, about all of a tenant's archive."""
        if self._keys is None:
            return nullcontext()
        return self._keys.speaking_for(Caller(tenant, "ingest"), f"/{service}/{method}")

    def _in_own_name(self, method: str) -> AbstractContextManager[None]:
        """Within it a call that ingest alone may make is begun, for the caller of now."""
        if self._keys is None:
            return nullcontext()
        return self._keys.speaking_for(current_caller(), f"/{INDEX_SERVICE}/{method}")


def _contents(chunks: Sequence[Chunk], definitions: Sequence[Definition]) -> str:
    """The digest of all that is sent of a version."""
    digests = [_chunk(chunk).digest for chunk in chunks]
    digests += [_definition(definition).digest for definition in definitions]
    return contents_digest(digests)


def _commit(document: Document, contents_sha256: str) -> index_service_pb2.Commit:
    message = to_message(replace(document, contents_sha256=contents_sha256), document_pb2.Document)
    message.digest = digest_of(message)
    return index_service_pb2.Commit(document=message)


async def _requests(
    commit: index_service_pb2.Commit, chunks: Sequence[Chunk], definitions: Sequence[Definition]
) -> AsyncIterator[index_service_pb2.ReplaceDocumentRequest]:
    request = index_service_pb2.ReplaceDocumentRequest
    document = commit.document
    header = index_service_pb2.ReplaceHeader(document_id=document.document_id, generation=document.generation)
    yield request(header=header)
    for batch in _batches(chunks, CHUNKS_A_BATCH):
        yield request(chunks=index_service_pb2.ChunkBatch(chunks=map(_chunk, batch)))
    for entries in _batches(definitions, DEFINITIONS_A_BATCH):
        yield request(definitions=index_service_pb2.DefinitionBatch(definitions=map(_definition, entries)))
    yield request(commit=commit)


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _chunk(chunk: Chunk) -> chunk_pb2.Chunk:
    message = to_message(chunk, chunk_pb2.Chunk)
    message.digest = digest_of(message)
    return message


def _definition(definition: Definition) -> definition_pb2.Definition:
    message = to_message(definition, definition_pb2.Definition)
    message.digest = digest_of(message)
    return message
