"""A collector of spans and metrics, as the product finds one in production."""

from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager

import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc


def texts_of(attributes):
    """Attributes of OTLP as a dict, those that are texts."""
    return {each.key: each.value.string_value for each in attributes}


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Keeps every span with the name of the process that made it, and the last values of counters."""

    def __init__(self):
        self.spans = []
        self.counts = {}
        """By name of the counter and its attributes, as a frozen set of pairs."""

    def Export(self, request, context):  # noqa: N802
        for resource in request.resource_spans:
            name = texts_of(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                self.spans += [(name, span) for span in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()

    def of_trace(self, trace_id):
        return [(name, span) for name, span in self.spans if span.trace_id.hex() == trace_id]

    def count(self, metric, **attributes):
        """The value of a counter for these of its attributes, named without their first part."""
        wanted = {(f"clausegate.{name}", value) for name, value in attributes.items()}
        return sum(value for (name, has), value in self.counts.items() if name == metric and wanted <= has)


class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
    """Hands the values of counters to a collector."""

    def __init__(self, collector):
        self.collector = collector

    def Export(self, request, context):  # noqa: N802
        for resource in request.resource_metrics:
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                for point in metric.sum.data_points:
                    attributes = frozenset(texts_of(point.attributes).items())
                    self.collector.counts[metric.name, attributes] = point.as_int
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
