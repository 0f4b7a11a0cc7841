"""What the answer service offers: `clausegate.answer.v1.QueryGenerationService`."""

from __future__ import annotations

import grpc

from chassis.auth import current_caller
from clausegate.answer.v1 import answer_pb2
from clausegate.answer.v1 import query_generation_service_pb2 as generation_pb2
from clausegate.answer.v1.query_generation_service_pb2_grpc import QueryGenerationServiceServicer
from corpus.codec import to_message
from services.answer.query_generation import DEFAULT_COUNT, QueriesRequest, QueryGeneration
from services.answer.servicers.wire import usage_to_wire

Context = grpc.aio.ServicerContext[
    generation_pb2.GenerateQueriesRequest, generation_pb2.GenerateQueriesResponse
]


class QueryGenerationServicer(QueryGenerationServiceServicer):
    """Search queries for a topic."""

    def __init__(self, generation: QueryGeneration) -> None:
        self._generation = generation

    async def GenerateQueries(  # noqa: N802 - the name of the RPC
        self, request: generation_pb2.GenerateQueriesRequest, context: Context
    ) -> generation_pb2.GenerateQueriesResponse:
        """Exactly as many queries as asked for."""
        asked = QueriesRequest(
            topic=request.topic,
            category=request.category,
            locality=request.locality,
            count=request.count if request.HasField("count") else DEFAULT_COUNT,
            max_cost_usd=request.max_cost_usd if request.HasField("max_cost_usd") else None,
        )
        found = await self._generation.generate(asked, current_caller())
        return generation_pb2.GenerateQueriesResponse(
            queries=found.queries,
            metadata=to_message(found.metadata, answer_pb2.Metadata),
            usage=usage_to_wire(found.usage),
        )
