"""Traces outgoing calls.

The interceptors of opentelemetry-instrumentation-grpc (0.66b2) wait for a call's status before they hand
the call out, so that cancelling the waiting task does not cancel the call: a client that vanished would
leave work running downstream. These hand the call out at once and end the span when its status arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import grpc
from grpc.aio import Metadata
from opentelemetry import propagate, trace

tracer = trace.get_tracer(__name__)


Carried = Callable[[], Iterable[tuple[str, str]]]


class _Traced:
    def __init__(self, carried: Carried) -> None:
        self._carried = carried
        self._ending: set[asyncio.Task[None]] = set()

    async def _call(self, continuation: Any, details: Any, request: Any) -> Any:
        method = details.method.decode() if isinstance(details.method, bytes) else details.method
        service, _, name = method.lstrip("/").partition("/")
        attributes = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": name}
        span = tracer.start_span(method.lstrip("/"), kind=trace.SpanKind.CLIENT, attributes=attributes)
        with trace.use_span(span):
            call = await continuation(self._completed(details), request)
        ending = asyncio.create_task(_end(span, call))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
        return call

    def _completed(self, details: Any) -> Any:
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        metadata = Metadata(*tuple(details.metadata or ()), *carrier.items(), *self._carried())
        return details._replace(metadata=metadata)


async def _end(span: trace.Span, call: grpc.aio.Call) -> None:
    code = await call.code()
    span.set_attribute("rpc.grpc.status_code", code.value[0])
    if code is not grpc.StatusCode.OK:
        span.set_status(trace.StatusCode.ERROR, code.name)
    span.end()


class _UnaryUnary(_Traced, grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        return await self._call(continuation, details, request)


class _UnaryStream(_Traced, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return await self._call(continuation, details, request)


class _StreamUnary(_Traced, grpc.aio.StreamUnaryClientInterceptor):
    async def intercept_stream_unary(self, continuation: Any, details: Any, requests: Any) -> Any:
        return await self._call(continuation, details, requests)


class _StreamStream(_Traced, grpc.aio.StreamStreamClientInterceptor):
    async def intercept_stream_stream(self, continuation: Any, details: Any, requests: Any) -> Any:
        return await self._call(continuation, details, requests)


def client_interceptors(carried: Carried) -> list[grpc.aio.ClientInterceptor]:
    """One interceptor for each kind of call, since grpc.aio sorts an interceptor into one kind only.

    `carried` says what else the metadata of a call made now holds.
    """
    return [kind(carried) for kind in (_UnaryUnary, _UnaryStream, _StreamUnary, _StreamStream)]
