"""Calls the retrieval service, and turns what it sends into the nouns of this service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import TypeVar

import grpc

from chassis.channel import time_left
from chassis.errors import ServiceError
from chassis.status import upstream_errors
from clausegate.corpus.v1 import chunk_pb2, definition_pb2, document_pb2, span_pb2
from clausegate.retrieval.v1 import document_service_pb2 as documents_pb2
from clausegate.retrieval.v1 import retrieval_service_pb2 as retrieval_pb2
from clausegate.retrieval.v1.document_service_pb2_grpc import DocumentServiceStub
from clausegate.retrieval.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from services.answer import corpus
from services.answer.questions import Question
from services.answer.sentences import Sentence

RETRIED_SERVICES = ("clausegate.retrieval.v1.RetrievalService", "clausegate.retrieval.v1.DocumentService")
"""They only read, so the channel may repeat their calls."""
MAX_DEFINITIONS = 50
MAX_PASSAGE = 20_000
"""Characters of a passage; a sentence is longer only when it is no prose."""

_T = TypeVar("_T")


class RetrievalClient:
    """The calls that an answer needs. Every one raises `ServiceError` when it fails."""

    def __init__(self, channel: grpc.aio.Channel, deadline_seconds: float) -> None:
        """`deadline_seconds` bounds each call; the caller's own deadline may be shorter."""
        self._retrieval = RetrievalServiceStub(channel)
        self._documents = DocumentServiceStub(channel)
        self._deadline_seconds = deadline_seconds

    async def search(self, question: Question, *, top_k: int, vector_k: int, keyword_k: int) -> corpus.Found:
        """Candidates, with the question's background if they are to be graded."""
        request = retrieval_pb2.SearchRequest(
            query=question.query,
            sources=question.sources,
            document_ids=question.document_ids,
            top_k=top_k,
            vector_k=vector_k,
            keyword_k=keyword_k,
            background=question.grading,
        )
        return _found(await self._call(self._retrieval.Search(request, timeout=self._time_left())))

    async def find_definitions(
        self, question: Question, found: corpus.Found, sentences: Iterable[Sentence], max_depth: int
    ) -> tuple[corpus.ResolvedDefinition, ...]:
        """Definitions of the terms that the question or the sentences use, from where the search looked."""
        passages = [retrieval_pb2.Passage(text=question.query)]
        passages += [
            retrieval_pb2.Passage(text=one.text[:MAX_PASSAGE], document_id=one.chunk.document_id)
            for one in sentences
        ]
        request = retrieval_pb2.FindDefinitionsRequest(
            passages=passages,
            sources=question.sources,
            document_ids=_searched_documents(question, found),
            max_depth=max_depth,
            page_size=MAX_DEFINITIONS,
        )
        response = await self._call(self._retrieval.FindDefinitions(request, timeout=self._time_left()))
        return tuple(_resolved(one) for one in response.definitions)

    async def count_terms(
        self, question: Question, found: corpus.Found, terms: Sequence[str]
    ) -> corpus.Census:
        """How often each of `terms` stands where the search looked; without words the question counts."""
        request = retrieval_pb2.CountTermsRequest(
            terms=terms or [question.query.strip()[:200]],
            sources=question.sources,
            document_ids=_searched_documents(question, found),
        )
        response = await self._call(self._retrieval.CountTerms(request, timeout=self._time_left()))
        return corpus.Census(
            counts=tuple(corpus.TermCount(one.term, one.chunks) for one in response.counts),
            documents=response.documents,
            pages=response.pages,
            unreadable_pages=response.unreadable_pages,
            index_revision=response.index_revision,
        )

    async def read_back(
        self, chunk_ids: Sequence[str], document_ids: Sequence[str]
    ) -> tuple[Mapping[str, corpus.Chunk], Mapping[str, corpus.Document]]:
        """Chunks and documents as they stand in the index now, by id; what is gone is left out."""
        chunks, documents = await asyncio.gather(
            self._chunks(chunk_ids),
            asyncio.gather(*(self._document(document_id) for document_id in document_ids)),
        )
        return chunks, {one.document_id: one for one in documents if one}

    async def _chunks(self, chunk_ids: Sequence[str]) -> Mapping[str, corpus.Chunk]:
        try:
            return await self._chunks_at_once(chunk_ids)
        except ServiceError as error:
            if error.reason != "CHUNK_NOT_FOUND":
                raise
        # A document changed since the search: only the first missing id is named, so ask for each.
        parts = await asyncio.gather(*(self._chunk_if_live(chunk_id) for chunk_id in chunk_ids))
        return {chunk_id: chunk for part in parts for chunk_id, chunk in part.items()}

    async def _chunk_if_live(self, chunk_id: str) -> Mapping[str, corpus.Chunk]:
        try:
            return await self._chunks_at_once([chunk_id])
        except ServiceError as error:
            if error.reason != "CHUNK_NOT_FOUND":
                raise
            return {}

    async def _chunks_at_once(self, chunk_ids: Sequence[str]) -> Mapping[str, corpus.Chunk]:
        request = retrieval_pb2.GetChunksRequest(chunk_ids=chunk_ids)
        response = await self._call(self._retrieval.GetChunks(request, timeout=self._time_left()))
        return {one.chunk_id: _chunk(one) for one in response.chunks}

    async def _document(self, document_id: str) -> corpus.Document | None:
        request = documents_pb2.GetDocumentRequest(document_id=document_id)
        try:
            response = await self._call(self._documents.GetDocument(request, timeout=self._time_left()))
        except ServiceError as error:
            if error.reason != "DOCUMENT_NOT_FOUND":
                raise
            return None
        return _document(response.document)

    async def _call(self, call: Awaitable[_T]) -> _T:
        with upstream_errors():
            return await call

    def _time_left(self) -> float:
        return time_left(self._deadline_seconds)


def _searched_documents(question: Question, found: corpus.Found) -> Sequence[str]:
    """The documents asked for, else those the question names; empty means all of its sources."""
    return question.document_ids or tuple(found.routed)


def _found(response: retrieval_pb2.SearchResponse) -> corpus.Found:
    return corpus.Found(
        normalized_query=response.normalized_query,
        clause_question=response.clause_question,
        candidates=tuple(_candidate(one) for one in response.candidates),
        vector=_leg(response.vector),
        keyword=_leg(response.keyword),
        merged_count=response.merged.count,
        unique_chunks=response.merged.unique_chunks,
        background=corpus.Background(response.background.mean, response.background.calibrated),
        routed={one.document_id: one.score for one in response.routed_documents},
        keyword_stems=tuple(response.keyword_stems),
        lexicon_stems=tuple(response.lexicon_stems),
        index_revision=response.index_revision,
    )


def _leg(leg: retrieval_pb2.Leg) -> corpus.Leg:
    return corpus.Leg(leg.count, leg.top_score if leg.HasField("top_score") else None)


def _candidate(candidate: retrieval_pb2.Candidate) -> corpus.Candidate:
    return corpus.Candidate(
        chunk=_chunk(candidate.chunk),
        similarity=candidate.evidence.similarity,
        bm25=candidate.bm25_score,
        combined=candidate.evidence.combined,
        windows=tuple(corpus.Window(_span(one.span), one.similarity) for one in candidate.windows),
    )


def _chunk(chunk: chunk_pb2.Chunk) -> corpus.Chunk:
    return corpus.Chunk(
        chunk_id=chunk.chunk_id,
        alias=chunk.alias,
        document_id=chunk.document_id,
        source=chunk.source,
        title=chunk.title,
        heading_chain=tuple(chunk.heading_chain),
        section=chunk.section,
        text=chunk.text,
        span=_span(chunk.span),
        pages=tuple(corpus.PageSpan(one.page, _span(one.span)) for one in chunk.pages),
        table_header=chunk.table_header,
        generation=chunk.generation,
        sentences=tuple(_span(one) for one in chunk.sentences),
        sections=tuple(
            corpus.SectionSpan(tuple(one.heading_chain), _span(one.span)) for one in chunk.sections
        ),
    )


def _span(span: span_pb2.Span) -> corpus.Span:
    return corpus.Span(span.start, span.end)


def _resolved(one: retrieval_pb2.ResolvedDefinition) -> corpus.ResolvedDefinition:
    conflicting = tuple(_definition(other) for other in one.conflicting)
    return corpus.ResolvedDefinition(_definition(one.definition), one.depth, one.used_by, conflicting)


def _definition(one: definition_pb2.Definition) -> corpus.Definition:
    return corpus.Definition(
        term=one.term,
        text=one.text,
        span=_span(one.span),
        chunk_id=one.chunk_id,
        document_id=one.document_id,
        source=one.source,
    )


def _document(document: document_pb2.Document) -> corpus.Document:
    return corpus.Document(
        document_id=document.document_id,
        title=document.title,
        content_sha256=document.content_sha256,
        generation=document.generation,
        unreadable_pages=tuple(document.unreadable_pages),
    )
