"""What retrieval sends, as the nouns of this service."""

from __future__ import annotations

from collections.abc import Iterable

from clausegate.corpus.v1 import chunk_pb2, definition_pb2, document_pb2, span_pb2
from clausegate.retrieval.v1 import project_service_pb2 as projects_pb2
from clausegate.retrieval.v1 import retrieval_service_pb2 as retrieval_pb2
from services.answer import corpus

DOUBTS = {
    chunk_pb2.TEXT_DOUBT_KIND_READING_ORDER: corpus.TextDoubtKind.READING_ORDER,
    chunk_pb2.TEXT_DOUBT_KIND_MISSING_WORDS: corpus.TextDoubtKind.MISSING_WORDS,
}


def found_of(message: retrieval_pb2.SearchResponse) -> corpus.Found:
    """The result of a search."""
    return corpus.Found(
        normalized_query=message.normalized_query,
        clause_question=message.clause_question,
        candidates=tuple(map(candidate_of, message.candidates)),
        vector=leg_of(message.vector),
        keyword=leg_of(message.keyword),
        merged_count=message.merged.count,
        unique_chunks=message.merged.unique_chunks,
        background=corpus.Background(message.background.mean, message.background.calibrated),
        routed={one.document_id: one.score for one in message.routed_documents},
        keyword_stems=tuple(message.keyword_stems),
        lexicon_stems=tuple(message.lexicon_stems),
        index_revision=message.index_revision,
    )


def leg_of(message: retrieval_pb2.Leg) -> corpus.Leg:
    """One leg of a search."""
    return corpus.Leg(message.count, message.top_score if message.HasField("top_score") else None)


def candidate_of(message: retrieval_pb2.Candidate) -> corpus.Candidate:
    """A chunk that may answer."""
    return corpus.Candidate(
        chunk=chunk_of(message.chunk),
        similarity=message.evidence.similarity,
        bm25=message.bm25_score,
        combined=message.evidence.combined,
        windows=tuple(corpus.Window(span_of(one.span), one.similarity) for one in message.windows),
    )


def chunk_of(message: chunk_pb2.Chunk) -> corpus.Chunk:
    """A chunk as stored."""
    return corpus.Chunk(
        chunk_id=message.chunk_id,
        alias=message.alias,
        document_id=message.document_id,
        source=message.source,
        title=message.title,
        heading_chain=tuple(message.heading_chain),
        section=message.section,
        text=message.text,
        span=span_of(message.span),
        pages=pages_of(message.pages),
        table_header=message.table_header,
        generation=message.generation,
        sentences=tuple(map(span_of, message.sentences)),
        sections=tuple(
            corpus.SectionSpan(tuple(one.heading_chain), span_of(one.span)) for one in message.sections
        ),
        context_before=tuple(map(context_of, message.context_before)),
        context_after=tuple(map(context_of, message.context_after)),
        doubts=tuple(map(doubt_of, message.doubts)),
    )


def context_of(message: chunk_pb2.ContextPart) -> corpus.ContextPart:
    """Words that govern a part of a chunk."""
    return corpus.ContextPart(
        span_of(message.span), message.text, span_of(message.governs), pages_of(message.pages)
    )


def doubt_of(message: chunk_pb2.TextDoubt) -> corpus.TextDoubt:
    """A doubtful part of a chunk."""
    return corpus.TextDoubt(span_of(message.span), DOUBTS.get(message.kind, corpus.TextDoubtKind.UNKNOWN))


def pages_of(messages: Iterable[span_pb2.PageSpan]) -> tuple[corpus.PageSpan, ...]:
    """The parts of a span on its pages."""
    return tuple(corpus.PageSpan(one.page, span_of(one.span)) for one in messages)


def span_of(message: span_pb2.Span) -> corpus.Span:
    """A span."""
    return corpus.Span(message.start, message.end)


def resolved_of(message: retrieval_pb2.ResolvedDefinition) -> corpus.ResolvedDefinition:
    """A definition and why it was found."""
    conflicting = tuple(map(definition_of, message.conflicting))
    return corpus.ResolvedDefinition(
        definition_of(message.definition), message.depth, message.used_by, conflicting
    )


def definition_of(message: definition_pb2.Definition) -> corpus.Definition:
    """A definition."""
    return corpus.Definition(
        term=message.term,
        text=message.text,
        span=span_of(message.span),
        chunk_id=message.chunk_id,
        document_id=message.document_id,
        source=message.source,
    )


def document_of(message: document_pb2.Document) -> corpus.Document:
    """A document's live version."""
    return corpus.Document(
        document_id=message.document_id,
        title=message.title,
        content_sha256=message.content_sha256,
        generation=message.generation,
        unreadable_pages=tuple(message.unreadable_pages),
        hidden_characters=message.hidden_characters,
        scanned_pages=tuple(message.scanned_pages),
        reference_marks=message.reference_marks,
        running_lines=message.running_lines,
    )


def project_of(message: projects_pb2.Project) -> corpus.Project:
    """A project."""
    return corpus.Project(message.project_id, tuple(message.sources))


def assembled_of(message: retrieval_pb2.AssembleContextResponse) -> corpus.Assembled:
    """Source text for a writer."""
    return corpus.Assembled(
        passages=tuple(chunk_of(one.chunk).part(span_of(one.span)) for one in message.passages),
        chunks_left_out=message.chunks_left_out,
        token_count=message.token_count,
        index_revision=message.index_revision,
    )
