"""A served retrieval service, and documents to put into it."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from chassis.channel import open_channel
from chassis.server import serving
from chassis.status import upstream_errors
from clausegate.corpus.v1 import chunk_pb2, definition_pb2, document_pb2, profile_pb2, span_pb2
from clausegate.digests import contents_digest, digest_of
from clausegate.retrieval.v1 import (
    article_store_service_pb2_grpc,
    document_service_pb2_grpc,
    index_service_pb2,
    index_service_pb2_grpc,
    project_service_pb2_grpc,
    retrieval_service_pb2_grpc,
)
from corpus.codec import from_message, to_message
from corpus.documents import DocumentId, Generation, Version
from corpus.ids import chunk_id_of, definition_id_of
from corpus.profiles import DocumentProfile
from corpus.spans import Span
from inference.fetch import DEFAULT_MODEL_DIR
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import retrieval
from tests.contract.store import weaviate_server
from tests.fakes.weaviate_server import WeaviateServer

MODEL = DEFAULT_MODEL_DIR
Request = index_service_pb2.ReplaceDocumentRequest


def with_digest(message):
    """The message with its digest, as ingest sends it."""
    message.digest = digest_of(message)
    return message


@dataclass(frozen=True)
class Text:
    """A document: paragraphs, each a chunk, and terms with the paragraph that defines them."""

    document_id: str
    paragraphs: Sequence[str]
    terms: Sequence[tuple[str, int]] = ()
    pages: int = 0
    profile: DocumentProfile | None = None

    @property
    def generation(self):
        return hashlib.sha256("\n\n".join(self.paragraphs).encode()).hexdigest()[:32]

    @property
    def _version(self):
        return Version(DocumentId(self.document_id), Generation(self.generation))

    def span(self, number):
        start = sum(len(paragraph) + 2 for paragraph in self.paragraphs[:number])
        return span_pb2.Span(start=start, end=start + len(self.paragraphs[number]))

    def chunk_id(self, number):
        return chunk_id_of(self._version, number)

    def chunk(self, number):
        source, _, path = self.document_id.partition("/")
        text = self.paragraphs[number]
        return with_digest(
            chunk_pb2.Chunk(
                chunk_id=self.chunk_id(number),
                alias=f"{source}__{path}_{number}",
                document_id=self.document_id,
                source=source,
                title=path,
                heading_chain=["Terms"],
                section="Terms",
                text=text,
                word_count=len(text.split()),
                span=self.span(number),
                pages=[span_pb2.PageSpan(page=1, span=self.span(number))] if self.pages else [],
                content_sha256=hashlib.sha256(text.encode()).hexdigest(),
                ordinal=number,
                generation=self.generation,
                sentences=[self.span(number)],
            )
        )

    def definition(self, term, number):
        source, _, path = self.document_id.partition("/")
        return with_digest(
            definition_pb2.Definition(
                definition_id=definition_id_of(self._version, from_message(self.span(number), Span), term),
                term=term,
                text=self.paragraphs[number],
                span=self.span(number),
                chunk_id=self.chunk_id(number),
                document_id=self.document_id,
                source=source,
                title=path,
                section="Terms",
            )
        )

    def document(self):
        source, _, path = self.document_id.partition("/")
        return with_digest(
            document_pb2.Document(
                document_id=self.document_id,
                source=source,
                path=path,
                title=path,
                format=document_pb2.DOCUMENT_FORMAT_PDF if self.pages else document_pb2.DOCUMENT_FORMAT_TEXT,
                content_sha256=hashlib.sha256(self.generation.encode()).hexdigest(),
                generation=self.generation,
                size_bytes=1000,
                page_count=self.pages,
                unreadable_pages=range(2, self.pages + 1),
                chunk_count=len(self.paragraphs),
                definition_count=len(self.terms),
                contents_sha256=self.contents(),
                profile=to_message(self.profile, profile_pb2.DocumentProfile) if self.profile else None,
            )
        )

    def contents(self):
        chunks = [self.chunk(number) for number in range(len(self.paragraphs))]
        definitions = [self.definition(term, number) for term, number in self.terms]
        return contents_digest(each.digest for each in (*chunks, *definitions))

    def header(self):
        header = index_service_pb2.ReplaceHeader(document_id=self.document_id, generation=self.generation)
        return Request(header=header)

    def chunks(self, *numbers):
        numbers = numbers or range(len(self.paragraphs))
        return Request(chunks=index_service_pb2.ChunkBatch(chunks=map(self.chunk, numbers)))

    def definitions(self):
        found = [self.definition(term, number) for term, number in self.terms]
        return Request(definitions=index_service_pb2.DefinitionBatch(definitions=found))

    def commit(self):
        return Request(commit=index_service_pb2.Commit(document=self.document()))

    def requests(self):
        definitions = [self.definitions()] if self.terms else []
        return [self.header(), self.chunks(), *definitions, self.commit()]


@dataclass(frozen=True)
class Service:
    """Stubs of a running service."""

    retrieval: retrieval_service_pb2_grpc.RetrievalServiceStub
    documents: document_service_pb2_grpc.DocumentServiceStub
    index: index_service_pb2_grpc.IndexServiceStub
    projects: project_service_pb2_grpc.ProjectServiceStub
    articles: article_store_service_pb2_grpc.ArticleStoreServiceStub

    async def call(self, method, request):
        with upstream_errors():
            return await method(request, timeout=30)

    async def send(self, requests):
        """The events of a replace."""
        with upstream_errors():
            return [event async for event in self.index.ReplaceDocument(iter(requests), timeout=30)]

    async def put(self, text: Text):
        """The receipt of a whole document."""
        return (await self.send(text.requests()))[-1].receipt


@asynccontextmanager
async def running(folder: Path, sockets: Path, **more: Any) -> AsyncIterator[Service]:
    """Serve over `folder` at a Unix socket in `sockets`, with more settings."""
    settings = RetrievalSettings(data_dir=folder, model_dir=MODEL, **more)
    async with (
        retrieval(settings) as services,
        serving(f"unix:{sockets}/retrieval", [services]) as address,
        open_channel(address) as channel,
    ):
        await weaviate_server.becomes_ready(services.readiness)
        yield service_at(channel)


@contextmanager
def _files() -> Iterator[dict[str, str]]:
    yield {}


@contextmanager
def _fake() -> Iterator[dict[str, str]]:
    with WeaviateServer() as server:
        where = {"weaviate_url": server.url, "weaviate_grpc_url": server.grpc_url}
        yield {"store": "weaviate", **where, **weaviate_server.PATIENT}


@contextmanager
def _real() -> Iterator[dict[str, str]]:
    prefix = f"Service{secrets.token_hex(4)}"
    yield {"store": "weaviate", **weaviate_server.settings(prefix).model_dump(include=WEAVIATE)}
    weaviate_server.drop_collections(prefix)


WEAVIATE = {"weaviate_url", "weaviate_grpc_url", "weaviate_api_key", "weaviate_prefix"}
STORES = [pytest.param(_files, id="embedded"), pytest.param(_fake, id="weaviate-fake")]
"""Give the settings of a service over one store."""
if weaviate_server.URL:
    STORES.append(pytest.param(_real, id="weaviate", marks=pytest.mark.weaviate))


def service_at(channel: grpc.aio.Channel) -> Service:
    """Stubs on a channel."""
    return Service(
        retrieval_service_pb2_grpc.RetrievalServiceStub(channel),
        document_service_pb2_grpc.DocumentServiceStub(channel),
        index_service_pb2_grpc.IndexServiceStub(channel),
        project_service_pb2_grpc.ProjectServiceStub(channel),
        article_store_service_pb2_grpc.ArticleStoreServiceStub(channel),
    )
