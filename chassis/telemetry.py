"""Traces and metrics of a process; exported only when the standard OTLP variables name a collector.

Trace ids exist either way: audit records and logs carry them, and callers may send their own. Every name that
is emitted stands in `docs/telemetry.md`. Nothing here takes words of a caller or of a document: an error is
told by its reason, never by its message.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import uuid4

from opentelemetry import context, metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExporter, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, StatusCode
from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.errors import ServiceError, StorageUnavailable
from chassis.kept_traces import Switch
from chassis.logs import configure_logs
from chassis.storage import is_storage_failure

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Bounds of the buckets of durations: a lookup takes a millisecond, a query without a model some 40 ms, one
with a model seconds, the parsing of a long PDF a minute."""

FLUSH_SECONDS = 2.0
"""What a collector that does not answer may cost at the end of a process; exporters would take 20."""
Attributes = Mapping[str, str | bool | int | float | Sequence[str]]


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
    resource = resource_of(service_name)
    sampler = None if settings.exports_traces else Switch()
    tracing = TracerProvider(sampler, resource, shutdown_on_exit=False)
    if settings.exports_traces:
        tracing.add_span_processor(BatchSpanProcessor(_span_exporter(settings)))
    trace.set_tracer_provider(tracing)
    shutdowns = [tracing.shutdown]
    if settings.exports_metrics:  # a provider without readers would have every instrument measure for nobody
        readers = [PeriodicExportingMetricReader(_metric_exporter(settings))]
        metering = MeterProvider(readers, resource, shutdown_on_exit=False)
        metrics.set_meter_provider(metering)
        shutdowns.append(metering.shutdown)
    try:
        yield
    finally:
        _flush(*shutdowns)


def resource_of(service_name: str) -> Resource:
    """Who sends; what `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` say goes before what we say.

    The instance tells replicas apart, whose series would be one otherwise, and by the name of its host, which
    is that of the pod or container, it tells people which one to look at.
    """
    ours = {
        "service.namespace": "clausegate",
        "service.name": service_name,
        "service.instance.id": f"{socket.gethostname()}-{uuid4().hex[:8]}",
    }
    return Resource.create(ours | dict(OTELResourceDetector().detect().attributes))


def _flush(*shutdowns: Callable[[], None]) -> None:
    """Send what is left, for `FLUSH_SECONDS` at most: a collector that is away keeps no process alive."""
    flushing = [threading.Thread(target=shutdown, daemon=True) for shutdown in shutdowns]
    ends = time.monotonic() + FLUSH_SECONDS
    for thread in flushing:
        thread.start()
    for thread in flushing:
        thread.join(max(0.0, ends - time.monotonic()))


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


def counter(name: str, instrument: str, description: str, unit: str = "1") -> metrics.Counter:
    """A counter of one package, e.g. `counter(__name__, …)`; safe to make at import.

    Attributes are of closed sets: reasons, names of our settings, never words of a caller.
    """
    return metrics.get_meter(name).create_counter(instrument, unit, description)


class Gauge:
    """What goes up and down, told by its changes.

    They are summed here, and looked at when metrics are sent: a query changes gauges some fifty times, and
    each change would cost the SDK 7 µs.
    """

    def __init__(self, meter: metrics.Meter, instrument: str, description: str, unit: str) -> None:
        self._lock = threading.Lock()
        self._levels: dict[frozenset[tuple[str, str]], int] = {}
        meter.create_observable_up_down_counter(instrument, [self._observed], unit, description)

    def add(self, change: int, attributes: Mapping[str, str] | None = None) -> None:
        """So much more, or less; from any thread."""
        of = frozenset(attributes.items() if attributes else ())
        with self._lock:
            self._levels[of] = self._levels.get(of, 0) + change

    def _observed(self, _: metrics.CallbackOptions) -> Iterable[metrics.Observation]:
        with self._lock:
            levels = list(self._levels.items())
        return [metrics.Observation(level, dict(of)) for of, level in levels]


def gauge(name: str, instrument: str, description: str, unit: str = "1") -> Gauge:
    """What goes up and down; else like `counter`."""
    return Gauge(metrics.get_meter(name), instrument, description, unit)


def histogram(
    name: str, instrument: str, description: str, unit: str = "s", buckets: Sequence[float] = SECONDS
) -> metrics.Histogram:
    """Sizes or durations, counted by bucket; else like `counter`."""
    return metrics.get_meter(name).create_histogram(
        instrument, unit, description, explicit_bucket_boundaries_advisory=buckets
    )


def error_type(error: BaseException) -> str:
    """What telemetry says of an error: the reason that a caller is told, or `CANCELLED`."""
    if isinstance(error, ServiceError):
        return error.reason
    if is_storage_failure(error):
        return StorageUnavailable.reason
    return "CANCELLED" if isinstance(error, asyncio.CancelledError | GeneratorExit) else "INTERNAL"


@contextmanager
def span(
    of: trace.Tracer, name: str, attributes: Attributes | None = None, kind: SpanKind = SpanKind.INTERNAL
) -> Iterator[Span]:
    """A span for as long as the context lasts.

    Of an error that leaves it only `error_type` is kept: its words may be those of a document.
    """
    current = of.start_span(name, kind=kind, attributes=attributes)
    token = context.attach(trace.set_span_in_context(current))
    try:
        yield current
    except BaseException as error:
        fail(current, error_type(error))
        raise
    finally:
        context.detach(token)
        current.end()


def fail(failed: Span, reason: str) -> None:
    """Say on a span that its work failed, and why."""
    failed.set_attribute("error.type", reason)
    failed.set_status(StatusCode.ERROR)


@contextmanager
def timed(durations: metrics.Histogram, attributes: Attributes) -> Iterator[None]:
    """Record the time of the context, and `error_type` of an error that leaves it."""
    began, measured = time.perf_counter(), attributes
    try:
        yield
    except BaseException as error:
        measured = {**attributes, "error.type": error_type(error)}
        raise
    finally:
        durations.record(time.perf_counter() - began, measured)


_stages = tracer(__name__)
_stage_duration = histogram(__name__, "clausegate.stage.duration", "Time of one stage of a task.")


@contextmanager
def stage(name: str) -> Iterator[Span]:
    """One stage of a task: a span of this name, and its time in `clausegate.stage.duration`."""
    with timed(_stage_duration, {"clausegate.stage": name}), span(_stages, name) as current:
        yield current


def current_trace_id() -> str:
    """32 hexadecimal digits; empty outside any trace."""
    current = trace.get_current_span().get_span_context()
    return trace.format_trace_id(current.trace_id) if current.is_valid else ""
