import asyncio
import errno
import gc
import json
import logging
import socket
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from chassis.logs import JsonFormatter
from chassis.telemetry import Gauge, TelemetrySettings, error_type, resource_of, stage
from services.ingest.errors import DocumentNotFound
from tests.contract.traces import kept_spans


def _line(**extra: object) -> dict[str, object]:
    record = logging.makeLogRecord(
        {"name": "n", "levelname": "INFO", "msg": "event %s", "args": ("x",), **extra}
    )
    return json.loads(JsonFormatter().format(record))


def test_a_log_line_is_one_json_object_with_its_fields():
    line = _line(created=0.0, documents=3)

    assert line["time"] == "1970-01-01T00:00:00.000+00:00"
    assert (line["event"], line["documents"], line["trace_id"]) == ("event x", 3, "")


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except type(error) as caught:
        return caught


def exception_of(error: Exception) -> list[str]:
    return _line(exc_info=(type(error), error, error.__traceback__))["exception"]


def test_an_exception_stays_on_the_line_with_its_frames():
    kind, frame = exception_of(raised(OSError(28, "No space left on device")))

    assert kind == "OSError: [Errno 28] No space left on device"
    assert frame.endswith(" raised")


@given(st.text(min_size=12))
def test_words_that_an_exception_may_have_from_a_document_are_not_logged(words):
    shown = exception_of(raised(LookupError("no place for it"), raised(ValueError(words))))

    assert [line for line in shown if not line.endswith(" raised")] == ["ValueError", "LookupError"]


async def test_words_of_an_error_that_nobody_waits_for_are_not_logged(caplog):
    async def fails() -> None:
        raise ValueError("words of a document")

    task = asyncio.create_task(fails())
    await asyncio.wait([task])
    del task
    gc.collect()
    [line] = [JsonFormatter().format(record) for record in caplog.records if record.name == "asyncio"]

    assert json.loads(line)["event"] == "Task exception was never retrieved"
    assert "words of a document" not in line


@given(st.text(min_size=12))
def test_a_span_tells_an_error_by_its_reason_and_never_by_its_words(words):
    with kept_spans() as spans:
        for error in (DocumentNotFound(words), ValueError(words)):
            with suppress(type(error)), stage("grade"):
                raise error
    ended = spans.get_finished_spans()

    assert [each.attributes["error.type"] for each in ended] == ["DOCUMENT_NOT_FOUND", "INTERNAL"]
    assert not any(words in each.to_json() or each.events for each in ended)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (DocumentNotFound("no such document"), "DOCUMENT_NOT_FOUND"),
        (OSError(errno.ENOSPC, "No space left on device"), "STORAGE_UNAVAILABLE"),
        (FileNotFoundError(errno.ENOENT, "No such file"), "INTERNAL"),
        (asyncio.CancelledError(), "CANCELLED"),
    ],
    ids=["ours", "a full disk", "a defect", "cancelled"],
)
def test_an_error_is_told_by_the_reason_that_a_caller_gets(error, told):
    assert error_type(error) == told


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(-3, 3))))
def test_a_gauge_stands_at_the_sum_of_its_changes_whenever_it_is_looked_at(changes):
    reader, expected = InMemoryMetricReader(), {}
    levels = Gauge(MeterProvider([reader], shutdown_on_exit=False).get_meter("m"), "g", "d", "1")
    for queue, change in changes:
        levels.add(change, {"clausegate.queue": queue})
        expected[queue] = expected.get(queue, 0) + change

    assert looked_at(reader) == looked_at(reader) == expected


def looked_at(reader: InMemoryMetricReader) -> dict[str, int]:
    data = reader.get_metrics_data()
    metrics = data.resource_metrics[0].scope_metrics[0].metrics if data else []
    assert not any(each.data.is_monotonic for each in metrics)
    points = [point for each in metrics for point in each.data.data_points]
    return {point.attributes["clausegate.queue"]: point.value for point in points}


NAMED = "http://127.0.0.1:4317"


@pytest.mark.parametrize(
    ("settings", "traces", "metrics"),
    [
        (TelemetrySettings(), False, False),
        (TelemetrySettings(otel_exporter_otlp_endpoint=NAMED), True, True),
        (TelemetrySettings(otel_exporter_otlp_traces_endpoint=NAMED), True, False),
        (TelemetrySettings(otel_exporter_otlp_metrics_endpoint=NAMED), False, True),
        (TelemetrySettings(otel_exporter_otlp_endpoint=NAMED, otel_sdk_disabled=True), False, False),
    ],
    ids=["none", "one for all", "traces", "metrics", "disabled"],
)
def test_only_what_a_collector_is_named_for_is_exported(settings, traces, metrics):
    assert (settings.exports_traces, settings.exports_metrics) == (traces, metrics)


def test_replicas_are_told_apart_and_by_the_names_of_their_hosts():
    instances = {resource_of("answer").attributes["service.instance.id"] for _ in range(2)}

    assert len(instances) == 2
    assert all(instance.startswith(f"{socket.gethostname()}-") for instance in instances)


def test_what_an_operator_says_of_a_process_goes_before_what_it_says_itself(monkeypatch):
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=a-0,deployment.environment.name=eu")
    attributes = resource_of("answer").attributes

    assert attributes["service.instance.id"] == "a-0"
    assert attributes["deployment.environment.name"] == "eu"
    assert (attributes["service.name"], attributes["service.namespace"]) == ("answer", "clausegate")
