"""RetrievalService on the wire: messages to values, one call, values to messages."""

from __future__ import annotations

from collections.abc import Sequence

import grpc

from chassis.auth import current_caller
from chassis.errors import InvalidInput
from clausegate.corpus.v1 import chunk_pb2, span_pb2
from clausegate.retrieval.v1 import retrieval_service_pb2 as wire
from clausegate.retrieval.v1.retrieval_service_pb2_grpc import RetrievalServiceServicer
from corpus.chunks import Chunk, ChunkId
from corpus.codec import to_message
from corpus.documents import DocumentId
from services.retrieval import queries
from services.retrieval.chunk_html import html_of
from services.retrieval.context import Assembled, ContextQuery
from services.retrieval.definitions import DefinitionQuery, Passage, ResolvedDefinition
from services.retrieval.indexes import Indexes
from services.retrieval.names.finding import QuestionName
from services.retrieval.names.index import Spelling
from services.retrieval.queries import Limits, SearchMode, SearchQuery
from services.retrieval.reading import count_terms, list_chunks, read_chunks
from services.retrieval.search import Candidate, Found, Leg
from services.retrieval.servicers.intact import chunk_to_wire, definition_to_wire, document_to_wire

Context = grpc.aio.ServicerContext[object, object]

MODES = {
    wire.SEARCH_MODE_UNSPECIFIED: SearchMode.HYBRID,
    wire.SEARCH_MODE_HYBRID: SearchMode.HYBRID,
    wire.SEARCH_MODE_KEYWORD: SearchMode.KEYWORD,
    wire.SEARCH_MODE_VECTOR: SearchMode.VECTOR,
    wire.SEARCH_MODE_KEYWORD_FIRST: SearchMode.KEYWORD_FIRST,
}


class RetrievalServicer(RetrievalServiceServicer):
    """Serves each caller its index."""

    def __init__(self, indexes: Indexes) -> None:
        self._indexes = indexes

    async def Search(  # noqa: N802
        self, request: wire.SearchRequest, context: Context
    ) -> wire.SearchResponse:
        """Find chunks."""
        query = _search_query(request)
        index = await self._indexes.whole(current_caller())
        return _found(await index.searcher.search(query))

    async def FindDefinitions(  # noqa: N802
        self, request: wire.FindDefinitionsRequest, context: Context
    ) -> wire.FindDefinitionsResponse:
        """Find definitions."""
        query = _definition_query(request)
        index = await self._indexes.whole(current_caller())
        page, revision = await index.finder.find(query)
        return wire.FindDefinitionsResponse(
            definitions=map(_resolved, page.items), next_page_token=page.next_token, index_revision=revision
        )

    async def GetChunks(  # noqa: N802
        self, request: wire.GetChunksRequest, context: Context
    ) -> wire.GetChunksResponse:
        """Read chunks."""
        if not request.chunk_ids:
            raise InvalidInput("Must not be empty.", field="chunk_ids")
        chunk_ids = [ChunkId(chunk_id) for chunk_id in queries.at_most(request.chunk_ids, 100, "chunk_ids")]
        index = await self._indexes.whole(current_caller())
        read = await read_chunks(index.store, chunk_ids)
        return wire.GetChunksResponse(
            chunks=[_chunk_to_wire(chunk, request.html) for chunk in read.chunks],
            documents=map(document_to_wire, read.documents),
            index_revision=read.revision,
        )

    async def ListChunks(  # noqa: N802
        self, request: wire.ListChunksRequest, context: Context
    ) -> wire.ListChunksResponse:
        """Read a page of a document's chunks."""
        document_id = queries.required_document_id(request.document_id)
        size = queries.count(request.page_size, "page_size", default=50, limit=100)
        index = await self._indexes.whole(current_caller())
        page = await list_chunks(index.store, document_id, size, request.page_token)
        return wire.ListChunksResponse(
            chunks=[_chunk_to_wire(chunk, request.html) for chunk in page.items],
            next_page_token=page.next_token,
        )

    async def AssembleContext(  # noqa: N802
        self, request: wire.AssembleContextRequest, context: Context
    ) -> wire.AssembleContextResponse:
        """Assemble source text."""
        query = ContextQuery(
            text=queries.question(request.query, "query") if request.query else "",
            scope=queries.scope(request.sources, request.document_ids),
            token_budget=queries.count(request.token_budget, "token_budget", default=8_000, limit=57_300),
        )
        index = await self._indexes.whole(current_caller())
        return _assembled(await index.assembler.assemble(query))

    async def CountTerms(  # noqa: N802
        self, request: wire.CountTermsRequest, context: Context
    ) -> wire.CountTermsResponse:
        """Count terms."""
        if not request.terms:
            raise InvalidInput("Must not be empty.", field="terms")
        terms = _terms(request.terms, 50)
        scope = queries.scope(request.sources, request.document_ids)
        index = await self._indexes.whole(current_caller())
        counted = await count_terms(index.store, terms, scope)
        pairs = zip(terms, counted.chunks, strict=True)
        return wire.CountTermsResponse(
            counts=[wire.TermCount(term=term, chunks=chunks) for term, chunks in pairs],
            documents=counted.coverage.documents,
            pages=counted.coverage.pages,
            unreadable_pages=counted.coverage.unreadable_pages,
            index_revision=counted.revision,
        )


def _chunk_to_wire(chunk: Chunk, with_html: bool) -> chunk_pb2.Chunk:
    message = chunk_to_wire(chunk)
    if with_html:
        message.html = html_of(chunk)
    return message


def _search_query(request: wire.SearchRequest) -> SearchQuery:
    if request.mode not in MODES:
        raise InvalidInput("Must be one of the modes of this version.", field="mode")
    versions = enumerate(queries.at_most(request.at_least, 100, "at_least"))
    return SearchQuery(
        text=queries.question(request.query, "query"),
        scope=queries.scope(request.sources, request.document_ids),
        mode=MODES[request.mode],
        limits=Limits(
            top_k=queries.count(request.top_k, "top_k", default=12, limit=100),
            vector_k=queries.count(request.vector_k, "vector_k", default=10, limit=200),
            keyword_k=queries.count(request.keyword_k, "keyword_k", default=10, limit=200),
        ),
        background=request.background,
        route=request.route if request.HasField("route") else True,
        at_least=tuple(
            queries.version_of(version.document_id, version.generation, f"at_least[{n}]")
            for n, version in versions
        ),
    )


def _definition_query(request: wire.FindDefinitionsRequest) -> DefinitionQuery:
    passages = queries.at_most(request.passages, 50, "passages")
    return DefinitionQuery(
        terms=_terms(request.terms, 100),
        passages=tuple(_passage(passage, f"passages[{number}]") for number, passage in enumerate(passages)),
        scope=queries.scope(request.sources, request.document_ids),
        max_depth=queries.count(request.max_depth, "max_depth", default=2, limit=5),
        page_size=queries.count(request.page_size, "page_size", default=50, limit=200),
        page_token=request.page_token,
    )


def _passage(message: wire.Passage, field: str) -> Passage:
    if len(message.text) > 20_000:
        raise InvalidInput("Must not be longer than 20,000 characters.", field=f"{field}.text")
    return Passage(message.text, DocumentId(message.document_id) or None)


def _terms(terms: Sequence[str], limit: int) -> tuple[str, ...]:
    checked = queries.at_most(terms, limit, "terms")
    return tuple(queries.visible(term, f"terms[{number}]", 200) for number, term in enumerate(checked))


def _found(found: Found) -> wire.SearchResponse:
    destination = found.asked.destination
    response = wire.SearchResponse(
        normalized_query=found.asked.normalised,
        candidates=map(_candidate, found.candidates),
        vector=_leg(found.vector),
        keyword=_leg(found.keyword),
        merged=wire.Merged(
            count=len(found.vector.hits) + len(found.keyword.hits),
            unique_chunks=len({*found.vector.hits, *found.keyword.hits}),
        ),
        routed_documents=[to_message(routed, wire.RoutedDocument) for routed in destination.routed],
        clause_question=destination.clause_question,
        names=map(_question_name, destination.names),
        unknown_names=[to_message(name, wire.UnknownName) for name in destination.unknown],
        keyword_stems=found.asked.keyword_stems,
        lexicon_stems=found.asked.lexicon_stems,
        index_revision=found.revision,
    )
    if found.background:
        response.background.mean = found.background.mean
        response.background.documents = found.background.documents
        response.background.calibrated = found.background.calibrated
    return response


def _question_name(name: QuestionName) -> wire.QuestionName:
    return wire.QuestionName(
        spans=[to_message(span, span_pb2.Span) for span in name.spans],
        document_ids=name.documents,
        misspelt=name.spelling is Spelling.ONE_LETTER,
    )


def _assembled(assembled: Assembled) -> wire.AssembleContextResponse:
    return wire.AssembleContextResponse(
        text=assembled.packed.text,
        passages=[
            wire.ContextPassage(
                chunk=chunk_to_wire(passage.chunk), span=to_message(passage.span, span_pb2.Span)
            )
            for passage in assembled.packed.passages
        ],
        token_count=assembled.packed.tokens,
        token_encoding=assembled.encoding,
        chunks_left_out=assembled.left_out,
        index_revision=assembled.revision,
    )


def _leg(leg: Leg) -> wire.Leg:
    return wire.Leg(count=len(leg.hits), top_score=leg.top_score)


def _candidate(candidate: Candidate) -> wire.Candidate:
    vector, keyword, evidence = candidate.vector, candidate.keyword, candidate.evidence
    return wire.Candidate(
        chunk=chunk_to_wire(candidate.chunk),
        vector_similarity=vector.score if vector else None,
        bm25_score=keyword.score if keyword else None,
        vector_rank=vector.rank if vector else None,
        keyword_rank=keyword.rank if keyword else None,
        fused_score=candidate.ranking_score,
        ranking_score=candidate.ranking_score,
        evidence=wire.LocalEvidence(
            similarity=evidence.similarity,
            keyword_share=evidence.keyword_share,
            lexicon_share=evidence.lexicon_share,
            combined=evidence.combined,
        ),
        windows=[to_message(window, wire.WindowMatch) for window in candidate.windows],
    )


def _resolved(resolved: ResolvedDefinition) -> wire.ResolvedDefinition:
    return wire.ResolvedDefinition(
        definition=definition_to_wire(resolved.definition),
        depth=resolved.depth,
        used_by=resolved.used_by,
        conflicting=map(definition_to_wire, resolved.conflicting),
    )
