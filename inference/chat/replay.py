"""Chat calls recorded to a file, and played back from it without any server.

A recording holds the replies, and so document text; of the requests it holds digests only.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from chassis.errors import ServiceError
from inference.chat.model import MAX_TOKENS_COUNTED, ChatModel, ChatReply, ChatRequest, TokenUsage
from inference.errors import ModelQueueFull, ModelRateLimited, ModelRejected, ModelServerUnavailable
from inference.recording import Entry, Recorder, Recording
from inference.retries import LONGEST_TOLD_SECONDS
from inference.texts import encodable

KIND = "chat"
_ERRORS = {
    error.__name__: error
    for error in (ModelServerUnavailable, ModelRateLimited, ModelQueueFull, ModelRejected)
}


class RecordingChat:
    """A `ChatModel` that writes down what another one says. Calls that are cancelled leave nothing."""

    def __init__(self, chat: ChatModel, recorder: Recorder) -> None:
        self._chat = chat
        self._recorder = recorder

    async def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatModel.complete`."""
        try:
            reply = await self._chat.complete(request)
        except ServiceError as error:
            self._write(request, {"error": _spelled(error)})
            raise
        self._write(request, {"reply": asdict(reply)})
        return reply

    def _write(self, request: ChatRequest, outcome: Entry) -> None:
        self._recorder.write(KIND, digest(request), {"model": request.model, "seed": request.seed, **outcome})


class ReplayedChat:
    """A `ChatModel` that says what was recorded, to the same requests."""

    def __init__(self, recording: Recording) -> None:
        """Raises `ReplayDiverged` for a broken recording."""
        self._outcomes = recording.track(KIND, _outcome)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatModel.complete`. Raises `ReplayDiverged` for a request that was not recorded."""
        outcome = self._outcomes.next(digest(request))
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome


def digest(request: ChatRequest) -> str:
    """SHA-256 of everything in a request, 64 hexadecimal digits."""
    return hashlib.sha256(json.dumps(asdict(request), sort_keys=True).encode()).hexdigest()


def _spelled(error: ServiceError) -> Entry:
    return {
        "type": type(error).__name__,
        "message": error.message,
        "retry_after_seconds": error.retry_after_seconds,
    }


def _outcome(entry: Entry) -> ChatReply | ServiceError:
    match entry:
        case {"error": {"type": str(name), "message": str(message), "retry_after_seconds": wait}}:
            return _ERRORS[name](message, retry_after_seconds=None if wait is None else _seconds(wait))
        case {
            "reply": {
                "text": str(text),
                "usage": {"prompt_tokens": int(prompt), "completion_tokens": int(completion)},
                "finish_reason": str(finish_reason),
            }
        }:
            return ChatReply(encodable(text), TokenUsage(_count(prompt), _count(completion)), finish_reason)
        case _:
            raise ValueError("neither a reply nor an error")


def _count(tokens: int) -> int:
    if not 0 <= tokens <= MAX_TOKENS_COUNTED:
        raise ValueError("no number of tokens")
    return tokens


def _seconds(wait: object) -> float:
    if not isinstance(wait, int | float) or not 0 <= wait <= LONGEST_TOLD_SECONDS:
        raise TypeError("no number of seconds")
    return float(wait)
