"""What a service asks of a chat model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

MAX_TOKENS_COUNTED = 10_000_000
"""Of one call; more is no count. Two hundred calls still fit the 32 bits that usage has on the wire."""


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of what a model is shown."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """A reply that keeps this schema, which the model server enforces."""

    name: str
    """Letters, digits, `_` and `-`."""
    schema: Mapping[str, object]
    """Every property required, none besides: what strict schemas ask for."""


class PlainFormat(StrEnum):
    """Formats of a reply that need no schema."""

    TEXT = "text"
    JSON_OBJECT = "json_object"


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call."""

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    """Tokens of the reply at most."""
    reply_format: PlainFormat | JsonSchema = PlainFormat.TEXT
    temperature: float = 0.0
    seed: int = 0
    """Sent with every call: the same question is to get the same reply where the server can do that."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What the server says a call took; 0 where it says nothing."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model said."""

    text: str
    """Empty when it said nothing, or refused."""
    usage: TokenUsage
    finish_reason: str
    """`stop`, `length` when cut off at `max_tokens`, or what else the server says."""


class ChatModel(Protocol):
    """Asks a model; implemented by a client of a server, and by recordings."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One reply.

        Raises `ModelServerUnavailable` (UNAVAILABLE), `ModelRateLimited` and `ModelQueueFull`
        (RESOURCE_EXHAUSTED), and `ModelRejected` (FAILED_PRECONDITION); never after the caller's deadline.
        """
        ...
