import json
import logging

from chassis.telemetry import JsonFormatter, TelemetrySettings


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


def test_spans_are_exported_only_when_a_collector_is_named():
    assert not TelemetrySettings(otel_exporter_otlp_endpoint="").exports
    assert TelemetrySettings(otel_exporter_otlp_endpoint="http://127.0.0.1:4317").exports
    assert not TelemetrySettings(otel_exporter_otlp_endpoint="http://x", otel_sdk_disabled=True).exports
