"""Every task of the answer service: its audit record is on disk before anything of an answer leaves."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import pytest_asyncio

from chassis.channel import open_channel
from clausegate.answer.v1.article_service_pb2 import CompileArticleRequest
from clausegate.answer.v1.grounding_service_pb2 import CheckGroundingRequest, VerifyCitationRequest
from clausegate.answer.v1.grounding_service_pb2_grpc import GroundingServiceStub
from clausegate.answer.v1.query_generation_service_pb2 import GenerateQueriesRequest
from clausegate.answer.v1.query_service_pb2 import QueryRequest, StreamQueryRequest
from clausegate.answer.v1.research_service_pb2 import ExtractSnippetsRequest
from clausegate.answer.v1.rewrite_service_pb2 import RewriteRequest
from services.answer.records.lines import Keys
from services.answer.records.verification import verify
from tests.contract.model_stack import Stubs, answering, failure_of, index_of
from tests.fakes.model_server import ModelServer
from tests.fakes.renderer import Renderer

pytestmark = pytest.mark.asyncio(loop_scope="module")

FEE = "What is the monthly display fee for each Device?"
REFUSED = "How do penguins breed in Antarctica?"


async def unary(call):
    """A reply as the only message of its stream."""
    yield await call


TASKS = {
    "answer": lambda stubs: unary(stubs.queries.Query(QueryRequest(query=FEE))),
    "refusal": lambda stubs: unary(stubs.queries.Query(QueryRequest(query=REFUSED))),
    "dry run": lambda stubs: unary(stubs.queries.Query(QueryRequest(query=FEE, dry_run=True))),
    "stream": lambda stubs: stubs.queries.StreamQuery(StreamQueryRequest(query=FEE)),
    "refused stream": lambda stubs: stubs.queries.StreamQuery(StreamQueryRequest(query=REFUSED)),
    "snippets": lambda stubs: stubs.research.ExtractSnippets(ExtractSnippetsRequest(project="-", query=FEE)),
    "article": lambda stubs: unary(stubs.articles.CompileArticle(CompileArticleRequest(sources=["cme"]))),
    "queries": lambda stubs: unary(
        stubs.generation.GenerateQueries(GenerateQueriesRequest(topic="walrus fees"))
    ),
    "rewrite": lambda stubs: unary(
        stubs.rewriting.Rewrite(RewriteRequest(text="Pay the walrus.", instruction="Make it plainer."))
    ),
    "grounding": lambda stubs: unary(
        stubs.grounding.CheckGrounding(CheckGroundingRequest(text="The walrus pays USD 120.50."))
    ),
    "citation": lambda stubs: unary(stubs.grounding.VerifyCitation(citation("The walrus pays."))),
}
EVERY_TASK = pytest.mark.parametrize("task", list(TASKS))


def citation(quote):
    request = VerifyCitationRequest()
    request.citation.document = "cme/licence.txt"
    request.citation.quote = quote
    request.citation.span.end = len(quote)
    return request


class WithGrounding:
    """The stubs, and that of one more service."""

    def __init__(self, stubs: Stubs, channel: grpc.aio.Channel) -> None:
        self.queries, self.research, self.articles = stubs.queries, stubs.research, stubs.articles
        self.generation, self.rewriting = stubs.generation, stubs.rewriting
        self.grounding = GroundingServiceStub(channel)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory) -> AsyncIterator[str]:
    async with index_of(tmp_path_factory.mktemp("index")) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.respond = Renderer()
        yield server


async def messages(index, folder, server, task, **settings):
    """What arrives of a task, one by one."""
    async with (
        answering(index, folder, server.url, **settings) as stubs,
        open_channel(stubs.address) as channel,
    ):
        async for message in TASKS[task](WithGrounding(stubs, channel)):
            yield message


def records(folder: Path):
    path = folder / "logs" / "queries-000000000001.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def holds_content(message) -> bool:
    """Whether a message says more than how far a query has come."""
    fields = [oneof.name for oneof in message.DESCRIPTOR.oneofs]
    return "event" not in fields or message.WhichOneof("event") not in ("retrieved", "graded", "gated")


@EVERY_TASK
async def test_the_record_is_on_disk_when_the_first_words_of_an_answer_arrive(index, server, tmp_path, task):
    arriving = messages(index, tmp_path, server, task)
    found = [records(tmp_path) async for message in arriving if holds_content(message)]
    assert found
    assert [len(each) for each in found] == [1] * len(found)
    assert verify([tmp_path], Keys()).whole


@EVERY_TASK
async def test_nothing_of_an_answer_leaves_when_its_record_cannot_be_written(index, server, tmp_path, task):
    (tmp_path / "logs").write_text("a file where the folder should be")
    arriving = messages(index, tmp_path, server, task)

    async def read() -> None:
        async for message in arriving:
            assert not holds_content(message)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await read()
    failure = failure_of(caught.value)
    assert (failure.code, failure.reason) == ("UNAVAILABLE", "AUDIT_UNAVAILABLE")


@EVERY_TASK
@pytest.mark.parametrize("mode", ["hash", "omit"])
async def test_no_word_of_a_question_or_an_answer_is_in_any_log(index, server, tmp_path, task, mode, caplog):
    with caplog.at_level(logging.INFO):
        async for _ in messages(index, tmp_path, server, task, audit_query_text=mode, log_queries=True):
            pass
    assert records(tmp_path)
    logged = "".join(file.read_text() for file in (tmp_path / "logs").iterdir())
    logged += "".join(str(vars(record)) for record in caplog.records)
    words = {"monthly", "display", "penguin", "walrus", "Illinois", "addressed", "invoiced", "plainer", "USD"}
    assert not {word for word in words if re.search(word, logged, re.IGNORECASE)}
