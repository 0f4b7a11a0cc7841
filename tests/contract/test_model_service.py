"""ModelService over real sockets, beside a real retrieval service and a model server of the tests' own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from chassis.channel import open_channel
from clausegate.answer.v1 import model_service_pb2 as models_pb2
from clausegate.answer.v1.model_service_pb2_grpc import ModelServiceStub
from tests.contract.model_stack import answering, index_of
from tests.fakes.model_server import ModelServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVER = "http://127.0.0.1:9/v1"
PRICE = {"input": 1.0, "output": 10.0}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory) -> AsyncIterator[str]:
    async with index_of(tmp_path_factory.mktemp("index"), ()) as address:
        yield address


@asynccontextmanager
async def described(
    index: str, folder, url: str = "", **settings: object
) -> AsyncIterator[models_pb2.DescribeModelsResponse]:
    async with answering(index, folder, url, **settings) as stubs, open_channel(stubs.address) as channel:
        yield await ModelServiceStub(channel).DescribeModels(models_pb2.DescribeModelsRequest(), timeout=20)


async def test_without_a_chat_model_no_text_goes_anywhere_and_nothing_is_paid(index, tmp_path):
    async with described(index, tmp_path) as found:
        assert (found.chat_host, found.embedding_host, len(found.tasks)) == ("", "", 0)
        assert (found.HasField("thousand_queries_usd"), found.thousand_queries_usd) == (True, 0.0)
        assert (found.embedding_model, found.embedding_dimension) == ("all-MiniLM-L6-v2", 384)
        assert (found.grader, found.reader, found.token_encoding) == ("local", "", "o200k_base")


async def test_with_one_each_task_has_its_model_its_price_and_its_encoding(index, tmp_path):
    async with described(index, tmp_path, SERVER, rewrite_model="qwen3:8b") as found:
        tasks = {task.task: task for task in found.tasks}
        assert found.chat_host == "127.0.0.1"
        assert set(tasks) == {"answer", "grade", "snippets", "article", "queries", "rewrite"}
        assert (tasks["answer"].model, tasks["answer"].token_encoding) == ("gpt-4.1", "o200k_base")
        assert (tasks["answer"].price.input_usd, tasks["answer"].price.output_usd) == (2.0, 8.0)
        assert (tasks["rewrite"].token_encoding, tasks["rewrite"].HasField("price")) == ("estimate", False)
        assert found.grader == tasks["grade"].model == "gpt-4.1-mini"


async def test_a_thousand_questions_over_the_examples_cost_ten_dollars_at_most(index, tmp_path):
    async with described(index, tmp_path, SERVER) as found:
        assert 0 < found.thousand_queries_usd <= 10


@pytest.mark.parametrize(
    ("settings", "grader"),
    [({"grading": "local"}, "local"), ({"grading": "each"}, "gpt-4.1-mini")],
)
async def test_the_grader_is_who_grades(index, tmp_path, settings, grader):
    async with described(index, tmp_path, SERVER, **settings) as found:
        assert found.grader == grader


@pytest.mark.parametrize("settings", [{"prices": {"gpt-4.1": PRICE}}, {"grading": "each"}])
async def test_what_is_not_known_is_no_cost(index, tmp_path, settings):
    async with described(index, tmp_path, SERVER, **settings) as found:
        assert not found.HasField("thousand_queries_usd")


async def test_local_grading_needs_the_price_of_answering_alone(index, tmp_path):
    settings = {"grading": "local", "prices": {"gpt-4.1": PRICE}}
    async with described(index, tmp_path, SERVER, **settings) as found:
        assert found.thousand_queries_usd == pytest.approx(1_000 * (2_059 * 1 + 175 * 10) / 1_000_000)


async def test_a_served_embedding_model_is_told_with_its_host(tmp_path):
    async with ModelServer() as server:
        settings = {"OPENAI_BASE_URL": server.url, "embedding_model": "text-embedding-3-large"}
        async with index_of(tmp_path / "index", (), **settings) as index, described(index, tmp_path) as found:
            assert (found.embedding_model, found.embedding_dimension) == ("text-embedding-3-large", 3072)
            assert (found.embedding_host, found.chat_host) == ("127.0.0.1", "")
