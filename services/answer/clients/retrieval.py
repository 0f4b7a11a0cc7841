"""Calls the retrieval service, and turns what it sends into the nouns of this service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import grpc

from chassis.channel import time_left
from chassis.errors import NotFound, ServiceError
from chassis.limits.concurrency import FairQueue
from chassis.status import upstream_errors
from clausegate.retrieval.v1 import document_service_pb2 as documents_pb2
from clausegate.retrieval.v1 import index_service_pb2 as index_pb2
from clausegate.retrieval.v1 import project_service_pb2 as projects_pb2
from clausegate.retrieval.v1 import retrieval_service_pb2 as retrieval_pb2
from clausegate.retrieval.v1.document_service_pb2_grpc import DocumentServiceStub
from clausegate.retrieval.v1.index_service_pb2_grpc import IndexServiceStub
from clausegate.retrieval.v1.project_service_pb2_grpc import ProjectServiceStub
from clausegate.retrieval.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from corpus.chunks import Chunk
from corpus.codec import from_message
from corpus.documents import Document, Version
from services.answer.breaks import neighbours_of
from services.answer.cards import card_of
from services.answer.clients import wire
from services.answer.corpus import Assembled, Census, Embedding, Found, Project, ResolvedDefinition
from services.answer.questions import Question
from services.answer.sentences import Sentence

RETRIED_SERVICES = ("clausegate.retrieval.v1.RetrievalService", "clausegate.retrieval.v1.DocumentService")
"""They only read, so the channel may repeat their calls."""
MAX_DEFINITIONS = 50
MAX_PASSAGE = 20_000
"""Characters of a passage; a sentence is longer only when it is no prose."""
MAX_DOCUMENTS = 1000
"""Documents of a page."""
MAX_SOURCES = 1000
"""Sources of a page."""
MAX_CHUNKS = 100
"""Chunks of a page."""
MAX_CARDS = 10_000
"""Cards that are kept, some 300 bytes each."""

_T = TypeVar("_T")
_Listing = (
    documents_pb2.ListSourcesRequest | documents_pb2.ListDocumentsRequest | retrieval_pb2.ListChunksRequest
)
_Page = TypeVar(
    "_Page",
    documents_pb2.ListSourcesResponse,
    documents_pb2.ListDocumentsResponse,
    retrieval_pb2.ListChunksResponse,
)
_Stored = tuple[Mapping[str, Chunk], Mapping[str, Document]]
"""Chunks and their documents, by id."""


class DocumentNotFound(NotFound):
    """A document that the caller asked for is not indexed."""

    reason = "DOCUMENT_NOT_FOUND"


class RetrievalClient:
    """The calls that an answer needs. Every one raises `ServiceError` when it fails."""

    def __init__(self, channel: grpc.aio.Channel, deadline_seconds: float, at_once: int) -> None:
        """`deadline_seconds` bounds each call; the caller's own deadline may be shorter. At most `at_once`
        calls run, others wait for their turn as they came."""
        self._queue = FairQueue("retrieval", at_once)
        self._retrieval = RetrievalServiceStub(channel)
        self._documents = DocumentServiceStub(channel)
        self._projects = ProjectServiceStub(channel)
        self._index = IndexServiceStub(channel)
        self._deadline_seconds = deadline_seconds
        self._cards: dict[Version, str] = {}

    async def search(
        self, question: Question, *, top_k: int, vector_k: int, keyword_k: int, route: bool = True
    ) -> Found:
        """Candidates, with the question's background if they are to be graded.

        `route`: a question that names its document is answered within it.
        """
        request = retrieval_pb2.SearchRequest(
            query=question.query,
            sources=question.sources,
            document_ids=question.document_ids,
            top_k=top_k,
            vector_k=vector_k,
            keyword_k=keyword_k,
            background=question.grading,
            route=route,
        )
        return wire.found_of(await self._call(self._retrieval.Search, request))

    async def find_definitions(
        self, question: Question, found: Found, sentences: Iterable[Sentence], max_depth: int
    ) -> tuple[ResolvedDefinition, ...]:
        """Definitions of the terms that the question or the sentences use, from where the search looked."""
        passages = [retrieval_pb2.Passage(text=question.query)]
        passages += [
            retrieval_pb2.Passage(text=sentence.text[:MAX_PASSAGE], document_id=sentence.chunk.document_id)
            for sentence in sentences
        ]

        async def find(document_ids: Sequence[str]) -> retrieval_pb2.FindDefinitionsResponse:
            request = retrieval_pb2.FindDefinitionsRequest(
                passages=passages,
                sources=question.sources,
                document_ids=document_ids,
                max_depth=max_depth,
                page_size=MAX_DEFINITIONS,
            )
            return await self._call(self._retrieval.FindDefinitions, request)

        response = await self._where_searched(question, found, find)
        return tuple(from_message(found, ResolvedDefinition) for found in response.definitions)

    async def count_terms(self, question: Question, found: Found, terms: Sequence[str]) -> Census:
        """How often each of `terms` stands where the search looked; without words the question counts."""
        counted = terms or [question.query.strip()[:200]]

        async def count(document_ids: Sequence[str]) -> retrieval_pb2.CountTermsResponse:
            request = retrieval_pb2.CountTermsRequest(
                terms=counted, sources=question.sources, document_ids=document_ids
            )
            return await self._call(self._retrieval.CountTerms, request)

        response = await self._where_searched(question, found, count)
        return from_message(response, Census)

    async def read_back(self, chunk_ids: Iterable[str]) -> tuple[Mapping[str, Chunk], Mapping[str, Document]]:
        """Chunks, and their documents, as they stand in the index now, by id; what is gone is left out."""
        chunks, documents = await self._chunks(list(dict.fromkeys(chunk_ids)))
        # Retrieval reads one after the other: a document may have been replaced in between.
        live = {document.document_id: document.generation for document in documents.values()}
        return {
            chunk_id: chunk
            for chunk_id, chunk in chunks.items()
            if live.get(chunk.document_id) == chunk.generation
        }, documents

    async def read_to_quote(
        self, chunk_ids: Iterable[str]
    ) -> tuple[Mapping[str, Chunk], Mapping[str, Document]]:
        """The same with the chunks beside them in which their sentences and lists may begin or go on."""
        chunks, documents = await self.read_back(chunk_ids)
        beside = [neighbour for neighbour in neighbours_of(chunks.values()) if neighbour not in chunks]
        read, _ = await self.read_back(beside)
        return {**read, **chunks}, documents

    async def project(self, project_id: str) -> Project:
        """The project; PROJECT_NOT_FOUND names the field `project`, as requests of this service do."""
        request = projects_pb2.GetProjectRequest(project_id=project_id)
        try:
            response = await self._call(self._projects.GetProject, request)
        except ServiceError as error:
            error.field = error.field and "project"
            raise
        return from_message(response.project, Project)

    async def embedding(self) -> Embedding:
        """What the index is embedded with."""
        found = await self._call(self._index.DescribeIndex, index_pb2.DescribeIndexRequest())
        return Embedding(found.embedding_model, found.embedding_dimension, found.embedding_host)

    async def document_count(self, sources: Sequence[str]) -> int:
        """Live documents of these sources; of all when there are none."""
        request = documents_pb2.ListSourcesRequest(page_size=MAX_SOURCES)
        pages = self._pages(self._documents.ListSources, request)
        counts = {s.source: s.document_count async for page in pages for s in page.sources}
        return sum(counts.get(source, 0) for source in set(sources or counts))

    async def live_sources(self) -> frozenset[str]:
        """The sources that have documents."""
        request = documents_pb2.ListSourcesRequest(page_size=MAX_SOURCES)
        pages = self._pages(self._documents.ListSources, request)
        return frozenset([source.source async for page in pages for source in page.sources])

    async def assemble(
        self, query: str, sources: Sequence[str], document_ids: Sequence[str], token_budget: int
    ) -> Assembled:
        """Chunks for a writer, see `clausegate.retrieval.v1.AssembleContextRequest`."""
        request = retrieval_pb2.AssembleContextRequest(
            query=query, sources=sources, document_ids=document_ids, token_budget=token_budget
        )
        return wire.assembled_of(await self._call(self._retrieval.AssembleContext, request))

    async def document_chunks(self, document_id: str) -> AsyncIterator[Chunk]:
        """The live chunks of a document in order; DOCUMENT_CONFLICT when it is replaced meanwhile."""
        request = retrieval_pb2.ListChunksRequest(document_id=document_id, page_size=MAX_CHUNKS)
        async for page in self._pages(self._retrieval.ListChunks, request):
            for chunk in page.chunks:
                yield from_message(chunk, Chunk)

    async def documents(self, sources: Sequence[str], document_ids: Sequence[str]) -> tuple[Document, ...]:
        """The live documents of a scope by id: those of `document_ids`, else all of `sources`, else all.

        An unknown source or document is SOURCE_NOT_FOUND or DOCUMENT_NOT_FOUND with its field.
        """
        if document_ids:
            return await self._documents_named(sorted(set(document_ids)), document_ids)
        request = documents_pb2.ListDocumentsRequest(sources=sources, page_size=MAX_DOCUMENTS)
        pages = self._pages(self._documents.ListDocuments, request)
        return tuple(
            [from_message(document, Document) async for page in pages for document in page.documents]
        )

    async def _documents_named(
        self, document_ids: Sequence[str], asked: Sequence[str]
    ) -> tuple[Document, ...]:
        live = await self.live_documents(document_ids)
        for number, document_id in enumerate(asked):
            if document_id not in live:
                field = f"document_ids[{number}]"
                raise DocumentNotFound(f"The document is not indexed: {document_id}", field=field)
        return tuple(live[document_id] for document_id in document_ids)

    async def _where_searched(
        self, question: Question, found: Found, ask: Callable[[Sequence[str]], Awaitable[_T]]
    ) -> _T:
        """Ask about the documents that were searched: those the question names, else those asked for.

        Nobody asked for the former by id, so one that was removed since is passed over.
        """
        named = tuple(found.routed)
        try:
            return await ask(named or question.document_ids)
        except ServiceError as error:
            if not named or error.reason != "DOCUMENT_NOT_FOUND":
                raise
        return await ask(tuple(await self.live_documents(named)))

    async def live_documents(self, document_ids: Iterable[str]) -> Mapping[str, Document]:
        """Documents by id, in the order given; those that are not indexed are left out."""
        documents = await asyncio.gather(*map(self._document, document_ids))
        return {document.document_id: document for document in documents if document}

    async def cards(self, chunks: Iterable[Chunk]) -> Mapping[str, str]:
        """What the documents of chunks are, by id, see `card_of`; a version's is asked for once.

        A document that was replaced since has none.
        """
        versions = list(dict.fromkeys(chunk.version for chunk in chunks))
        unknown = [version.document_id for version in versions if version not in self._cards]
        for document in (await self.live_documents(unknown)).values():
            self._cards[document.version] = card_of(document)
        cards: dict[str, str] = {
            known.document_id: self._cards[known] for known in versions if known in self._cards
        }
        while len(self._cards) > MAX_CARDS:
            del self._cards[next(iter(self._cards))]
        return cards

    async def _chunks(self, chunk_ids: Sequence[str]) -> _Stored:
        if not chunk_ids:
            return {}, {}
        try:
            return await self._chunks_at_once(chunk_ids)
        except ServiceError as error:
            if error.reason != "CHUNK_NOT_FOUND":
                raise
        # A document changed since the search: only the first missing id is named, so ask for each.
        parts = await asyncio.gather(*(self._chunk_if_live(chunk_id) for chunk_id in chunk_ids))
        chunks = {chunk_id: chunk for part, _ in parts for chunk_id, chunk in part.items()}
        return chunks, {name: document for _, part in parts for name, document in part.items()}

    async def _chunk_if_live(self, chunk_id: str) -> _Stored:
        try:
            return await self._chunks_at_once([chunk_id])
        except ServiceError as error:
            if error.reason != "CHUNK_NOT_FOUND":
                raise
            return {}, {}

    async def _chunks_at_once(self, chunk_ids: Sequence[str]) -> _Stored:
        request = retrieval_pb2.GetChunksRequest(chunk_ids=chunk_ids)
        response = await self._call(self._retrieval.GetChunks, request)
        chunks = {chunk.chunk_id: from_message(chunk, Chunk) for chunk in response.chunks}
        return chunks, {
            document.document_id: from_message(document, Document) for document in response.documents
        }

    async def _document(self, document_id: str) -> Document | None:
        request = documents_pb2.GetDocumentRequest(document_id=document_id)
        try:
            response = await self._call(self._documents.GetDocument, request)
        except ServiceError as error:
            if error.reason != "DOCUMENT_NOT_FOUND":
                raise
            return None
        return from_message(response.document, Document)

    async def _pages(
        self, method: Callable[..., Awaitable[_Page]], request: _Listing
    ) -> AsyncIterator[_Page]:
        """Every page of a list, each asked for when it is wanted."""
        while True:
            page = await self._call(method, request)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def _call(self, method: Callable[..., Awaitable[_T]], request: object) -> _T:
        """The response; the time that a call waits for its turn is none of its own."""
        async with self._queue.turn():
            with upstream_errors():
                return await method(request, timeout=time_left(self._deadline_seconds))
