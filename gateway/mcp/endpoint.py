"""`POST /mcp`: streamable HTTP that keeps nothing between requests, so that any replica answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from chassis.access import Access, Load
from chassis.access import Scope as CredentialScope
from chassis.auth import current_caller
from chassis.errors import PermissionDenied
from chassis.interceptors import check_access
from clausegate import Client
from clausegate.connection import Channels
from gateway.bridge import Downstream
from gateway.calls import Endpoint, while_wanted
from gateway.credentials import is_of_this_machine
from gateway.limits import BodyLimits, check_content_type, read_body
from gateway.mcp.server import mcp_server

PATH = "/mcp"
ACCESS = Access(frozenset({CredentialScope.QUERY}), Load.READ)
"""What a request needs, and weighs here; the services weigh the calls that are made for it."""


@asynccontextmanager
async def mcp_endpoint(downstream: Downstream) -> AsyncIterator[Endpoint]:
    """The endpoint, over the gateway's channels, which carry the credential of the request."""
    settings = downstream.settings
    client = Client(Channels(**downstream.channels, deadline_seconds=settings.request_deadline_seconds))
    # A message for each of its requests is more than the log of the gateway is for.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    manager = StreamableHTTPSessionManager(
        mcp_server(client), json_response=True, stateless=True, max_request_body_size=settings.max_body_bytes
    )
    limits = BodyLimits(
        settings.max_body_bytes, settings.client_stall_seconds, settings.request_deadline_seconds
    )

    async def answer(request: Request) -> Response:
        check_access(current_caller(), ACCESS)
        check_page(request.headers)
        check_content_type(request, "application/json")
        body = await read_body(request, limits)
        return await while_wanted(request.receive, downstream.cut_off, _answered(manager, request, body))

    stop = asyncio.Event()
    running = asyncio.create_task(_until(stop, manager))
    try:
        yield answer
    finally:
        stop.set()
        await running


async def _until(stop: asyncio.Event, manager: StreamableHTTPSessionManager) -> None:
    """Run the SDK's tasks, in a task of their own: the one that begins them has to end them."""
    async with manager.run():
        await stop.wait()


def check_page(headers: Headers) -> None:
    """Raise `PermissionDenied` for a request that a page of another machine made in a browser.

    The SDK would compare with lists of names, and a gateway behind an entrance does not know its own. Without
    credentials `gateway.credentials` has looked at `Host` as well, against DNS rebinding.
    """
    if not all(map(is_of_this_machine, headers.getlist("origin"))):
        raise PermissionDenied("Web pages may not ask here; programs send no Origin.")


async def _answered(manager: StreamableHTTPSessionManager, request: Request, body: bytes) -> Response:
    """The SDK's answer to a request whose body is known, as a response."""
    given: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        if not given:  # that the client has hung up is seen elsewhere
            await asyncio.Event().wait()
        return given.pop()

    async def send(message: Message) -> None:
        sent.append(message)

    await manager.handle_request(request.scope, receive, send)
    started = next(message for message in sent if message["type"] == "http.response.start")
    content = b"".join(message.get("body", b"") for message in sent)
    response = Response(content, status_code=started["status"])
    response.raw_headers = list(started["headers"])
    return response
