"""HTTP/1.1 by hand, as far as a model server needs it: one that is to misbehave must own its bytes."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import responses
from typing import Any

MAX_BODY_BYTES = 64 << 20


@dataclass(eq=False)
class Request:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: Any
    """The parsed JSON; None when it is none."""
    at: float = field(default_factory=time.monotonic)
    """When it had come in, in seconds of the monotonic clock."""
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client went away before it had the whole response."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server is finished with it, whichever way."""

    @property
    def is_chat(self) -> bool:
        return self.path == "/v1/chat/completions"

    @property
    def messages(self) -> list[dict[str, str]]:
        return self.body["messages"]

    @property
    def system(self) -> str:
        """The system prompt."""
        return "".join(one["content"] for one in self.messages if one["role"] == "system")

    @property
    def prompt(self) -> str:
        """The first message of the user: a repair asks in a later one."""
        return next(one["content"] for one in self.messages if one["role"] == "user")

    @property
    def is_repair(self) -> bool:
        """Whether it asks to mend an earlier reply."""
        return len([one for one in self.messages if one["role"] == "user"]) > 1


class Connection(asyncio.StreamReaderProtocol):
    """A client's connection that knows when the client has left, also while nothing is read."""

    def __init__(self, serve: Any) -> None:
        super().__init__(asyncio.StreamReader(limit=1 << 20), serve)
        self.gone = asyncio.Event()

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class Wire:
    """The way back to the client."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.reusable = False
        """Whether another request may follow on the connection."""

    async def respond(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """A whole and honest response."""
        await self.send(head(status, {**headers, "content-length": str(len(body))}) + body)
        self.reusable = True

    async def send(self, data: bytes) -> None:
        """Bytes as they are. Raises `ConnectionError` when the client is gone."""
        self._writer.write(data)
        await self._writer.drain()

    async def reset(self) -> None:
        """End the connection with RST instead of FIN; what was sent before arrives first."""
        plain: socket.socket = self._writer.get_extra_info("socket")
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """Status line and headers. A status that HTTP does not name, such as 529, has no phrase."""
    lines = [f"HTTP/1.1 {status} {responses.get(status, '')}", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request; None when the client has no more."""
    try:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    method, path, _ = lines[0].split(" ")
    headers = {
        k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:] if line)
    }
    length = int(headers.get("content-length", "0"))
    assert length <= MAX_BODY_BYTES, "a request beyond what a test would send"
    try:
        body = json.loads(await reader.readexactly(length) or b"null")
    except ValueError:
        body = None
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return Request(method, path, headers, body)
