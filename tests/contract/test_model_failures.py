"""What callers of the answer service see when a model, its server or a request is wrong; task by task."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import grpc
import pytest
import pytest_asyncio

from clausegate.answer.v1.article_service_pb2 import CompileArticleRequest
from clausegate.answer.v1.query_generation_service_pb2 import GenerateQueriesRequest
from clausegate.answer.v1.query_service_pb2 import QueryRequest, StreamQueryRequest
from clausegate.answer.v1.research_service_pb2 import ExtractSnippetsRequest
from clausegate.answer.v1.rewrite_service_pb2 import RewriteRequest
from tests.contract.model_stack import Failure, Stubs, answering, failure_of, index_of
from tests.fakes import behaviours
from tests.fakes.behaviours import Behaviour, Fails, Hangs, Junk, Resets, Says, Slowly, Trickles
from tests.fakes.model_server import ModelServer
from tests.fakes.prompts import contract_of
from tests.fakes.renderer import Renderer
from tests.fakes.wire import Request

pytestmark = pytest.mark.asyncio(loop_scope="module")

FEE = "What is the monthly display fee for each Device?"
SAYS = Renderer()


async def ask(stubs: Stubs, **options):
    return await stubs.queries.Query(QueryRequest(query=FEE), **options)


async def stream(stubs: Stubs, **options):
    call = stubs.queries.StreamQuery(StreamQueryRequest(query=FEE), **options)
    return [event async for event in call]


async def research(stubs: Stubs, **options):
    call = stubs.research.ExtractSnippets(ExtractSnippetsRequest(project="-", query=FEE), **options)
    return [event async for event in call]


async def compile_article(stubs: Stubs, **options):
    return await stubs.articles.CompileArticle(CompileArticleRequest(sources=["cme"]), **options)


async def generate(stubs: Stubs, **options):
    return await stubs.generation.GenerateQueries(GenerateQueriesRequest(topic="fees"), **options)


async def rewrite(stubs: Stubs, **options):
    request = RewriteRequest(text="Pay the fee.", instruction="Make it plainer.")
    return await stubs.rewriting.Rewrite(request, **options)


TASKS = {
    "answer": ask,
    "stream": stream,
    "snippets": research,
    "article": compile_article,
    "queries": generate,
    "rewrite": rewrite,
}
CONTRACTS = {**{name: name for name in TASKS}, "stream": "answer"}
EVERY_TASK = pytest.mark.parametrize("task", list(TASKS))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory) -> AsyncIterator[str]:
    async with index_of(tmp_path_factory.mktemp("failures")) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.respond = SAYS
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def stubs(index, server, tmp_path) -> AsyncIterator[Stubs]:
    async with answering(index, tmp_path, server.url) as stubs:
        yield stubs


async def failure(call) -> Failure:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return failure_of(caught.value)


def when(contract: str, behaviour: Behaviour) -> Callable[[Request], Behaviour]:
    """Do this for one contract, and well for the others."""
    return lambda request: behaviour if contract_of(request) == contract else SAYS(request)


def asked_for(server: ModelServer, contract: str) -> list[Request]:
    return [request for request in server.chats if contract_of(request) == contract]


def records(folder):
    path = folder / "logs" / "queries-000000000001.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def recorded(folder, count: int = 1):
    async with asyncio.timeout(20):
        while len(found := records(folder)) < count:  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.01)
    return found


@EVERY_TASK
async def test_a_model_that_behaves_is_answered_with(stubs, task):
    assert await TASKS[task](stubs)


@pytest.mark.parametrize("task", ["article", "queries", "rewrite"])
async def test_a_task_that_needs_a_model_names_the_setting(index, tmp_path, task):
    async with answering(index, tmp_path) as stubs:
        failed = await failure(TASKS[task](stubs))
    assert failed.kind == ("FAILED_PRECONDITION", "MODEL_NOT_CONFIGURED")
    assert "OPENAI_API_KEY" in failed.message
    assert [record["error_reason"] for record in records(tmp_path)] == ["MODEL_NOT_CONFIGURED"]


@pytest.mark.parametrize("task", ["answer", "stream", "snippets"])
async def test_a_task_that_can_do_without_a_model_does(index, tmp_path, task):
    async with answering(index, tmp_path) as stubs:
        assert await TASKS[task](stubs)


@EVERY_TASK
async def test_a_model_that_is_down_is_unavailable_within_the_deadline(index, tmp_path, free_port, task):
    async with answering(index, tmp_path, f"http://127.0.0.1:{free_port()}/v1", model_attempts=2) as stubs:
        failed = await failure(TASKS[task](stubs, timeout=30))
    assert failed.kind == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
    assert failed.retry_after_seconds is not None
    assert [record["error_reason"] for record in records(tmp_path)] == ["UPSTREAM_UNAVAILABLE"]


HANGING = [(task, Hangs()) for task in TASKS]
ENDLESS = [("queries", Trickles(Says("x" * 1_000))), ("queries", Junk())]


@pytest.mark.parametrize(("task", "behaviour"), HANGING + ENDLESS)
async def test_a_model_that_does_not_finish_is_unavailable(index, server, tmp_path, task, behaviour):
    server.respond = lambda _: behaviour
    async with answering(index, tmp_path, server.url, model_deadline_seconds=0.5) as stubs:
        failed = await failure(TASKS[task](stubs, timeout=60))
    assert failed.kind == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
    assert failed.retry_after_seconds is not None
    for request in server.requests:
        async with asyncio.timeout(20):
            await request.done.wait()


async def test_a_model_is_given_up_before_the_callers_deadline(stubs, server):
    server.respond = lambda _: Hangs()
    # The time that is kept for our error is short: where the machine stands still in it, gRPC ends the call.
    # It cannot do so in all three of these, which do not overlap.
    failed = await asyncio.gather(*(failure(rewrite(stubs, timeout=seconds)) for seconds in (2, 4, 8)))
    assert {each.code for each in failed} <= {"UNAVAILABLE", "DEADLINE_EXCEEDED"}
    assert ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE") in [each.kind for each in failed]


@pytest.mark.parametrize("told", [0.6, timedelta(seconds=2)], ids=["seconds", "date"])
async def test_a_call_is_repeated_when_the_server_said_it_may(stubs, server, told):
    least = told.total_seconds() - 1 if isinstance(told, timedelta) else told
    server.reply(Fails(429, retry_after=told))
    await generate(stubs)
    first, second = server.requests
    assert second.at - first.at >= least


@EVERY_TASK
async def test_a_rate_limit_that_stays_exhausts_the_attempts(index, server, tmp_path, task):
    server.respond = lambda _: Fails(429, retry_after=0.1)
    async with answering(index, tmp_path, server.url, model_attempts=2) as stubs:
        failed = await failure(TASKS[task](stubs))
    assert failed.kind == ("RESOURCE_EXHAUSTED", "MODEL_RATE_LIMITED")
    assert failed.retry_after_seconds == 0.1
    assert len(asked_for(server, CONTRACTS[task])) == 2


async def test_a_pause_beyond_the_deadline_is_not_waited_for(stubs, server):
    server.respond = lambda _: Fails(429, retry_after=3_600)
    failed = await failure(generate(stubs, timeout=60))
    assert failed.kind == ("RESOURCE_EXHAUSTED", "MODEL_RATE_LIMITED")
    assert failed.retry_after_seconds == 3_600
    assert len(server.requests) == 1


@pytest.mark.parametrize("behaviour", [Fails(500), Fails(503), Resets(), behaviours.TOO_SHORT])
async def test_what_breaks_once_is_repeated(stubs, server, behaviour):
    server.reply(behaviour)
    assert (await generate(stubs)).queries
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("task", "status"), [*((task, 401) for task in TASKS), *(("queries", n) for n in (400, 403, 404, 422))]
)
async def test_a_call_that_the_server_refuses_is_not_repeated(stubs, server, task, status):
    server.respond = lambda _: Fails(status, message="secret words of the server")
    failed = await failure(TASKS[task](stubs))
    assert failed.kind == ("FAILED_PRECONDITION", "MODEL_REJECTED")
    assert "secret" not in failed.message
    assert len(asked_for(server, CONTRACTS[task])) == 1


async def test_a_server_with_a_key_gets_it(index, tmp_path):
    async with ModelServer(key="right") as server:
        server.respond = SAYS
        async with answering(index, tmp_path / "a", server.url, OPENAI_API_KEY="right") as stubs:
            assert (await generate(stubs)).queries
        async with answering(index, tmp_path / "b", server.url, OPENAI_API_KEY="wrong") as stubs:
            failed = await failure(generate(stubs))
    assert failed.kind == ("FAILED_PRECONDITION", "MODEL_REJECTED")
    assert "OPENAI_API_KEY" in failed.message


@EVERY_TASK
async def test_a_client_that_leaves_ends_the_call_of_the_model(stubs, server, tmp_path, task):
    server.respond = lambda _: Hangs()
    running = asyncio.create_task(TASKS[task](stubs))
    await server.received(1)
    running.cancel()
    async with asyncio.timeout(20):
        await server.requests[0].hung_up.wait()
    (record,) = await recorded(tmp_path)
    assert record["outcome"] == "cancelled"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("task", "text"),
    [
        *((task, "no JSON") for task in TASKS if CONTRACTS[task] != "answer"),
        *(("rewrite", text) for text in ("", "{}", '{"text": ')),
    ],
)
async def test_a_contract_broken_twice_fails_after_one_repair(stubs, server, tmp_path, task, text):
    server.respond = lambda request: Says(text) if contract_of(request) != "grade" else SAYS(request)
    failed = await failure(TASKS[task](stubs))
    assert failed.kind == ("UNAVAILABLE", "CONTRACT_FAILED")
    first, second = asked_for(server, CONTRACTS[task])
    assert (first.is_repair, second.is_repair) == (False, True)
    (record,) = records(tmp_path)
    assert (record["outcome"], record["error_reason"]) == ("error", "CONTRACT_FAILED")
    assert record["tokens_input"] >= 22


@EVERY_TASK
async def test_a_contract_broken_once_is_repaired(stubs, server, task):
    contract = CONTRACTS[task]
    server.respond = lambda request: (
        Says("no JSON") if contract_of(request) == contract and not request.is_repair else SAYS(request)
    )
    assert await TASKS[task](stubs)
    assert len(asked_for(server, contract)) == 2


async def test_a_fallback_model_is_asked_when_the_first_fails_twice(index, server, tmp_path):
    server.respond = lambda request: SAYS(request) if request.body["model"] == "other" else Says("no JSON")
    async with answering(index, tmp_path, server.url, fallback_model="other") as stubs:
        response = await generate(stubs)
    assert [request.body["model"] for request in server.requests] == ["gpt-4.1", "gpt-4.1", "other"]
    assert response.metadata.model == "other"


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (Fails(500), "UPSTREAM_UNAVAILABLE"),
        (Fails(401), "MODEL_REJECTED"),
        (Fails(429, retry_after=3_600), "MODEL_RATE_LIMITED"),
        (Says("no JSON"), "CONTRACT_FAILED"),
        (Says('{"grades": []}'), "CONTRACT_FAILED"),
    ],
)
async def test_grading_that_fails_is_done_locally_and_the_response_says_so(stubs, server, behaviour, reason):
    server.respond = when("grade", behaviour)
    response = await ask(stubs)
    assert response.statements
    assert response.metadata.grader == "local"
    assert response.metadata.grading_failure == reason


async def test_grading_that_hangs_leaves_time_to_answer(index, server, tmp_path):
    server.respond = when("grade", Hangs())
    async with answering(index, tmp_path, server.url, model_deadline_seconds=4) as stubs:
        response = await ask(stubs, timeout=60)
    assert response.statements
    assert response.metadata.grading_failure == "UPSTREAM_UNAVAILABLE"


async def test_single_grades_that_fail_in_part_fall_back_as_a_whole(index, server, tmp_path):
    server.respond = lambda request: (
        Fails(400) if contract_of(request) == "grade" and "Termination" in request.prompt else SAYS(request)
    )
    async with answering(index, tmp_path, server.url, grading="each") as stubs:
        response = await ask(stubs)
    assert len(asked_for(server, "grade")) > 1
    assert response.metadata.grader == "local"
    assert response.metadata.grading_failure == "MODEL_REJECTED"


async def test_a_question_that_no_grade_supports_is_refused_without_asking_for_an_answer(stubs, server):
    response = await stubs.queries.Query(QueryRequest(query="Does the custody wallet stake tokens?"))
    assert response.HasField("refusal")
    assert not asked_for(server, "answer")


BAD = {
    "count of 0": (
        lambda stubs: stubs.generation.GenerateQueries(GenerateQueriesRequest(topic="fees", count=0)),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "count"),
    ),
    "count of 1,000": (
        lambda stubs: stubs.generation.GenerateQueries(GenerateQueriesRequest(topic="fees", count=1_000)),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "count"),
    ),
    "unknown category": (
        lambda stubs: stubs.generation.GenerateQueries(GenerateQueriesRequest(topic="x", category="NOPE")),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "category"),
    ),
    "no topic": (
        lambda stubs: stubs.generation.GenerateQueries(GenerateQueriesRequest(topic=" ")),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "topic"),
    ),
    "article over nothing": (
        lambda stubs: stubs.articles.CompileArticle(CompileArticleRequest()),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "sources"),
    ),
    "article over an unknown source": (
        lambda stubs: stubs.articles.CompileArticle(CompileArticleRequest(sources=["cme", "nope"])),
        ("NOT_FOUND", "SOURCE_NOT_FOUND", "sources[1]"),
    ),
    "article over an unknown document": (
        lambda stubs: stubs.articles.CompileArticle(CompileArticleRequest(document_ids=["cme/no.txt"])),
        ("NOT_FOUND", "DOCUMENT_NOT_FOUND", "document_ids[0]"),
    ),
    "article of an unknown name": (
        lambda stubs: stubs.articles.CompileArticle(CompileArticleRequest(article_id="no-such-article")),
        ("NOT_FOUND", "ARTICLE_NOT_FOUND", "article_id"),
    ),
    "unknown project": (
        lambda stubs: read_all(stubs.research, project="nope", query="fees"),
        ("NOT_FOUND", "PROJECT_NOT_FOUND", "project"),
    ),
    "no project": (
        lambda stubs: read_all(stubs.research, query="fees"),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "project"),
    ),
    "research in an unknown source": (
        lambda stubs: read_all(stubs.research, project="-", query="fees", source_ids=["nope"]),
        ("NOT_FOUND", "SOURCE_NOT_FOUND", "source_ids[0]"),
    ),
    "research for nothing": (
        lambda stubs: read_all(stubs.research, project="-", query=" "),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "query"),
    ),
    "fewer than no snippets": (
        lambda stubs: read_all(stubs.research, project="-", query="fees", max_snippets=-1),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "max_snippets"),
    ),
    "rewriting nothing": (
        lambda stubs: stubs.rewriting.Rewrite(RewriteRequest(text="", instruction="Plainer.")),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "text"),
    ),
    "rewriting without an instruction": (
        lambda stubs: stubs.rewriting.Rewrite(RewriteRequest(text="Pay.", instruction=" ")),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "instruction"),
    ),
    "rewriting with an unknown source": (
        lambda stubs: stubs.rewriting.Rewrite(
            RewriteRequest(text="Pay.", instruction="Plainer.", sources=["nope"])
        ),
        ("NOT_FOUND", "SOURCE_NOT_FOUND", "sources[0]"),
    ),
    "a negative budget": (
        lambda stubs: stubs.queries.Query(QueryRequest(query=FEE, max_cost_usd=-1)),
        ("INVALID_ARGUMENT", "INVALID_FIELD", "max_cost_usd"),
    ),
    "a budget that nothing fits": (
        lambda stubs: stubs.queries.Query(QueryRequest(query=FEE, max_cost_usd=0)),
        ("FAILED_PRECONDITION", "BUDGET_EXCEEDED", "max_cost_usd"),
    ),
}


async def read_all(stub, **fields):
    return [event async for event in stub.ExtractSnippets(ExtractSnippetsRequest(**fields))]


@pytest.mark.parametrize("name", list(BAD))
async def test_a_bad_request_names_its_field_and_asks_no_model(stubs, server, tmp_path, name):
    call, expected = BAD[name]
    failed = await failure(call(stubs))
    assert (*failed.kind, failed.field) == expected
    assert not server.requests
    assert [record["error_reason"] for record in records(tmp_path)] == [expected[1]]


async def test_64_streams_at_once_complete_within_the_bound_on_model_calls(stubs, server):
    server.respond = lambda request: Slowly(SAYS(request), 0.01)
    streams = await asyncio.gather(*(stream(stubs) for _ in range(64)))
    assert all(events[-1].WhichOneof("event") == "completed" for events in streams)
    assert all(events[-1].completed.response.statements for events in streams)
    assert server.most_running <= 16
    assert server.running == 0


async def test_calls_beyond_the_queue_are_refused_at_once(index, server, tmp_path):
    go_on = asyncio.Event()
    server.respond = lambda request: behaviours.Waits(SAYS(request), go_on)
    async with answering(index, tmp_path, server.url, model_concurrency=1, model_queue=1) as stubs:
        calls = [asyncio.create_task(generate(stubs)) for _ in range(5)]
        await recorded(tmp_path, 3)
        go_on.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    refused = [failure_of(one) for one in outcomes if isinstance(one, grpc.aio.AioRpcError)]
    assert [one.kind for one in refused] == [("RESOURCE_EXHAUSTED", "OVERLOADED")] * 3
    assert all(one.retry_after_seconds is not None for one in refused)


@EVERY_TASK
async def test_a_service_that_stops_records_the_calls_it_cancels(index, server, tmp_path, caplog, task):
    server.respond = when(CONTRACTS[task], Hangs())
    async with answering(index, tmp_path, server.url) as stubs:
        call = asyncio.ensure_future(TASKS[task](stubs))
        async with asyncio.timeout(20):
            while not asked_for(server, CONTRACTS[task]):  # noqa: ASYNC110 - counts of one contract
                await asyncio.sleep(0.01)
    await asyncio.gather(call, return_exceptions=True)

    assert [record["outcome"] for record in records(tmp_path)] == ["cancelled"]
    assert [each for each in caplog.records if each.name.startswith("services.")] == []
