"""Errors as RFC 9457 problem documents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextvars import ContextVar
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from chassis.errors import InternalError, ServiceError, UpstreamError
from chassis.limits.deadlines import TooSlow
from chassis.telemetry import current_trace_id
from clausegate.errors import json_path
from gateway.errors import BodyTooLarge, HeadTooLarge, MethodNotAllowed, RangeNotSatisfiable, RouteNotFound
from gateway.messages import shown, to_json

PROBLEM_TYPE = "application/problem+json"

CLIENT_CLOSED_REQUEST = 499
"""What access logs say of a request whose client hung up (nginx's number; nobody receives it)."""

# The mapping that google/rpc/code.proto documents.
HTTP_STATUS = {
    "CANCELLED": CLIENT_CLOSED_REQUEST,
    "UNKNOWN": 500,
    "INVALID_ARGUMENT": 400,
    "DEADLINE_EXCEEDED": 504,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "PERMISSION_DENIED": 403,
    "RESOURCE_EXHAUSTED": 429,
    "FAILED_PRECONDITION": 400,
    "ABORTED": 409,
    "OUT_OF_RANGE": 400,
    "UNIMPLEMENTED": 501,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DATA_LOSS": 500,
    "UNAUTHENTICATED": 401,
}
# Where HTTP says more than gRPC does.
STATUS_OF_REASON = {
    "UNSUPPORTED_CONTENT_TYPE": 415,
    "DOCUMENT_TOO_LARGE": 413,
    # No other request of this client would fare better: the fault is with the server or its upstream.
    "MODEL_NOT_CONFIGURED": 501,
    "MODEL_REJECTED": 502,
    "CONTRACT_FAILED": 502,
}
STATUS_OF_ERROR: Mapping[type[ServiceError], int] = {
    BodyTooLarge: 413,
    TooSlow: 408,
    HeadTooLarge: 431,
    MethodNotAllowed: 405,
    RangeNotSatisfiable: 416,
}


_answered: ContextVar[str] = ContextVar("answered", default="")


def answered_reason() -> str:
    """The reason of the problem that the running request is answered with; empty for none."""
    return _answered.get()


def status_of(error: ServiceError) -> int:
    """The HTTP status of an error."""
    by_code = HTTP_STATUS.get(error.code, 500)
    return STATUS_OF_ERROR.get(type(error)) or STATUS_OF_REASON.get(error.reason) or by_code


def problem_of(error: ServiceError) -> dict[str, object]:
    """The problem document that the running request is answered with.

    `type` leads to the reason's description in the documentation page.
    """
    _answered.set(error.reason)
    problem: dict[str, object] = {
        "type": f"/docs#{error.reason}",
        "title": error.reason.replace("_", " ").capitalize(),
        "status": status_of(error),
        "detail": error.message,
        "reason": error.reason,
        "errors": [],
        "traceId": current_trace_id(),
    }
    if error.field is not None:
        field = json_path(error.field) if isinstance(error, UpstreamError) else error.field
        problem["errors"] = [{"field": field, "description": error.message}]
    if error.retry_after_seconds is not None:
        problem["retryAfterSeconds"] = error.retry_after_seconds
    return problem


def problem_response(error: ServiceError) -> Response:
    """The error as a response, with the headers that belong to it."""
    headers = {"Cache-Control": "no-store"}
    if error.retry_after_seconds is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_seconds)))
    if error.code == "UNAUTHENTICATED":
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooSlow):
        headers["Connection"] = "close"  # the rest of the body is not waited for
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = error.allowed
    if isinstance(error, RangeNotSatisfiable):
        headers["Content-Range"] = f"bytes */{error.size_bytes}"
    return Response(to_json(problem_of(error)), status_of(error), headers, PROBLEM_TYPE)


async def on_service_error(request: Request, error: Exception) -> Response:
    """Answer an error of ours."""
    assert isinstance(error, ServiceError)
    return problem_response(error)


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Answer what Starlette rejects: unknown routes and methods."""
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(sorted((error.headers or {})["Allow"].split(", ")))
        return problem_response(MethodNotAllowed(f"{shown(request.method)} is not allowed here.", allowed))
    return problem_response(RouteNotFound("There is no such route; /openapi.json lists them."))


async def on_unexpected(request: Request, error: Exception) -> Response:
    """Answer a defect of ours without a word of it; the server logs it."""
    message = "An internal error occurred. It is logged under the trace id of this call."
    return problem_response(InternalError(message))


async def on_client_gone(request: Request, error: Exception) -> Response:
    """Nobody reads this; it is for the access log."""
    return Response(status_code=CLIENT_CLOSED_REQUEST)
