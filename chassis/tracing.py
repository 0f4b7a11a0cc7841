"""Traces and measures calls that come in and that go out, by OpenTelemetry's conventions for RPC.

The interceptors of opentelemetry-instrumentation-grpc (0.66b2) wait for a call's status before they hand
an outgoing call out, so that cancelling the waiting task does not cancel the call: a client that vanished
would leave work running downstream. These hand the call out at once and end the span when its status arrives.
Calls of gRPC health are not traced: they come every few seconds and would bury what is worth seeing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

import grpc
from google.protobuf import descriptor_pool
from grpc.aio import Metadata
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection
from opentelemetry import context as contexts
from opentelemetry import propagate, trace

from chassis.status import DETAILS_KEY, reason_of
from chassis.telemetry import fail, gauge, histogram, tracer

logger = logging.getLogger(__name__)

HEALTH = f"/{health_pb2.DESCRIPTOR.services_by_name['Health'].full_name}/"
OTHER = "_OTHER"
"""What a method is called that the server does not have: its name is a caller's text."""
SERVERS_FAULT = frozenset(
    {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}
)
"""Codes by which a server says that it failed, and not that the caller did."""

_tracer = tracer(__name__)
_served = histogram(__name__, "rpc.server.call.duration", "Time of a call that came in, to its end.")
_called = histogram(__name__, "rpc.client.call.duration", "Time of a call that went out, to its end.")
_running = gauge(__name__, "clausegate.rpc.running", "Calls that came in and run, by method.", "{call}")

Carried = Callable[[], Iterable[tuple[str, str]]]
Told = Callable[[str], None]
Handler = Any  # grpc.RpcMethodHandler of whatever messages the method has
Continuation = Callable[[grpc.HandlerCallDetails], Awaitable[Handler]]


# Calls that come in -----------------------------------------------------------------------------------------


class ServerTracing(grpc.aio.ServerInterceptor):
    """Makes each call a span that continues the caller's trace. The outermost interceptor."""

    def __init__(self, services: Iterable[str]) -> None:
        """`services` are the full names of those that the server offers."""
        self._methods = frozenset(_methods([*services, reflection.SERVICE_NAME]))

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler:
        """Wrap the handler of one call."""
        handler = await continuation(handler_call_details)
        path = str(handler_call_details.method)
        if handler is None or path.startswith(HEALTH):
            return handler
        method = path.lstrip("/") if path in self._methods else OTHER
        sent = dict(handler_call_details.invocation_metadata or ())
        return _wrapped(handler, lambda context: _Served(method, sent, context))


def _methods(services: Iterable[str]) -> Iterable[str]:
    pool: Any = descriptor_pool.Default()  # type: ignore[no-untyped-call]  # its stubs are not typed
    for name in services:
        try:
            service = pool.FindServiceByName(name)
        except KeyError:  # made by hand, without a proto
            continue
        yield from (f"/{name}/{method.name}" for method in service.methods)


class _Served:
    """A call that came in, and the context of its servicer, which tells how it ends."""

    def __init__(self, method: str, sent: dict[str, Any], context: Any) -> None:
        self._context = context
        self._began = time.perf_counter()
        self._attributes = {"rpc.system.name": "grpc", "rpc.method": method}
        self._status = {"rpc.response.status_code": "OK"}
        self._span = _tracer.start_span(
            method, propagate.extract(sent), trace.SpanKind.SERVER, self._attributes
        )
        # Each call runs in a task of its own, so nothing has to be set back.
        contexts.attach(trace.set_span_in_context(self._span))
        _running.add(1, self._attributes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def abort(self, code: grpc.StatusCode, details: str = "", trailing_metadata: Any = ()) -> None:
        """End the call with an error."""
        self._failed(code.name, reason_of(code.name, trailing_metadata))
        await self._context.abort(code, details, trailing_metadata)

    def cancelled(self) -> None:
        """The caller hung up, or its deadline passed."""
        left = self._context.time_remaining()
        code = "CANCELLED" if left is None or left > 0 else "DEADLINE_EXCEEDED"
        self._failed(code, code)

    def end(self) -> None:
        """Measure the call, and log it if it failed: who made it is nowhere else."""
        seconds = time.perf_counter() - self._began
        _running.add(-1, self._attributes)
        _served.record(seconds, self._attributes | self._status)
        self._span.set_attributes(self._status)
        if "error.type" in self._status:
            self._log(seconds)
        self._span.end()

    def _log(self, seconds: float) -> None:
        code = self._status["rpc.response.status_code"]
        logger.log(
            logging.WARNING if code in SERVERS_FAULT else logging.INFO,
            "call failed",
            extra={
                "rpc_method": self._attributes["rpc.method"],
                "code": code,
                "reason": self._status["error.type"],
                "duration_ms": round(seconds * 1000, 1),
            },
        )

    def _failed(self, code: str, reason: str) -> None:
        self._status = {"rpc.response.status_code": code, "error.type": reason}
        if code in SERVERS_FAULT:
            fail(self._span, reason)


def _wrapped(handler: Handler, served: Callable[[Any], _Served]) -> Handler:
    behaviour = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream

    async def answer(request: Any, context: Any) -> Any:
        call = served(context)
        try:
            return await behaviour(request, call)
        except asyncio.CancelledError:
            call.cancelled()
            raise
        finally:
            call.end()

    async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
        call = served(context)
        try:
            async for response in behaviour(request, call):
                yield response
        except (asyncio.CancelledError, GeneratorExit):
            call.cancelled()
            raise
        finally:
            call.end()

    kind = "stream" if handler.request_streaming else "unary"
    reply, made = ("stream", stream) if handler.response_streaming else ("unary", answer)
    make = getattr(grpc, f"{kind}_{reply}_rpc_method_handler")
    return make(made, handler.request_deserializer, handler.response_serializer)


# Calls that go out ------------------------------------------------------------------------------------------


class _Traced:
    def __init__(self, carried: Carried, unreachable: Told) -> None:
        self._carried = carried
        self._unreachable = unreachable
        self._ending: set[asyncio.Task[None]] = set()

    async def _call(self, continuation: Any, details: Any, request: Any) -> Any:
        path = details.method.decode() if isinstance(details.method, bytes) else details.method
        if path.startswith(HEALTH):
            return await continuation(details._replace(metadata=self._metadata(details)), request)
        attributes = {"rpc.system.name": "grpc", "rpc.method": path.lstrip("/")}
        began = time.perf_counter()
        span = _tracer.start_span(path.lstrip("/"), kind=trace.SpanKind.CLIENT, attributes=attributes)
        with trace.use_span(span):
            call = await continuation(details._replace(metadata=self._metadata(details)), request)
        ending = asyncio.create_task(self._end(span, call, attributes, began))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
        return call

    def _metadata(self, details: Any) -> Metadata:
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        return Metadata(*tuple(details.metadata or ()), *carrier.items(), *self._carried())

    async def _end(
        self, span: trace.Span, call: grpc.aio.Call, attributes: dict[str, str], began: float
    ) -> None:
        code = await call.code()
        status = {"rpc.response.status_code": code.name}
        if code is not grpc.StatusCode.OK:
            sent = tuple(await call.trailing_metadata() or ())
            status["error.type"] = reason_of(code.name, sent)
            fail(span, status["error.type"])
            if code is grpc.StatusCode.UNAVAILABLE and DETAILS_KEY not in dict(sent):
                self._unreachable(await call.details() or "")
        _called.record(time.perf_counter() - began, attributes | status)
        span.set_attributes(status)
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


def client_interceptors(carried: Carried, unreachable: Told) -> list[grpc.aio.ClientInterceptor]:
    """One interceptor for each kind of call, since grpc.aio sorts an interceptor into one kind only.

    `carried` says what else the metadata of a call made now holds; `unreachable` is told in gRPC's words why
    a call got no answer.
    """
    return [kind(carried, unreachable) for kind in (_UnaryUnary, _UnaryStream, _StreamUnary, _StreamStream)]
