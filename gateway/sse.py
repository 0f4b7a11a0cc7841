"""Streaming responses as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any

from google.protobuf.message import Message
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from chassis.errors import ServiceError
from gateway.errors import ClientGone
from gateway.messages import to_json, to_object
from gateway.problems import problem_of

EVENT_STREAM = "text/event-stream"
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
HEARTBEAT = b": heartbeat\n\n"

Wait = Callable[[Coroutine[Any, Any, Any]], Awaitable[Any]]
"""Awaits something as long as it is wanted: `while_wanted` of one request."""


def encode(name: str, data: object, number: int) -> bytes:
    """One event; JSON holds no line breaks, so its data is one line."""
    return b"event: %b\nid: %d\ndata: %b\n\n" % (name.encode(), number, to_json(data))


def named_event(message: Message) -> tuple[str, object]:
    """What a message of a stream is as an event: the name of the oneof field that is set, and its JSON.

    A message without a oneof is an event `message` as a whole.
    """
    for oneof in message.DESCRIPTOR.oneofs:
        name = message.WhichOneof(oneof.name)
        if name:
            return name, to_object(getattr(message, name))
    return "message", to_object(message)


async def event_stream(
    messages: AsyncGenerator[Message, None], wait: Wait, heartbeat_seconds: float
) -> Response:
    """The response that sends `messages` as they come.

    It returns when the first message is there: a failure before is raised, and becomes a problem with its own
    HTTP status. `ClientGone` and `ShuttingDown` are raised likewise.
    """
    first = await wait(_next(messages))
    return EventStream(first, messages, wait, heartbeat_seconds)


async def _next(messages: AsyncGenerator[Message, None]) -> Message | None:
    return await anext(messages, None)


class EventStream(Response):
    """Sends a first message and all that follow; a later failure is an event `error` with the problem."""

    media_type = EVENT_STREAM

    def __init__(
        self,
        first: Message | None,
        rest: AsyncGenerator[Message, None],
        wait: Wait,
        heartbeat_seconds: float,
    ) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._first = first
        self._rest = rest
        self._wait = wait
        self._heartbeat_seconds = heartbeat_seconds
        self._sent = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end, fail, or nobody reads them."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async with aclosing(self._rest):
                await self._wait(self._send_all(send))
        except ServiceError as error:
            await self._send_event(send, "error", problem_of(error))
        except ClientGone:
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, send: Send) -> None:
        message = self._first
        while message is not None:
            await self._send_event(send, *named_event(message))
            message = await self._wait_for_next(send)

    async def _wait_for_next(self, send: Send) -> Message | None:
        waiting = asyncio.ensure_future(_next(self._rest))
        try:
            while not (await asyncio.wait([waiting], timeout=self._heartbeat_seconds))[0]:
                await send({"type": "http.response.body", "body": HEARTBEAT, "more_body": True})
            return waiting.result()
        finally:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    async def _send_event(self, send: Send, name: str, data: object) -> None:
        self._sent += 1
        body = encode(name, data, self._sent)
        await send({"type": "http.response.body", "body": body, "more_body": True})
