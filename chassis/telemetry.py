"""Traces, metrics and logs of a process; exported only when the standard OTLP variables name a collector.

Trace ids exist either way: audit records and logs carry them, and callers may send their own.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExporter, PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import View
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from pydantic_settings import BaseSettings, SettingsConfigDict

HTTP_ATTRIBUTES = View(
    instrument_name="http.server.*", attribute_keys={"http.method", "http.target", "http.status_code"}
)
"""What requests are counted by. The instrumentation would add the Host header, which is a caller's text: each
new one would be another series, here and where metrics are kept."""

TELEMETRY_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class TelemetrySettings(BaseSettings):
    """The standard variables that decide what is exported; the SDK reads the others itself."""

    model_config = SettingsConfigDict(extra="ignore")

    otel_exporter_otlp_endpoint: str = ""
    otel_exporter_otlp_traces_endpoint: str = ""
    otel_exporter_otlp_metrics_endpoint: str = ""
    otel_exporter_otlp_protocol: str = "grpc"
    otel_exporter_otlp_traces_protocol: str = ""
    otel_exporter_otlp_metrics_protocol: str = ""
    otel_sdk_disabled: bool = False

    @property
    def exports_traces(self) -> bool:
        """Whether a collector is named for spans."""
        named = self.otel_exporter_otlp_endpoint or self.otel_exporter_otlp_traces_endpoint
        return bool(named) and not self.otel_sdk_disabled

    @property
    def exports_metrics(self) -> bool:
        """Whether a collector is named for metrics."""
        named = self.otel_exporter_otlp_endpoint or self.otel_exporter_otlp_metrics_endpoint
        return bool(named) and not self.otel_sdk_disabled


@contextmanager
def telemetry(service_name: str, settings: TelemetrySettings | None = None) -> Iterator[None]:
    """Set up traces, metrics and logs for a process that calls itself `service_name`; flush them at its end.

    To be entered once per process, by its `__main__`.
    """
    configure_logs()
    settings = settings or TelemetrySettings()
    resource = Resource.create({"service.name": service_name, "service.namespace": "clausegate"})
    tracing = TracerProvider(resource=resource, sampler=None if settings.exports_traces else ALWAYS_OFF)
    if settings.exports_traces:
        tracing.add_span_processor(BatchSpanProcessor(_span_exporter(settings)))
    readers = [PeriodicExportingMetricReader(_metric_exporter(settings))] if settings.exports_metrics else []
    metering = MeterProvider(readers, resource, views=[HTTP_ATTRIBUTES])
    trace.set_tracer_provider(tracing)
    metrics.set_meter_provider(metering)
    try:
        yield
    finally:
        tracing.shutdown()
        metering.shutdown()


def _span_exporter(settings: TelemetrySettings) -> SpanExporter:
    protocol = settings.otel_exporter_otlp_traces_protocol or settings.otel_exporter_otlp_protocol
    if protocol == "http/protobuf":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

        return HttpExporter()
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter

    return GrpcExporter()


def _metric_exporter(settings: TelemetrySettings) -> MetricExporter:
    protocol = settings.otel_exporter_otlp_metrics_protocol or settings.otel_exporter_otlp_protocol
    if protocol == "http/protobuf":
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpExporter

        return HttpExporter()
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcExporter

    return GrpcExporter()


def tracer(name: str) -> trace.Tracer:
    """The tracer of one package, e.g. `tracer(__name__)`; safe to make at import."""
    return trace.get_tracer(name)


def counter(name: str, instrument: str, description: str) -> metrics.Counter:
    """A counter of one package, e.g. `counter(__name__, …)`; safe to make at import."""
    return metrics.get_meter(name).create_counter(instrument, description=description)


def current_trace_id() -> str:
    """32 hexadecimal digits; empty outside any trace."""
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else ""


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time (ISO 8601, UTC), level, logger, event, trace id, and what `extra` adds."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "event": record.getMessage(),
            "trace_id": current_trace_id(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in TELEMETRY_FIELDS}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def configure_logs(level: int = logging.INFO) -> None:
    """Send all logs to standard error as JSON lines."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
