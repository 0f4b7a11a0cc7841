"""What retrieval found, as this service looks at it: less than the messages hold, in another shape."""

from __future__ import annotations

from clausegate.retrieval.v1 import retrieval_service_pb2 as retrieval_pb2
from corpus.chunks import Chunk
from corpus.codec import from_message
from corpus.spans import Span
from services.answer.corpus import Assembled, Background, Candidate, Found, Leg, UnknownName, Window


def found_of(message: retrieval_pb2.SearchResponse) -> Found:
    """The result of a search."""
    return Found(
        normalized_query=message.normalized_query,
        clause_question=message.clause_question,
        candidates=tuple(map(candidate_of, message.candidates)),
        vector=from_message(message.vector, Leg),
        keyword=from_message(message.keyword, Leg),
        merged_count=message.merged.count,
        unique_chunks=message.merged.unique_chunks,
        background=from_message(message.background, Background),
        routed={document.document_id: document.score for document in message.routed_documents},
        keyword_stems=tuple(message.keyword_stems),
        lexicon_stems=tuple(message.lexicon_stems),
        index_revision=message.index_revision,
        names=tuple(tuple(name.document_ids) for name in message.names),
        unknown_names=tuple(from_message(name, UnknownName) for name in message.unknown_names),
    )


def candidate_of(message: retrieval_pb2.Candidate) -> Candidate:
    """A chunk that may answer."""
    return Candidate(
        chunk=from_message(message.chunk, Chunk),
        similarity=message.evidence.similarity,
        bm25=message.bm25_score,
        combined=message.evidence.combined,
        windows=tuple(from_message(window, Window) for window in message.windows),
    )


def assembled_of(message: retrieval_pb2.AssembleContextResponse) -> Assembled:
    """Source text for a writer."""
    return Assembled(
        passages=tuple(
            from_message(passage.chunk, Chunk).part(from_message(passage.span, Span))
            for passage in message.passages
        ),
        chunks_left_out=message.chunks_left_out,
        token_count=message.token_count,
        index_revision=message.index_revision,
    )
