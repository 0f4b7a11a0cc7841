"""What the answer service offers: `clausegate.answer.v1.ResearchService`."""

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc

from chassis.auth import current_caller
from clausegate.answer.v1 import answer_pb2
from clausegate.answer.v1 import research_service_pb2 as research_pb2
from clausegate.answer.v1.research_service_pb2_grpc import ResearchServiceServicer
from clausegate.corpus.v1 import citation_pb2
from corpus.codec import to_message
from services.answer.research.research import Asked, Findings, Research
from services.answer.research.snippets import Snippet, Unverified
from services.answer.servicers.wire import usage_to_wire

Context = grpc.aio.ServicerContext[research_pb2.ExtractSnippetsRequest, research_pb2.ExtractSnippetsResponse]
UNVERIFIED = {
    research_pb2.UNVERIFIED_SNIPPETS_UNSPECIFIED: Unverified.DROP,
    research_pb2.UNVERIFIED_SNIPPETS_DROP: Unverified.DROP,
    research_pb2.UNVERIFIED_SNIPPETS_FLAG: Unverified.FLAG,
}


class ResearchServicer(ResearchServiceServicer):
    """Verbatim snippets for research."""

    def __init__(self, research: Research) -> None:
        self._research = research

    async def ExtractSnippets(  # noqa: N802 - the name of the RPC
        self, request: research_pb2.ExtractSnippetsRequest, context: Context
    ) -> AsyncIterator[research_pb2.ExtractSnippetsResponse]:
        """The snippets one by one, then all of them."""
        done = done_to_wire(await self._research.extract(asked_of(request), current_caller()))
        for snippet in done.snippets:
            yield research_pb2.ExtractSnippetsResponse(result=snippet)
        yield research_pb2.ExtractSnippetsResponse(done=done)


def asked_of(request: research_pb2.ExtractSnippetsRequest) -> Asked:
    """What is asked; nothing is checked yet."""
    return Asked(
        project=request.project,
        query=request.query,
        source_ids=tuple(request.source_ids),
        max_snippets=request.max_snippets,
        unverified=UNVERIFIED.get(request.unverified),
        max_cost_usd=request.max_cost_usd if request.HasField("max_cost_usd") else None,
    )


def done_to_wire(findings: Findings) -> research_pb2.SnippetsDone:
    """The whole result."""
    extraction = findings.extraction
    return research_pb2.SnippetsDone(
        result_count=len(extraction.snippets),
        summary=extraction.summary,
        processing_time_ms=round(findings.metadata.latency_seconds * 1000),
        no_results=not extraction.snippets,
        snippets=[_snippet(snippet) for snippet in extraction.snippets],
        dropped_snippets=extraction.dropped,
        cached=findings.cached,
        metadata=to_message(findings.metadata, answer_pb2.Metadata),
        usage=usage_to_wire(extraction.usage),
    )


def _snippet(snippet: Snippet) -> research_pb2.Snippet:
    chunk = snippet.chunk
    return research_pb2.Snippet(
        content=snippet.content,
        source_id=chunk.document_id if chunk else "",
        source_title=chunk.title if chunk else "",
        source_location=snippet.location,
        relevance=snippet.relevance,
        verified=snippet.citation is not None,
        chunk_id=chunk.chunk_id if chunk else "",
        citation=to_message(snippet.citation, citation_pb2.Citation) if snippet.citation else None,
        context_before=snippet.context_before,
        context_after=snippet.context_after,
        notes=[to_message(note, answer_pb2.Note) for note in snippet.notes],
    )
