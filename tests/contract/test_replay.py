"""What was recorded of a model gives the same bytes again, without any model."""

from __future__ import annotations

import grpc
import pytest
import pytest_asyncio

from chassis.errors import ServiceError
from clausegate.answer.v1.article_service_pb2 import CompileArticleRequest
from clausegate.answer.v1.query_generation_service_pb2 import GenerateQueriesRequest
from clausegate.answer.v1.query_service_pb2 import QueryRequest, StreamQueryRequest
from clausegate.answer.v1.research_service_pb2 import ExtractSnippetsRequest
from clausegate.answer.v1.rewrite_service_pb2 import RewriteRequest
from tests.contract.model_stack import answering, failure_of, index_of
from tests.fakes import behaviours as fake
from tests.fakes.model_server import ModelServer
from tests.fakes.renderer import Renderer

pytestmark = pytest.mark.asyncio(loop_scope="module")

FEE = "What is the monthly display fee for each Device?"
LAW = "Which law governs the agreement?"
ELSEWHERE = "Who won the chess championship in 1972?"
"""Refused where code grades."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory):
    async with index_of(tmp_path_factory.mktemp("index")) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def server():
    async with ModelServer() as server:
        server.respond = Renderer()
        yield server


async def asked_everything(stubs):
    """The bytes of responses of every task that asks a model, but for their trace ids."""
    research = ExtractSnippetsRequest(project="-", query=FEE)
    told = [
        await stubs.queries.Query(QueryRequest(query=FEE, debug=True)),
        await stubs.queries.Query(QueryRequest(query=LAW)),
        *[event async for event in stubs.queries.StreamQuery(StreamQueryRequest(query=FEE))],
        *[event async for event in stubs.research.ExtractSnippets(research)],
        await stubs.generation.GenerateQueries(GenerateQueriesRequest(topic="display fees", count=3)),
        await stubs.rewriting.Rewrite(RewriteRequest(text="The fee is due.", instruction="Say it plainly.")),
        await stubs.articles.CompileArticle(CompileArticleRequest(topic="display fees", sources=["cme"])),
    ]
    return [without_trace(message).SerializeToString(deterministic=True) for message in told]


def without_trace(message):
    """The message with every trace id in it emptied."""
    for field, value in message.ListFields():
        if field.name == "trace_id":
            message.ClearField("trace_id")
        elif field.message_type and not field.is_repeated:
            without_trace(value)
    return message


@pytest.mark.parametrize("grading", ["batch", "each"])
async def test_a_replay_gives_the_same_bytes_without_any_model(index, server, tmp_path, grading):
    tape = tmp_path / "tape"
    async with answering(
        index, tmp_path / "first", server.url, record_model_calls=tape, grading=grading
    ) as stubs:
        recorded = await asked_everything(stubs)
    calls = len(server.chats)
    async with answering(index, tmp_path / "second", replay_model_calls=tape, grading=grading) as stubs:
        replayed = await asked_everything(stubs)

    assert calls > 5
    assert replayed == recorded
    assert len(server.requests) == calls


async def test_failures_are_replayed_as_well(index, server, tmp_path):
    async def failing(stubs):
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await stubs.queries.Query(QueryRequest(query=FEE))
        return failure_of(failed.value)

    server.respond = lambda request: fake.Fails(429, retry_after=600)
    settings = {"grading": "local", "model_deadline_seconds": 60}
    async with answering(
        index, tmp_path / "1", server.url, record_model_calls=tmp_path / "tape", **settings
    ) as stubs:
        recorded = await failing(stubs)
    async with answering(index, tmp_path / "2", replay_model_calls=tmp_path / "tape", **settings) as stubs:
        replayed = await failing(stubs)

    assert replayed == recorded
    assert (recorded.reason, recorded.retry_after_seconds) == ("MODEL_RATE_LIMITED", 600)


@pytest.mark.parametrize("question", [LAW, ELSEWHERE])
async def test_a_question_that_was_not_recorded_diverges(index, server, tmp_path, question):
    tape = tmp_path / "tape"
    async with answering(index, tmp_path / "1", server.url, record_model_calls=tape) as stubs:
        await stubs.queries.Query(QueryRequest(query=FEE))
    async with answering(index, tmp_path / "2", replay_model_calls=tape) as stubs:
        with pytest.raises(grpc.aio.AioRpcError) as other:
            await stubs.queries.Query(QueryRequest(query=question))
    async with answering(index, tmp_path / "3", replay_model_calls=tape) as stubs:
        await stubs.queries.Query(QueryRequest(query=FEE))
        with pytest.raises(grpc.aio.AioRpcError) as too_many:
            await stubs.queries.Query(QueryRequest(query=FEE))

    assert failure_of(other.value).kind == ("FAILED_PRECONDITION", "REPLAY_DIVERGED")
    assert failure_of(too_many.value).kind == ("FAILED_PRECONDITION", "REPLAY_DIVERGED")


async def test_a_broken_recording_stops_the_start_and_names_its_line(index, tmp_path):
    (tmp_path / "tape").write_text('{"kind": "now", "key": "", "value": "2026-03-01T00:00:00+00:00"}\n{"ki')
    with pytest.raises(ServiceError, match=r"Line 2 of the recording .*tape") as refused:
        async with answering(index, tmp_path / "data", replay_model_calls=tmp_path / "tape"):
            pass

    assert refused.value.reason == "REPLAY_DIVERGED"
