"""What the answer service offers: `clausegate.answer.v1.RewriteService`."""

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc

from chassis.auth import current_caller
from clausegate.answer.v1 import answer_pb2
from clausegate.answer.v1 import rewrite_service_pb2 as rewrite_pb2
from clausegate.answer.v1.rewrite_service_pb2_grpc import RewriteServiceServicer
from corpus.codec import to_message
from services.answer.rewriting import RewriteRequest, Rewriting, Rewritten, sentences_of
from services.answer.servicers.wire import citations_to_wire, usage_to_wire

Context = grpc.aio.ServicerContext[rewrite_pb2.RewriteRequest, rewrite_pb2.RewriteResponse]
StreamContext = grpc.aio.ServicerContext[rewrite_pb2.StreamRewriteRequest, rewrite_pb2.StreamRewriteResponse]


class RewriteServicer(RewriteServiceServicer):
    """Rewritten texts."""

    def __init__(self, rewriting: Rewriting) -> None:
        self._rewriting = rewriting

    async def Rewrite(  # noqa: N802 - the name of the RPC
        self, request: rewrite_pb2.RewriteRequest, context: Context
    ) -> rewrite_pb2.RewriteResponse:
        """The text as instructed."""
        return to_wire(await self._rewriting.rewrite(asked_of(request), current_caller()))

    async def StreamRewrite(  # noqa: N802 - the name of the RPC
        self, request: rewrite_pb2.StreamRewriteRequest, context: StreamContext
    ) -> AsyncIterator[rewrite_pb2.StreamRewriteResponse]:
        """The same sentence by sentence."""
        rewritten = await self._rewriting.rewrite(asked_of(request), current_caller())
        for text in sentences_of(rewritten.text):
            sentence = rewrite_pb2.RewrittenSentence(text=text)
            yield rewrite_pb2.StreamRewriteResponse(sentence=sentence)
        yield rewrite_pb2.StreamRewriteResponse(completed=to_wire(rewritten))


def asked_of(request: rewrite_pb2.RewriteRequest | rewrite_pb2.StreamRewriteRequest) -> RewriteRequest:
    """What is asked; nothing is checked yet."""
    return RewriteRequest(
        text=request.text,
        instruction=request.instruction,
        before=request.before,
        after=request.after,
        sources=tuple(request.sources),
        document_ids=tuple(request.document_ids),
        reference_tokens=request.reference_tokens,
        max_cost_usd=request.max_cost_usd if request.HasField("max_cost_usd") else None,
    )


def to_wire(rewritten: Rewritten) -> rewrite_pb2.RewriteResponse:
    """The whole result."""
    return rewrite_pb2.RewriteResponse(
        text=rewritten.text,
        citations=citations_to_wire(rewritten.citations),
        metadata=to_message(rewritten.metadata, answer_pb2.Metadata),
        usage=usage_to_wire(rewritten.usage),
    )
