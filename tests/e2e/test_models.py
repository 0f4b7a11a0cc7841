"""The whole product beside a chat model: answers over HTTP, failures over HTTP, and what its traces tell."""

import asyncio
import json

import httpx
import pytest
from httpx_sse import aconnect_sse

from tests.e2e.collecting import collecting
from tests.e2e.corpus import DEVICE_FEE, GOVERNING_LAW
from tests.e2e.processes import clausegate, embedded_stack
from tests.fakes.behaviours import Fails, Hangs, Says
from tests.fakes.model_server import ModelServer
from tests.fakes.prompts import contract_of
from tests.fakes.renderer import Renderer

FLUSH_MILLISECONDS = "100"


@pytest.fixture(scope="module")
def beside_a_model(tmp_path_factory, corpus, socket_dirs, free_port):
    """A stack with the corpus, told of a model server that each test starts itself."""
    port = free_port()
    with collecting() as (collector, endpoint):
        settings = {
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_INSECURE": "true",
            "OTEL_BSP_SCHEDULE_DELAY": FLUSH_MILLISECONDS,
            "OTEL_METRIC_EXPORT_INTERVAL": FLUSH_MILLISECONDS,
            "CLAUSEGATE_MODEL_ATTEMPTS": "1",
        }
        data = tmp_path_factory.mktemp("models") / "data"
        with embedded_stack(data, socket_dirs(), free_port(), **settings) as stack:
            assert clausegate("ingest", str(corpus), "--server", stack.grpc).returncode == 0
            yield stack, data, port, collector


@pytest.fixture
async def model(beside_a_model):
    async with ModelServer(port=beside_a_model[2]) as server:
        server.respond = Renderer()
        yield server


@pytest.fixture
async def http(beside_a_model):
    async with httpx.AsyncClient(base_url=beside_a_model[0].url, timeout=30) as client:
        yield client


async def test_an_answer_names_its_model_and_what_it_cost(model, http):
    answer = (await http.post("/v1/query", json={"query": GOVERNING_LAW})).json()

    assert "Republic of Ireland" in answer["answer"]
    assert (answer["metadata"]["model"], answer["metadata"]["grader"]) == ("gpt-4.1", "gpt-4.1-mini")
    assert [stage["stage"] for stage in answer["usage"]] == ["grade", "answer"]
    assert all(stage["costUsd"] > 0 for stage in answer["usage"])


async def test_a_stream_over_sse_ends_with_the_same_answer(model, http):
    unary = (await http.post("/v1/query", json={"query": GOVERNING_LAW})).json()
    async with aconnect_sse(http, "POST", "/v1/query:stream", json={"query": GOVERNING_LAW}) as source:
        events = [event async for event in source.aiter_sse()]

    assert events[-1].event == "completed"
    assert json.loads(events[-1].data)["response"]["statements"] == unary["statements"]


@pytest.mark.parametrize(
    ("behaviour", "status", "reason"),
    [
        (Fails(503), 503, "UPSTREAM_UNAVAILABLE"),
        (Fails(429, retry_after=7), 429, "MODEL_RATE_LIMITED"),
        (Fails(401, message="the key of somebody"), 502, "MODEL_REJECTED"),
    ],
)
async def test_a_failing_model_is_a_problem_with_a_reason(model, http, behaviour, status, reason):
    model.respond = lambda _: behaviour
    response = await http.post("/v1/query", json={"query": GOVERNING_LAW})

    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["reason"] == reason
    assert "somebody" not in response.text


async def test_the_pause_of_a_rate_limit_reaches_the_caller(model, http):
    model.respond = lambda _: Fails(429, retry_after=7)
    response = await http.post("/v1/query", json={"query": GOVERNING_LAW})

    assert response.headers["retry-after"] == "7"


async def test_without_its_model_server_the_product_says_unavailable(http):
    response = await http.post("/v1/query", json={"query": GOVERNING_LAW})

    assert (response.status_code, response.json()["reason"]) == (503, "UPSTREAM_UNAVAILABLE")


async def test_a_stream_that_fails_midway_ends_with_an_error_event(model, http):
    good = Renderer()
    model.respond = lambda request: Fails(500) if contract_of(request) == "answer" else good(request)
    async with aconnect_sse(http, "POST", "/v1/query:stream", json={"query": GOVERNING_LAW}) as source:
        events = [event async for event in source.aiter_sse()]

    assert [event.event for event in events] == ["retrieved", "graded", "gated", "error"]
    assert json.loads(events[-1].data)["reason"] == "UPSTREAM_UNAVAILABLE"


async def test_a_client_of_the_gateway_that_leaves_ends_the_call_of_the_model(model, http):
    model.respond = lambda _: Hangs()
    call = asyncio.create_task(http.post("/v1/query", json={"query": GOVERNING_LAW}))
    await model.received(1)
    call.cancel()

    async with asyncio.timeout(20):
        await model.requests[0].hung_up.wait()


async def traced_query(stack, port, question):
    """The answer to a question whose grading fails, so that something is logged."""
    good = Renderer()
    async with ModelServer(port=port) as server, httpx.AsyncClient(base_url=stack.url, timeout=30) as http:
        server.respond = lambda request: Fails(500) if contract_of(request) == "grade" else good(request)
        answer = (await http.post("/v1/query", json={"query": question})).json()
        assert answer["metadata"]["gradingFailure"] == "UPSTREAM_UNAVAILABLE"
        prompts = [message["content"] for chat in server.chats for message in chat.messages]
    return answer, prompts


async def spans_of(collector, trace_id):
    """The spans of a trace once the first one, which ends last, has come."""
    async with asyncio.timeout(20):
        while "POST /v1/query" not in {span.name for _, span in collector.of_trace(trace_id)}:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return [span for _, span in collector.of_trace(trace_id)]


def log_lines(stack):
    return [json.loads(line) for line in stack.log.read_text().splitlines() if line.startswith("{")]


async def test_logs_audit_and_spans_of_a_query_carry_one_trace_id(beside_a_model):
    stack, data, port, collector = beside_a_model
    before = len(log_lines(stack))
    answer, _ = await traced_query(stack, port, DEVICE_FEE)
    trace_id = answer["metadata"]["traceId"]
    spans = await spans_of(collector, trace_id)
    audit = [
        json.loads(line) for line in (data / "logs" / "queries-000000000001.jsonl").read_text().splitlines()
    ]
    logged = log_lines(stack)[before:]

    assert {"grade", "answer"} <= {span.name.removeprefix("contract ") for span in spans}
    assert audit[-1]["trace_id"] == trace_id
    # The end of a call of the test before may be logged meanwhile.
    refusals = [line for line in logged if line["event"] == "model server refused a call"]
    assert {line["trace_id"] for line in refusals} == {trace_id}


async def test_neither_logs_nor_spans_hold_the_question_documents_or_prompts(beside_a_model):
    stack, _, port, collector = beside_a_model
    answer, prompts = await traced_query(stack, port, DEVICE_FEE)
    spans = await spans_of(collector, answer["metadata"]["traceId"])
    told = stack.log.read_text() + "".join(map(str, spans))
    words = [line for prompt in prompts for line in prompt.splitlines() if len(line) > 30]

    assert DEVICE_FEE not in told
    assert answer["statements"][0]["text"] not in told
    assert not [line for line in words if line in told]


async def test_repairs_are_counted_by_contract_and_model(beside_a_model, model, http):
    collector, good = beside_a_model[3], Renderer()
    model.respond = lambda request: good(request) if request.is_repair else Says("no JSON")
    response = await http.post("/v1/queries:generate", json={"topic": "fees"})
    repaired = {
        "clausegate_contract": "queries",
        "gen_ai_request_model": "gpt-4.1",
        "clausegate_contract_outcome": "repaired",
    }

    assert response.json()["usage"][0]["repairs"] == 1
    async with asyncio.timeout(20):
        while collector.count("clausegate.contract.replies", **repaired) != 1:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
