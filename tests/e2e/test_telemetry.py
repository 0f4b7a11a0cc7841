"""One question through four processes to Weaviate and a model is one trace.

What a collector gets of a day of such processes is listed in `docs/telemetry.md`, and what is listed arrives.
"""

import json
import logging
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from clausegate.rpc.v1.error_reason_pb2 import ErrorReason
from tests import registry
from tests.e2e.collecting import Collector, collecting, values_of
from tests.e2e.corpus import GOVERNING_LAW
from tests.e2e.models import model_in_thread
from tests.e2e.processes import READY_SECONDS, clausegate, running, wait_until
from tests.fakes.behaviours import Fails, Vectors, json_reply
from tests.fakes.prompts import contract_of, read
from tests.fakes.renderer import Renderer
from tests.fakes.weaviate_server import WeaviateServer

STAGES = {"normalise", "embed", "search", "grade", "gate", "budget", "answer", "render", "verify"}
ROLES = {
    "gateway": "gateway",
    "ingest": "services.ingest",
    "retrieval": "services.retrieval",
    "answer": "services.answer",
}
NOT_ASKED = {"HEAD …", "PUT …", "DELETE …", "HEAD", "POST", "_OTHER", "grpc.reflection.…/…"}
NOT_ASKED |= {"slack answer", "slack post", "read", "clausegate.authentication.failures"}
"""Spans of requests that the day below does not have, and metrics of them."""
WORDS = ("Republic of Ireland", "governing", "95.00", "nowhere", "made-up")
"""Of documents, questions, paths and headers."""


@dataclass
class Day:
    """What a collector and the log files hold once four processes have ended."""

    collector: Collector
    answer: httpx.Response
    trace_id: str
    logs: dict[str, Path]

    @property
    def trace(self):
        return self.collector.of_trace(self.trace_id)

    def lines(self):
        return [json.loads(line) for log in self.logs.values() for line in log.read_text().splitlines()]


@pytest.fixture(scope="module")
def day(corpus, tmp_path_factory, socket_dirs, free_port):
    root, sockets, port = tmp_path_factory.mktemp("four"), socket_dirs(), free_port()
    url = f"http://127.0.0.1:{port}"
    with ExitStack() as stack:
        collector, endpoint = stack.enter_context(collecting())
        weaviate = stack.enter_context(WeaviateServer())
        model = stack.enter_context(model_in_thread())
        settings = {
            "CLAUSEGATE_DATA_DIR": str(root / "data"),
            "CLAUSEGATE_GATEWAY_ADDRESS": f"127.0.0.1:{port}",
            **{
                f"CLAUSEGATE_{area.upper()}_ADDRESS": f"unix:{sockets / area}"
                for area in ("ingest", "retrieval", "answer")
            },
            "CLAUSEGATE_STORE": "weaviate",
            "CLAUSEGATE_WEAVIATE_URL": weaviate.url,
            "CLAUSEGATE_WEAVIATE_GRPC_URL": weaviate.grpc_url,
            "CLAUSEGATE_EMBEDDING_MODEL": "text-embedding-3-small",
            "CLAUSEGATE_EMBEDDING_DIMENSION": "8",
            "CLAUSEGATE_MODEL_ATTEMPTS": "1",
            "OPENAI_BASE_URL": model.url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_INSECURE": "true",
        }
        model.respond = behaving
        logs = {role: root / f"{role}.log" for role in ROLES}
        with ExitStack() as processes:
            for role, module in ROLES.items():
                processes.enter_context(running(module, settings, logs[role]))
            wait_until(lambda: is_ready(url), READY_SECONDS)
            addresses = ",".join(f"unix:{sockets / area}" for area in ("ingest", "retrieval", "answer"))
            assert clausegate("ingest", str(corpus), "--server", addresses).returncode == 0
            with httpx.Client(base_url=url, timeout=30) as http:
                answer = http.post("/v1/query", json={"query": GOVERNING_LAW})
                others(http, model)
        yield Day(collector, answer, answer.json()["metadata"]["traceId"], logs)


def others(http, model):
    """What else a day brings: refusals, errors, a failing model, results that are kept, odd requests."""
    model.respond = lambda asked: silent(asked) if asked.is_chat else Vectors(dimensions=8)
    assert "refusal" in http.post("/v1/query", json={"query": GOVERNING_LAW}).json()
    model.respond = lambda asked: inventing(asked) if asked.is_chat else Vectors(dimensions=8)
    assert http.post("/v1/query", json={"query": GOVERNING_LAW}).json()["statements"]
    model.respond = lambda asked: Fails(400) if asked.is_chat else Vectors(dimensions=8)
    assert http.post("/v1/query", json={"query": GOVERNING_LAW}).status_code == 502
    model.respond = behaving
    assert http.post("/v1/query", json={"query": "", "sources": ["nowhere"]}).status_code == 400
    for _ in range(2):
        asked = http.post("/v1/projects/-/research/query", json={"query": "device fee"})
        assert asked.status_code in (200, 404)
    page = http.get("/v1/documents/northgate/fee-schedule.pdf/pages/1:render")
    assert page.headers["content-type"] == "image/png"
    http.get("/v1/documents/nowhere/else.txt")
    http.get("/v1/documents/nowhere/else.txt", headers={"Host": "made-up.example"})
    http.get("/nowhere")
    http.request("MADE-UP", "/nowhere")


def behaving(asked):
    return Renderer()(asked) if asked.is_chat else Vectors(dimensions=8)


def silent(asked):
    """A model to which no passage is relevant."""
    return json_reply({"grades": [{"chunk": handle, "grade": 0} for handle in read(asked).passages]})


def inventing(asked):
    """A model that answers with what nobody wrote."""
    quotes = [{"chunk": "c1", "quote": "Nobody ever wrote this."}]
    summary = [{"text": "A fee of nothing.", "quotes": [1]}]
    invented = json_reply({"addressed": True, "quotes": quotes, "summary": summary})
    return invented if contract_of(asked) == "answer" else Renderer()(asked)


def is_ready(url):
    try:
        return httpx.get(f"{url}/readyz", timeout=2).is_success
    except httpx.TransportError:
        return False


def test_four_processes_answer(day):
    assert "Republic of Ireland" in day.answer.json()["answer"]


def test_the_trace_id_is_that_of_the_response_header(day):
    assert day.answer.headers["x-trace-id"] == day.trace_id


def test_gateway_answer_and_retrieval_share_one_trace(day):
    assert {"gateway", "answer", "retrieval"} <= {name for name, _ in day.trace}


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_the_trace_has_a_span_of_every_stage(day, stage):
    assert stage in {span.name for _, span in day.trace}


@pytest.mark.parametrize(
    ("process", "call"),
    [
        ("retrieval", "weaviate vector search"),
        ("retrieval", "weaviate keyword search"),
        ("retrieval", "embeddings text-embedding-3-small"),
        ("answer", "chat gpt-4.1"),
    ],
)
def test_the_trace_has_the_calls_of_store_and_models(day, process, call):
    assert (process, call) in {(name, span.name) for name, span in day.trace}


def test_every_span_but_the_first_has_its_parent_in_the_trace(day):
    ids = {span.span_id for _, span in day.trace}

    assert [span.name for _, span in day.trace if span.parent_span_id not in ids] == ["POST /v1/query"]


def test_a_request_is_named_for_its_route_and_never_for_its_path(day):
    served = [span for name, span in day.collector.spans if name == "gateway" and not span.parent_span_id]

    assert {"GET /v1/documents/{document_id}", "POST /v1/query"} <= {span.name for span in served}
    assert all("http.route" in values_of(span.attributes) for span in served if " " in span.name)
    assert not any("nowhere" in span.name or "made-up" in span.name for span in served)


def test_a_failed_call_says_why_on_every_span_it_went_through(day):
    failed = {
        (process, span.name)
        for process, span in day.collector.spans
        if values_of(span.attributes).get("error.type") == "MODEL_REJECTED"
    }

    assert {
        ("answer", "chat gpt-4.1"),
        ("answer", "contract answer"),
        ("answer", "clausegate.answer.v1.QueryService/Query"),
        ("gateway", "clausegate.answer.v1.QueryService/Query"),
        ("gateway", "POST /v1/query"),
    } <= failed


# The registry -----------------------------------------------------------------------------------------------


def test_every_span_that_arrives_is_listed_with_its_process_and_attributes(day):
    unlisted = {
        (process, span.name, frozenset(names - registry.attributes_of_span(span.name)))
        for process, span in day.collector.spans
        if (names := {each.key for each in span.attributes} - {"error.type"})
        - registry.attributes_of_span(span.name)
        or (row := registry.row_of_span(span.name)) is None
        or (row[1] != "all" and process not in row[1])
    }

    assert not unlisted


def test_every_span_that_is_listed_arrives(day):
    rows = {tuple(registry.row_of_span(span.name) or ()) for _, span in day.collector.spans}
    arrived = {name for row in rows if row for name in registry.quoted(row[0].partition(" (")[0])}

    assert registry.span_names() - NOT_ASKED <= arrived


def test_every_metric_that_arrives_is_listed_with_its_attributes_and_values(day):
    listed, values = registry.metrics(), registry.values()
    values["error.type"] = {
        name.removeprefix("ERROR_REASON_") for name in ErrorReason.DESCRIPTOR.values_by_name
    } | {"CANCELLED", "UNAVAILABLE"}
    metrics = {
        registry.Metric(name, series.kind, series.unit): series
        for name, series in day.collector.metrics.items()
    }

    assert set(metrics) <= set(listed)
    for metric, series in metrics.items():
        for _, attributes in series.points:
            assert {name for name, _ in attributes} <= listed[metric], metric.name
            assert not {(k, v) for k, v in attributes if k in values and v not in values[k]}, metric.name


def test_every_metric_that_is_listed_arrives_from_the_processes_that_are_named(day):
    arrived = {
        name: {process for process, _ in series.points} for name, series in day.collector.metrics.items()
    }
    listed = {registry.quoted(row[0])[0]: set(row[3].split(", ")) for row in registry.rows("Metrics")}

    assert arrived == {name: listed[name] for name in listed.keys() - NOT_ASKED}


def test_every_line_is_an_event_with_its_trace_and_is_listed(day):
    lines = day.lines()
    listed = {(each.event, each.logger): each for each in registry.log_events()}
    always = {"time", "level", "logger", "event", "trace_id", "span_id"}

    assert all(always <= set(line) for line in lines)
    for line in lines:
        event = listed[line["event"], line["logger"]]
        assert logging.getLevelName(line["level"]) >= logging.getLevelName(event.level.upper())
        assert set(line) - always - {"tenant", "subject", "exception"} <= event.fields


def test_the_lines_of_a_question_have_its_trace_and_who_asked(day):
    [line] = [line for line in day.lines() if line["trace_id"] == day.trace_id and line["event"] == "request"]

    assert (line["http_route"], line["http_status"], line["reason"]) == ("/v1/query", 200, "")


def test_a_failed_call_is_logged_with_its_reason_and_who_made_it(day):
    failed = [line for line in day.lines() if line["event"] == "call failed"]
    told = {(line["rpc_method"].rpartition("/")[2], line["reason"], line["tenant"]) for line in failed}

    assert {("Query", "MODEL_REJECTED", "default"), ("GetDocument", "DOCUMENT_NOT_FOUND", "default")} <= told
    assert all(line["trace_id"] for line in failed)


def test_no_word_of_a_document_a_question_a_path_or_a_header_is_told(day):
    told = [str(span).lower() for _, span in day.collector.spans]
    told += [str(series.points).lower() for series in day.collector.metrics.values()]
    told += [log.read_text().lower() for log in day.logs.values()]

    assert [word for word in WORDS if any(word.lower() in each for each in told)] == []


LEVELS = {
    "clausegate.queue.waiting",
    "clausegate.queue.running",
    "clausegate.rpc.running",
    "clausegate.breaker.open",
    "http.server.active_requests",
}


def test_a_process_that_has_stopped_leaves_nothing_waiting_running_or_open(day):
    for name in LEVELS:
        assert not {point: value for point, value in day.collector.metrics[name].points.items() if value}
