"""One truth: unary, folded stream and completed stream are equal, over gRPC, REST and SSE."""

import json

import httpx
import pytest
from google.protobuf.json_format import ParseDict
from httpx_sse import aconnect_sse

import clausegate
from clausegate.answer.v1.answer_pb2 import OUTCOME_REFUSED
from clausegate.answer.v1.query_service_pb2 import QueryResponse, StreamQueryResponse
from tests.e2e.corpus import DEVICE_FEE, GOVERNING_LAW, UNANSWERABLE

DEFINITION = "What does Subscriber mean?"
QUESTIONS = pytest.mark.parametrize("question", [GOVERNING_LAW, DEVICE_FEE, DEFINITION, UNANSWERABLE])


def without_ids_and_times(response):
    copy = QueryResponse()
    copy.CopyFrom(response)
    for field in ("query_id", "trace_id", "finished_at", "latency"):
        copy.metadata.ClearField(field)
    return copy


def evidence_alone(response):
    """What events carry: not the renderings and the metadata, which Completed adds."""
    copy = QueryResponse()
    copy.CopyFrom(response)
    for field in ("answer", "markdown", "markdown_full", "metadata", "usage", "debug"):
        copy.ClearField(field)
    return copy


def fold(events):
    """The response as its events tell it, without Completed."""
    folded = QueryResponse()
    for event in events:
        kind = event.WhichOneof("event")
        if kind == "supporting_clauses":
            folded.outcome = event.supporting_clauses.outcome
            folded.supporting_clauses.extend(event.supporting_clauses.clauses)
        elif kind == "refused":
            folded.outcome = OUTCOME_REFUSED
            folded.refusal.CopyFrom(event.refused.refusal)
        elif kind in ("statement", "definition", "note"):
            validated = getattr(event, kind)
            getattr(folded, f"{kind}s").append(getattr(validated, kind))
            folded.citations.extend(validated.citations)
    return folded


async def over_grpc(stack, question):
    async with clausegate.connect(stack.grpc) as client:
        response = await client.query(question)
        return response, [event async for event in client.stream_query(question)]


async def over_http(stack, question):
    body = {"query": question}
    async with httpx.AsyncClient(base_url=stack.url, timeout=30) as http:
        unary = await http.post("/v1/query", json=body)
        async with aconnect_sse(http, "POST", "/v1/query:stream", json=body) as source:
            events = [
                ParseDict({event.event: json.loads(event.data)}, StreamQueryResponse())
                async for event in source.aiter_sse()
            ]
    return ParseDict(unary.json(), QueryResponse()), events


WIRES = pytest.mark.parametrize("wire", [over_grpc, over_http])


@QUESTIONS
@WIRES
async def test_the_folded_stream_is_the_unary_response(filled, wire, question):
    response, events = await wire(filled, question)

    assert fold(events) == evidence_alone(response)


@QUESTIONS
@WIRES
async def test_the_completed_stream_is_the_unary_response(filled, wire, question):
    response, events = await wire(filled, question)

    assert without_ids_and_times(events[-1].completed.response) == without_ids_and_times(response)


@QUESTIONS
async def test_rest_and_grpc_answer_alike(filled, question):
    by_grpc, _ = await over_grpc(filled, question)
    by_http, _ = await over_http(filled, question)

    assert without_ids_and_times(by_http) == without_ids_and_times(by_grpc)
