"""A collector of spans and metrics, as the product finds one in production."""

from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc


def values_of(attributes):
    """Attributes of OTLP as a dict of texts."""
    return {each.key: str(getattr(each.value, each.value.WhichOneof("value"))) for each in attributes}


@dataclass
class Series:
    """A metric as it arrived: what it is, and the last value of each set of its attributes."""

    kind: str
    unit: str
    points: dict = field(default_factory=dict)
    """By process and attributes, as a frozen set of pairs; of a histogram its count."""


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Keeps every span with the name of the process that made it, and the last values of metrics."""

    def __init__(self):
        self.spans = []
        self.metrics = {}
        """`Series` by name."""

    def Export(self, request, context):  # noqa: N802
        for resource in request.resource_spans:
            name = values_of(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                self.spans += [(name, span) for span in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()

    def of_trace(self, trace_id):
        return [(name, span) for name, span in self.spans if span.trace_id.hex() == trace_id]

    def take(self, process, metric):
        kind, points = points_of(metric)
        series = self.metrics.setdefault(metric.name, Series(kind, metric.unit))
        for point, value in points:
            series.points[process, frozenset(values_of(point.attributes).items())] = value

    def count(self, metric, **attributes):
        """The value of a counter for these of its attributes, named with `_` for `.`."""
        wanted = {(name.replace("_", "."), value) for name, value in attributes.items()}
        points = self.metrics[metric].points if metric in self.metrics else {}
        return sum(
            value
            for (_, has), value in points.items()
            if wanted <= {(name.replace("_", "."), each) for name, each in has}
        )


def points_of(metric):
    """The kind of a metric as `docs/telemetry.md` calls it, and its points with their values."""
    if metric.HasField("histogram"):
        return "histogram", [(point, point.count) for point in metric.histogram.data_points]
    points = [(point, point.as_int or point.as_double) for point in metric.sum.data_points]
    return "counter" if metric.sum.is_monotonic else "gauge", points


class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
    """Hands metrics to a collector."""

    def __init__(self, collector):
        self.collector = collector

    def Export(self, request, context):  # noqa: N802
        for resource in request.resource_metrics:
            process = values_of(resource.resource.attributes)["service.name"]
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                self.collector.take(process, metric)
        return metrics_service_pb2.ExportMetricsServiceResponse()


@contextmanager
def collecting() -> Iterator[tuple[Collector, str]]:
    """A collector and its address."""
    server = grpc.server(futures.ThreadPoolExecutor(2))
    collector = Collector()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, server)
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Metrics(collector), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield collector, f"http://127.0.0.1:{port}"
    server.stop(None).wait()
