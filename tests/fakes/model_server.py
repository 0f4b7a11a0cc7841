"""A model server on loopback: chat completions and embeddings, good and bad, as a test asks for.

It refuses requests that OpenAI's server refuses (`refused`): what passes here has a chance to pass there.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from tests.fakes.behaviours import Behaviour, Fails, Vectors
from tests.fakes.wire import Connection, Request, Wire, read_request

MAX_INPUTS = 2_048
FORMATS = ("text", "json_object", "json_schema")


class ModelServer:
    """Serves while it is entered.

    What it does with a request: the first of `reply` that is left, else what `respond` says, else embeddings
    for the embeddings endpoint and 400 for a chat, since nobody said what to reply. What `respond` raises is
    raised again when the server is left.
    """

    def __init__(self, key: str = "", port: int = 0) -> None:
        """With a `key` every request must carry it."""
        self._key, self._port = key, port
        self._queue: deque[Behaviour] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._defects: list[Exception] = []
        self.respond: Callable[[Request], Behaviour] = _by_default
        self.requests: list[Request] = []
        self.running = 0
        """Requests being answered now."""
        self.most_running = 0
        """Requests that were answered at once, at most."""

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self._serve), "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._defects:
            raise self._defects[0]

    @property
    def url(self) -> str:
        """Base URL, as a client of the protocol is given it."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def chats(self) -> list[Request]:
        """The requests for chat completions."""
        return [one for one in self.requests if one.is_chat]

    def reply(self, *behaviours: Behaviour) -> None:
        """Queue behaviours, one a request."""
        self._queue.extend(behaviours)

    def forget(self) -> None:
        """Drop what was queued and recorded."""
        self._queue.clear()
        self.requests.clear()
        self.most_running = self.running

    async def received(self, count: int) -> None:
        """Return when as many requests have come in. Raises `TimeoutError` after ten seconds."""
        async with asyncio.timeout(10):
            while len(self.requests) < count:  # noqa: ASYNC110 - a list has no event
                await asyncio.sleep(0.002)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        connection = writer.transport.get_protocol()
        assert isinstance(connection, Connection)
        # Cancelled it ends quietly: Python 3.11 reports a cancelled task of a connection as an error.
        with suppress(asyncio.CancelledError):
            try:
                await self._converse(reader, writer, connection)
            finally:
                # Whatever failed: Python 3.11.2 itself leaves the client of a failed task waiting for ever.
                self._tasks.discard(task)
                writer.close()

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: Connection
    ) -> None:
        while request := await read_request(reader):
            wire = Wire(writer)
            await self._answer(request, wire, connection.gone)
            if not wire.reusable:
                return

    async def _answer(self, request: Request, wire: Wire, gone: asyncio.Event) -> None:
        self.requests.append(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        playing = asyncio.create_task(self._behaviour(request).play(request, wire))
        leaving = asyncio.create_task(gone.wait())
        try:
            await asyncio.wait([playing, leaving], return_when=asyncio.FIRST_COMPLETED)
            if not playing.done() or isinstance(playing.exception(), ConnectionError):
                request.hung_up.set()
        finally:
            self.running -= 1
            request.done.set()
            await _ended(leaving)
            await _ended(playing)

    def _behaviour(self, request: Request) -> Behaviour:
        if self._key and request.headers.get("authorization") != f"Bearer {self._key}":
            return Fails(401, message="Incorrect API key provided.", code="invalid_api_key")
        if request.method != "POST" or request.path not in _CHECKS:
            return Fails(404, message=f"Invalid URL ({request.method} {request.path})")
        if reason := refused(request):
            return Fails(400, message=reason)
        try:
            return self._queue.popleft() if self._queue else self.respond(request)
        except Exception as defect:  # noqa: BLE001 - of the test; raised at the end, so that it is seen
            self._defects.append(defect)
            return Fails(500, message="The fake itself is broken.")


async def _ended(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, ConnectionError):
        await task


def _by_default(request: Request) -> Behaviour:
    return Fails(400, message="Nobody told the fake what to say.") if request.is_chat else Vectors()


def refused(request: Request) -> str | None:
    """Why OpenAI's server would answer 400, if it would."""
    body = request.body
    if not isinstance(body, dict) or not isinstance(body.get("model"), str) or not body["model"]:
        return "you must provide a model parameter"
    return _CHECKS[request.path](body)


def _refused_chat(body: dict[str, Any]) -> str | None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "'messages' must be a list that is not empty"
    roles = ("system", "user", "assistant")
    if not all(one.get("role") in roles and isinstance(one.get("content"), str) for one in messages):
        return "a message needs a role and content"
    if body.get("stream"):
        return "the fake does not stream"
    return _refused_format(body.get("response_format", {"type": "text"}), messages)


def _refused_format(wanted: dict[str, Any], messages: list[dict[str, str]]) -> str | None:
    if wanted.get("type") not in FORMATS:
        return "Invalid value: 'response_format.type'"
    if wanted["type"] == "json_object" and not any("json" in one["content"].lower() for one in messages):
        return "'messages' must contain the word 'json' in some form, to use 'response_format' 'json_object'."
    if wanted["type"] == "json_schema":
        schema = wanted.get("json_schema", {})
        if not schema.get("name") or not isinstance(schema.get("schema"), dict):
            return "Missing required parameter: 'response_format.json_schema'."
        return _refused_schema(schema["schema"]) if schema.get("strict") else None
    return None


def _refused_schema(schema: Any) -> str | None:
    """Why a schema cannot be enforced strictly: objects require all their properties and allow no other."""
    if isinstance(schema, list):
        return next(filter(None, map(_refused_schema, schema)), None)
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return "Invalid schema: 'additionalProperties' is required to be supplied and to be false."
        if set(schema.get("required", ())) != set(schema.get("properties", ())):
            return "Invalid schema: 'required' must include every key in properties."
    return next(filter(None, map(_refused_schema, schema.values())), None)


def _refused_embeddings(body: dict[str, Any]) -> str | None:
    texts = body.get("input")
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not 1 <= len(texts) <= MAX_INPUTS:
        return f"'input' must hold 1 to {MAX_INPUTS} texts"
    if not all(isinstance(text, str) and text for text in texts):
        return "'$.input' is invalid."
    return None


_CHECKS: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "/v1/chat/completions": _refused_chat,
    "/v1/embeddings": _refused_embeddings,
}
