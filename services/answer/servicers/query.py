"""What the answer service offers: `clausegate.answer.v1.QueryService`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import grpc

from chassis.auth import current_caller
from clausegate.answer.v1 import query_service_pb2 as query_pb2
from clausegate.answer.v1.query_service_pb2_grpc import QueryServiceServicer
from services.answer.query.each import QueryingEach
from services.answer.query.querying import Querying
from services.answer.servicers.wire import (
    each_event_to_wire,
    each_question_of,
    event_to_wire,
    question_of,
    response_to_wire,
)

Context = grpc.aio.ServicerContext[query_pb2.QueryRequest, query_pb2.QueryResponse]
StreamContext = grpc.aio.ServicerContext[query_pb2.StreamQueryRequest, query_pb2.StreamQueryResponse]
EachContext = grpc.aio.ServicerContext[query_pb2.QueryEachRequest, query_pb2.QueryEachResponse]


class QueryServicer(QueryServiceServicer):
    """Questions and answers."""

    def __init__(self, querying: Querying, each: QueryingEach) -> None:
        self._querying = querying
        self._each = each

    async def Query(  # noqa: N802 - the name of the RPC
        self, request: query_pb2.QueryRequest, context: Context
    ) -> query_pb2.QueryResponse:
        """One answer or one refusal."""
        return response_to_wire(await self._querying.answer(question_of(request), current_caller()))

    async def StreamQuery(  # noqa: N802 - the name of the RPC
        self, request: query_pb2.StreamQueryRequest, context: StreamContext
    ) -> AsyncIterator[query_pb2.StreamQueryResponse]:
        """The same as events."""
        # Closed at once when the client goes, so that the record of the query is.
        async with aclosing(self._querying.events(question_of(request), current_caller())) as events:
            async for event in events:
                yield event_to_wire(event)

    async def QueryEach(  # noqa: N802 - the name of the RPC
        self, request: query_pb2.QueryEachRequest, context: EachContext
    ) -> AsyncIterator[query_pb2.QueryEachResponse]:
        """Questions asked of each document."""
        async with aclosing(self._each.events(each_question_of(request), current_caller())) as events:
            async for event in events:
                yield each_event_to_wire(event)
