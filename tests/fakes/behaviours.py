"""What a model server may do with a request: answer well, answer badly, or break."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import math
import random
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Protocol

from tests.fakes.wire import Request, Wire, head

JSON = {"content-type": "application/json"}


class Behaviour(Protocol):
    """One way to treat a request."""

    async def play(self, request: Request, wire: Wire) -> None: ...


@dataclass(frozen=True)
class Says:
    """A chat completion with this content; None is JSON's null, as when the model calls for nothing."""

    text: str | None
    finish_reason: str = "stop"
    refusal: str | None = None
    usage: Mapping[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7}
    )

    async def play(self, request: Request, wire: Wire) -> None:
        await wire.respond(200, self.body(request), JSON)

    def body(self, request: Request) -> bytes:
        message = {"role": "assistant", "content": self.text, "refusal": self.refusal}
        usage = self.usage and {**self.usage, "total_tokens": sum(self.usage.values())}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason, "logprobs": None}
        completion = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request.body.get("model", ""),
            "choices": [choice],
            "usage": usage,
        }
        return json.dumps(completion).encode()


@dataclass(frozen=True)
class Vectors:
    """Embeddings of the input: unit vectors of hashed words, so that texts with the same words are near."""

    dimensions: int | None = None
    """Instead of what was asked for."""
    shuffled: bool = True
    """Whether `data` comes in another order than the input, as `index` allows."""
    missing: int = 0
    """Vectors left out."""

    async def play(self, request: Request, wire: Wire) -> None:
        texts = request.body["input"]
        texts = [texts] if isinstance(texts, str) else texts
        size = self.dimensions or request.body.get("dimensions") or 1536
        plain = request.body.get("encoding_format", "float") == "float"
        data = [
            {"object": "embedding", "index": index, "embedding": vector if plain else _base64(vector)}
            for index, vector in enumerate(embedding(text, size) for text in texts)
        ]
        if self.shuffled:
            random.Random(len(data)).shuffle(data)
        words = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": words, "total_tokens": words}
        body = {
            "object": "list",
            "data": data[self.missing :],
            "model": request.body["model"],
            "usage": usage,
        }
        await wire.respond(200, json.dumps(body).encode(), JSON)


def embedding(text: str, dimensions: int) -> list[float]:
    """A unit vector of the words of a text, the same in every process."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or ["nothing"]:
        digest = hashlib.sha256(word.encode()).digest()
        vector[int.from_bytes(digest[:4]) % dimensions] += 1.0 if digest[4] % 2 else -1.0
    norm = math.sqrt(sum(value * value for value in vector))
    return [value / norm for value in vector] if norm else [1.0, *vector[1:]]


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


@dataclass(frozen=True)
class Fails:
    """An error of the protocol. `retry_after` is in seconds; a `timedelta` is sent as a date."""

    status: int
    retry_after: float | timedelta | None = None
    message: str = "The fake model server was told to fail."
    code: str | None = None

    async def play(self, request: Request, wire: Wire) -> None:
        headers = dict(JSON)
        if isinstance(self.retry_after, timedelta):
            headers["retry-after"] = format_datetime(datetime.now(UTC) + self.retry_after, usegmt=True)
        elif self.retry_after is not None:
            headers["retry-after"] = f"{self.retry_after:g}"
        error = {"message": self.message, "type": "fake_error", "param": None, "code": self.code}
        await wire.respond(self.status, json.dumps({"error": error}).encode(), headers)


@dataclass(frozen=True)
class Raw:
    """These bytes as the body, whatever was asked; `content_length` may lie."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    content_length: int | None = None

    async def play(self, request: Request, wire: Wire) -> None:
        if self.content_length is None:
            await wire.respond(self.status, self.body, {"content-type": self.content_type})
            return
        # Without "close" a client might send its next request before it sees the end of the connection.
        headers = {"content-type": self.content_type, "connection": "close"}
        await wire.send(
            head(self.status, {**headers, "content-length": f"{self.content_length}"}) + self.body
        )


HTML = Raw(b"<!doctype html><html><body>Please log in.</body></html>", content_type="text/html")
NOT_UTF8 = Raw(b'{"choices": [{"message": {"content": "\xff\xfe\xc3"}}]}')
NO_JSON = Raw(b'{"choices": [')
NO_CHOICES = Raw(b'{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []}')
WRONG_SHAPE = Raw(b'{"choices": {"message": 5}, "data": 3}')
TOO_SHORT = Raw(b'{"choices": []}', content_length=4_096)
"""Promises more than it sends."""
TOO_LONG = Raw(b'{"choices": [], "padding": "' + b"x" * 64 + b'"}', content_length=12)
"""Sends more than it promised."""
NO_BODY = Raw(b"")


@dataclass(frozen=True)
class Hangs:
    """Takes the request and never says a word."""

    async def play(self, request: Request, wire: Wire) -> None:
        await asyncio.Event().wait()


@dataclass(frozen=True)
class Slowly:
    """The first byte comes late, then all is well."""

    then: Behaviour
    seconds: float

    async def play(self, request: Request, wire: Wire) -> None:
        await asyncio.sleep(self.seconds)
        await self.then.play(request, wire)


@dataclass(frozen=True)
class Waits:
    """As `Slowly`, until a test lets it go on."""

    then: Behaviour
    until: asyncio.Event

    async def play(self, request: Request, wire: Wire) -> None:
        await self.until.wait()
        await self.then.play(request, wire)


@dataclass(frozen=True)
class Trickles:
    """A good completion, a byte at a time with a pause after each: never silent, never done."""

    then: Says
    pause_seconds: float = 0.05

    async def play(self, request: Request, wire: Wire) -> None:
        body = self.then.body(request)
        await wire.send(head(200, {**JSON, "content-length": str(len(body))}))
        for at in range(len(body)):
            await wire.send(body[at : at + 1])
            await asyncio.sleep(self.pause_seconds)


@dataclass(frozen=True)
class Resets:
    """Ends the connection with RST, after `sent_bytes` of a completion's body when `within` is given."""

    within: Says | None = None
    sent_bytes: int = 40

    async def play(self, request: Request, wire: Wire) -> None:
        if self.within:
            body = self.within.body(request)
            await wire.send(head(200, {**JSON, "content-length": str(len(body))}) + body[: self.sent_bytes])
        await wire.reset()


@dataclass(frozen=True)
class Closes:
    """Ends the connection without a word."""

    async def play(self, request: Request, wire: Wire) -> None:
        return


@dataclass(frozen=True)
class Junk:
    """A body without an end."""

    piece: bytes = b'{"choices": [{"message": {"content": "' + b"junk " * 12_000

    async def play(self, request: Request, wire: Wire) -> None:
        await wire.send(head(200, JSON))
        while True:
            await wire.send(self.piece)


def json_reply(value: Any) -> Says:
    """The JSON of a value, and nothing else."""
    return Says(json.dumps(value))


def fenced(value: Any) -> Says:
    """JSON in a fenced block."""
    return Says(f"```json\n{json.dumps(value, indent=1)}\n```")


def commented(value: Any) -> Says:
    """JSON between sentences."""
    return Says(f"Certainly! Here is the result:\n{json.dumps(value)}\nLet me know if you need more.")


def cut_off(value: Any, share: float = 0.6) -> Says:
    """JSON that ends too early because the reply was too long."""
    text = json.dumps(value)
    return Says(text[: int(len(text) * share)], finish_reason="length")


EMPTY = Says("")
NULL = Says(None)
DECLINES = Says(None, refusal="I cannot help with that.")
FILTERED = Says("", finish_reason="content_filter")
