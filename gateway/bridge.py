"""One HTTP endpoint per route of the contracts: JSON in, a gRPC call, JSON or events out."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc
from google.protobuf.message import Message
from starlette.requests import Request
from starlette.responses import Response

from chassis.errors import InvalidInput
from chassis.status import upstream_errors
from gateway.caching import REVALIDATED, holds
from gateway.calls import Endpoint, deadline_seconds, responses, until_cut_off, while_wanted
from gateway.contracts import Binding, Method
from gateway.errors import MalformedRequest
from gateway.limits import BodyLimits, check_content_type, read_body
from gateway.messages import fill, json_name, parse_json, query_object, shown, to_json, to_object
from gateway.settings import GatewaySettings
from gateway.sse import event_stream


@dataclass(frozen=True, slots=True)
class Downstream:
    """What endpoints need to call services."""

    channels: Mapping[str, grpc.aio.Channel]
    """By area: `ingest`, `retrieval`, `answer`."""
    settings: GatewaySettings
    cut_off: asyncio.Event
    """Set when running requests have to end because the gateway stops."""

    def stub(self, method: Method) -> Any:
        """The callable that gRPC makes for one method."""
        channel = self.channels[method.area]
        arity = ("unary", "stream")
        make = getattr(channel, f"{arity[method.streams_requests]}_{arity[method.streams_responses]}")
        return make(
            method.rpc_path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )


def endpoint(method: Method, binding: Binding, downstream: Downstream) -> Endpoint:
    """The endpoint of one route. The method takes one request message."""
    stub = downstream.stub(method)
    settings = downstream.settings
    limits = _deadlines(method, settings)

    async def answer(request: Request) -> Response:
        timeout = deadline_seconds(request, *limits)
        body = BodyLimits(settings.max_body_bytes, settings.client_stall_seconds, timeout)
        message = await until_cut_off(downstream.cut_off, read_request(request, method, binding, body))
        call = stub(message, timeout=timeout)
        wait = partial(while_wanted, request.receive, downstream.cut_off)
        if method.streams_responses:
            return await event_stream(responses(call), wait, settings.heartbeat_seconds)
        result = await wait(_result(call))
        if method.sends_picture and not wants_json(request):
            return picture_response(request, result)
        return json_response(result)

    return answer


def _deadlines(method: Method, settings: GatewaySettings) -> tuple[float, float]:
    """Seconds that a call has by default and at most; to read a document again takes as long as an upload."""
    if method.area == "ingest" and method.streams_responses:
        return settings.upload_deadline_seconds, settings.upload_deadline_seconds
    return settings.request_deadline_seconds, settings.max_deadline_seconds


async def read_request(request: Request, method: Method, binding: Binding, limits: BodyLimits) -> Message:
    """The request message that an HTTP request stands for. Raises `MalformedRequest` and `InvalidInput`."""
    message = method.request()
    if binding.has_body:
        check_content_type(request, "application/json")
        for name in request.query_params:
            raise MalformedRequest("This route takes no query parameters.", field=shown(name))
        fill(message, parse_json(await read_body(request, limits)))
    else:
        fill(message, query_object(message, request.query_params.multi_items()))
    fill_from_path(message, request.path_params)
    return message


def fill_from_path(message: Message, variables: Mapping[str, str]) -> None:
    """Set the fields that the path names. A body may repeat them, but not say anything else."""
    named = type(message)()
    fill(named, dict(variables))
    for field, value in named.ListFields():
        if getattr(message, field.name) not in (field.default_value, value):
            raise InvalidInput("Must be left out, or equal to the path's.", field=json_name(field))
    message.MergeFrom(named)


async def _result(call: Any) -> Message:
    """The response of a unary call, which is cancelled with the wait for it."""
    try:
        with upstream_errors():
            response: Message = await call
            return response
    finally:
        call.cancel()


def wants_json(request: Request) -> bool:
    """Whether the client asks for the message of a picture in place of the picture."""
    return "application/json" in request.headers.get("accept", "")


def picture_response(request: Request, message: Message) -> Response:
    """A picture, for its caller alone: a key may lose the source, so that a browser asks each time."""
    png: bytes = message.png  # type: ignore[attr-defined]
    tag = f'"{hashlib.sha256(png).hexdigest()}"'
    headers = {
        "ETag": tag,
        "Cache-Control": REVALIDATED,
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if holds(request.headers, tag):
        return Response(status_code=304, headers=headers)
    return Response(png, headers=headers, media_type="image/png")


def json_response(message: Message) -> Response:
    """A message as a JSON response."""
    return Response(to_json(to_object(message)), media_type="application/json")
