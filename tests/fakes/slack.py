"""Slack on loopback: signs slash commands as Slack does, and takes what is posted to their response URLs.

It refuses messages that Slack refuses (`refused`), and more than five for one command.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Self
from urllib.parse import urlencode

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
MAX_BLOCKS = 50
MAX_ITEM_CHARACTERS = 3_000
MAX_CHARACTERS = 13_202
MAX_POSTS = 5
PATIENCE_SECONDS = 20.0


@dataclass(frozen=True)
class Reply:
    """What Slack says to a post."""

    status: int = 200
    body: str = "ok"
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False
    """Never to answer."""
    reset: bool = False
    """Close the connection instead of answering."""


HANG = Reply(hang=True)
RESET = Reply(reset=True)


@dataclass(frozen=True)
class Post:
    """What came in at a response URL."""

    path: str
    message: dict[str, Any]


class Slack:
    """Serves while it is entered. What it says to a post: the first of `replies` that is left, else `ok`."""

    def __init__(self, secret: str = SECRET) -> None:
        self.secret = secret
        self.replies: deque[Reply] = deque()
        self.posts: list[Post] = []
        """Everything that came in, what was refused among it."""
        self.accepted: list[Post] = []
        self._numbers = count(1)
        self._arrived = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def origin(self) -> str:
        """What response URLs begin with."""
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def command(self, text: str, **fields: str) -> dict[str, str]:
        """The form of a command, each with a response URL and a trigger of its own."""
        number = next(self._numbers)
        return {
            "token": "gIkuvaNzQIHg97ATvDxqgjtO",
            "team_id": "T0ACME",
            "team_domain": "acme",
            "channel_id": "C0LEGAL",
            "channel_name": "legal",
            "user_id": "U0ANNA",
            "user_name": "anna",
            "command": "/clausegate",
            "text": text,
            "response_url": f"{self.origin}/commands/T0ACME/{number}/secret",
            "trigger_id": f"{number}.98315602.1f3e",
            "api_app_id": "A0CLAUSE",
            **fields,
        }

    def signed(self, form: Mapping[str, str] | bytes, at: float | None = None) -> dict[str, Any]:
        """A request as keyword arguments of an HTTP client, signed now or at `at`."""
        body = form if isinstance(form, bytes) else urlencode(form).encode()
        timestamp = str(int(time.time() if at is None else at))
        digest = hmac.new(self.secret.encode(), b"v0:%b:%b" % (timestamp.encode(), body), hashlib.sha256)
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": f"v0={digest.hexdigest()}",
        }
        return {"content": body, "headers": headers}

    async def posted(self, number: int = 1) -> Post:
        """The `number`-th post that was accepted, as soon as it is. Raises `TimeoutError`."""
        await self._when(lambda: len(self.accepted) >= number)
        return self.accepted[number - 1]

    async def tried(self, number: int) -> None:
        """Return when as many posts have come in. Raises `TimeoutError`."""
        await self._when(lambda: len(self.posts) >= number)

    async def _when(self, condition) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), self._arrived:
            await self._arrived.wait_for(condition)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client, or the test, has gone
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        reply = await self._reply(method, path, headers, body)
        if reply.hang:
            await asyncio.Event().wait()
        if reply.reset:
            writer.transport.abort()
            return False
        given = {"Content-Length": str(len(reply.body.encode())), **reply.headers}
        lines = [f"HTTP/1.1 {reply.status} Said", *(f"{name}: {value}" for name, value in given.items())]
        writer.write("\r\n".join([*lines, "", reply.body]).encode())
        await writer.drain()
        return True

    async def _reply(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        if method != "POST" or not headers.get("content-type", "").startswith("application/json"):
            return Reply(404, "no_service")
        post = Post(path, json.loads(body))
        earlier = sum(each.path == path for each in self.accepted)
        async with self._arrived:
            self.posts.append(post)
            reply = self.replies.popleft() if self.replies else Reply()
            why = "used_url" if earlier >= MAX_POSTS else refused(post.message)
            if why:
                reply = Reply(404 if earlier else 400, json.dumps({"ok": False, "error": why}))
            elif reply == Reply():
                self.accepted.append(post)
            self._arrived.notify_all()
        return reply


def refused(message: Mapping[str, Any]) -> str:
    """Why Slack would not take a message; empty when it would."""
    blocks = message.get("blocks", [])
    if not message.get("text") and not blocks:
        return "no_text"
    if message.get("response_type") not in ("ephemeral", "in_channel"):
        return "invalid_response_type"
    if len(blocks) > MAX_BLOCKS:
        return "invalid_blocks"
    lengths = [_length(block) for block in blocks]
    if any(not 0 < length <= MAX_ITEM_CHARACTERS for length in lengths):
        return "invalid_blocks"
    if any(block["type"] == "header" and _length(block) > 150 for block in blocks):
        return "invalid_blocks"
    return "msg_blocks_too_long" if sum(lengths) > MAX_CHARACTERS else ""


def _length(block: Mapping[str, Any]) -> int:
    return sum(len(text.encode("utf-16-le")) // 2 for text in texts(block))


def texts(value: Any) -> list[str]:
    """Every text that is shown of a block or a message's blocks, in order."""
    if isinstance(value, list):
        return [text for each in value for text in texts(each)]
    if not isinstance(value, dict):
        return []
    own = value.get("text")
    inner = [text for name, each in value.items() if name != "text" for text in texts(each)]
    return ([own] if isinstance(own, str) else texts(own)) + inner


def shown(post: Post) -> str:
    """What a reader sees of a post, each block on lines of its own."""
    return "\n".join("".join(texts(block)) for block in post.message["blocks"])
