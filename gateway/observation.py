"""Every request is one span, one measurement and one line in the access log; responses name their trace."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

from opentelemetry import context, propagate, trace
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.telemetry import current_trace_id, fail, gauge, histogram, tracer
from gateway.problems import CLIENT_CLOSED_REQUEST, answered_reason

logger = logging.getLogger(__name__)

UNMATCHED = "(none)"
"""The route of a request that matched none: its path is the client's text and is not logged."""
PROBES = frozenset({"/healthz", "/readyz"})
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""Any other is a client's text, and counted as `_OTHER`."""

_tracer = tracer(__name__)
_duration = histogram(__name__, "http.server.request.duration", "Time of a request, to its last byte.")
_running = gauge(__name__, "http.server.active_requests", "Requests that run.", "{request}")


@dataclass(slots=True)
class _Request:
    """A request under way."""

    scope: Scope
    status: int = CLIENT_CLOSED_REQUEST
    began: float = field(default_factory=time.perf_counter)

    @property
    def method(self) -> str:
        """As it is counted."""
        method = str(self.scope["method"])
        return method if method in METHODS else "_OTHER"

    @property
    def route(self) -> str:
        """Known once the request has been routed."""
        return str(getattr(self.scope.get("route"), "path_format", UNMATCHED))


class Observation:
    """The outermost middleware: names, logs and measures requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, which has a context of its own: nothing that is attached has to be detached."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, span = _Request(scope), _span(scope)
        context.attach(trace.set_span_in_context(span))

        async def observed_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                request.status = message["status"]
                _name_trace(message)
            await send(message)

        counted = {"http.request.method": request.method, "url.scheme": scope["scheme"]}
        _running.add(1, counted)
        try:
            await self._app(scope, receive, observed_send)
        finally:
            _running.add(-1, counted)
            _record(request, span)


def _span(scope: Scope) -> trace.Span:
    """The span of a request, which continues the caller's trace; it gets its name when it has a route.

    Probes have none: they come every few seconds and would bury what is worth seeing.
    """
    if scope["path"] in PROBES:
        return trace.INVALID_SPAN
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return _tracer.start_span("HTTP", propagate.extract(headers), trace.SpanKind.SERVER)


def _name_trace(message: Message) -> None:
    trace_id = current_trace_id()
    if trace_id:
        MutableHeaders(raw=message["headers"])["X-Trace-Id"] = trace_id


def _record(request: _Request, span: trace.Span) -> None:
    seconds, route, reason = time.perf_counter() - request.began, request.route, answered_reason()
    attributes: dict[str, str | int] = {
        "http.request.method": request.method,
        "http.route": route,
        "http.response.status_code": request.status,
        "url.scheme": request.scope["scheme"],
    }
    if reason:
        attributes["error.type"] = reason
    _duration.record(seconds, attributes)
    span.update_name(request.method if route == UNMATCHED else f"{request.method} {route}")
    span.set_attributes(attributes)
    if reason and request.status >= 500:
        fail(span, reason)
    _log(request, seconds, reason)
    span.end()


def _log(request: _Request, seconds: float, reason: str) -> None:
    logger.log(
        logging.DEBUG if request.route in PROBES else logging.INFO,
        "request",
        extra={
            "http_method": request.method,
            "http_route": request.route,
            "http_status": request.status,
            "reason": reason,
            "duration_ms": round(seconds * 1000, 1),
        },
    )
