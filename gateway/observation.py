"""Every request leaves one line in the access log, and every response names its trace."""

from __future__ import annotations

import logging
import time

from opentelemetry import trace
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.telemetry import current_trace_id
from gateway.errors import Overloaded
from gateway.problems import CLIENT_CLOSED_REQUEST, problem_response

logger = logging.getLogger(__name__)

UNMATCHED = "(none)"
"""The route of a request that matched none: its path is the client's text and is not logged."""
PROBES = frozenset({"/healthz", "/readyz"})


class Observation:
    """Middleware for the inside of the server span: bounds, names, logs and counts requests."""

    def __init__(self, app: ASGIApp, max_running: int) -> None:
        self._app = app
        self._max_running = max_running
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), CLIENT_CLOSED_REQUEST

        async def observed_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _name_span(scope)
                _name_trace(message)
            await send(message)

        self._running += 1
        try:
            await self._admitted(scope)(scope, receive, observed_send)
        finally:
            self._running -= 1
            _name_span(scope)
            _record(scope, status, time.perf_counter() - started)

    def _admitted(self, scope: Scope) -> ASGIApp:
        if self._running <= self._max_running or scope["path"] in PROBES:
            return self._app
        return problem_response(Overloaded("Too many requests are running.", retry_after_seconds=1))


def _name_trace(message: Message) -> None:
    trace_id = current_trace_id()
    if trace_id:
        MutableHeaders(raw=message["headers"])["X-Trace-Id"] = trace_id


def _name_span(scope: Scope) -> None:
    """Name the server span, which ends with the last part of the body, unless it has ended."""
    route, span = _route(scope), trace.get_current_span()
    if route != UNMATCHED and span.is_recording():
        span.update_name(f"{scope['method']} {route}")
        span.set_attribute("http.route", route)


def _route(scope: Scope) -> str:
    return str(getattr(scope.get("route"), "path_format", UNMATCHED))


def _record(scope: Scope, status: int, seconds: float) -> None:
    route = _route(scope)
    level = logging.DEBUG if route in PROBES else logging.INFO
    logger.log(
        level,
        "request",
        extra={
            "http_method": scope["method"],
            "http_route": route,
            "http_status": status,
            "duration_ms": round(seconds * 1000, 1),
        },
    )
