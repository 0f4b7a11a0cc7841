"""X-4: one question through four processes to Weaviate is one trace, seen by a collector in this process."""

from contextlib import ExitStack

import httpx
import pytest

from tests.e2e.collecting import collecting
from tests.e2e.corpus import GOVERNING_LAW
from tests.e2e.processes import READY_SECONDS, clausegate, running, wait_until
from tests.fakes.weaviate_server import WeaviateServer

STAGES = {"normalise", "embed", "search", "grade", "gate", "budget", "render", "verify"}
ROLES = {
    "gateway": "gateway",
    "ingest": "services.ingest",
    "retrieval": "services.retrieval",
    "answer": "services.answer",
}


@pytest.fixture(scope="module")
def collector():
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="module")
def weaviate():
    with WeaviateServer() as server:
        yield server


@pytest.fixture(scope="module")
def traced(collector, corpus, weaviate, tmp_path_factory, socket_dirs, free_port):
    """The trace id of one question to four processes, and the collector once they have flushed."""
    spans, endpoint = collector
    root, sockets, port = tmp_path_factory.mktemp("four"), socket_dirs(), free_port()
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
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_INSECURE": "true",
    }
    url = f"http://127.0.0.1:{port}"
    with ExitStack() as processes:
        for role, module in ROLES.items():
            processes.enter_context(running(module, settings, root / f"{role}.log"))
        wait_until(lambda: is_ready(url), READY_SECONDS)
        assert clausegate("ingest", str(corpus), "--server", url).returncode == 0
        answer = httpx.post(f"{url}/v1/query", json={"query": GOVERNING_LAW}, timeout=30)
        httpx.get(f"{url}/v1/documents/nowhere/else.txt", headers={"Host": "made-up.example"}, timeout=30)
    trace_id = answer.json()["metadata"]["traceId"]
    return trace_id, answer, spans.of_trace(trace_id)


def is_ready(url):
    try:
        return httpx.get(f"{url}/readyz", timeout=2).is_success
    except httpx.TransportError:
        return False


def test_four_processes_answer(traced):
    _, answer, _ = traced

    assert "Republic of Ireland" in answer.json()["answer"]


def test_the_trace_id_is_that_of_the_response_header(traced):
    trace_id, answer, _ = traced

    assert answer.headers["x-trace-id"] == trace_id


def test_gateway_answer_and_retrieval_share_one_trace(traced):
    _, _, spans = traced

    assert {"gateway", "answer", "retrieval"} <= {name for name, _ in spans}


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_the_trace_has_a_span_of_every_stage(traced, stage):
    _, _, spans = traced

    assert stage in {span.name.rpartition(".")[2] for _, span in spans}


@pytest.mark.parametrize("call", ["weaviate vector search", "weaviate keyword search"])
def test_the_trace_has_the_calls_of_weaviate(traced, call):
    _, _, spans = traced

    assert ("retrieval", call) in {(name, span.name) for name, span in spans}


def test_every_span_but_the_first_has_its_parent_in_the_trace(traced):
    _, _, spans = traced
    ids = {span.span_id for _, span in spans}

    assert [span.name for _, span in spans if span.parent_span_id not in ids] == ["POST /v1/query"]


def test_the_trace_names_no_document_text(traced):
    _, _, spans = traced
    values = [each.value.string_value for _, span in spans for each in span.attributes]

    assert not any("Republic of Ireland" in value for value in values)


def test_a_request_is_named_for_its_route_and_never_for_its_path(traced, collector):
    spans, _ = collector
    served = [span for name, span in spans.spans if name == "gateway" and not span.parent_span_id]

    assert {"GET /v1/documents/{document_id}", "POST /v1/query"} <= {span.name for span in served}
    assert not any("nowhere" in span.name for span in served)
    assert all("http.route" in {each.key for each in span.attributes} for span in served)


def test_what_a_caller_says_of_itself_makes_no_series_of_metrics(traced, collector):
    spans, _ = collector
    attributes = [dict(each) for name, each in spans.counts if name.startswith("http.server.")]

    assert attributes
    assert not any("made-up.example" in value for each in attributes for value in each.values())
