import json
import logging

import pytest

from chassis.logs import JsonFormatter
from chassis.telemetry import TelemetrySettings


def _line(**extra: object) -> dict[str, object]:
    record = logging.makeLogRecord(
        {"name": "n", "levelname": "INFO", "msg": "event %s", "args": ("x",), **extra}
    )
    return json.loads(JsonFormatter().format(record))


def test_a_log_line_is_one_json_object_with_its_fields():
    line = _line(created=0.0, documents=3)

    assert line["time"] == "1970-01-01T00:00:00.000+00:00"
    assert (line["event"], line["documents"], line["trace_id"]) == ("event x", 3, "")


def test_an_exception_stays_on_the_line():
    failure = ValueError("bad\nthing")

    assert "ValueError: bad" in str(_line(exc_info=(ValueError, failure, None))["exception"])


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
