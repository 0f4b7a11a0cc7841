"""Chat models of an OpenAI-compatible server."""

from __future__ import annotations

import json
import re

from opentelemetry.trace import Span, SpanKind

from chassis.telemetry import span, tracer
from inference.chat.model import MAX_TOKENS_COUNTED, ChatReply, ChatRequest, JsonSchema, TokenUsage
from inference.errors import ModelServerUnavailable
from inference.measuring import Call
from inference.retries import FIRST_PAUSE_SECONDS
from inference.settings import ModelServerSettings
from inference.texts import encodable
from inference.transport import ModelServer, model_queue

_REASONING_MODEL = re.compile(r"(^|/)(o\d|gpt-5)")
"""Models of OpenAI that refuse `max_tokens` and any temperature but their own."""

_tracer = tracer(__name__)


class OpenAIChat:
    """A `ChatModel`."""

    def __init__(self, server: ModelServer, settings: ModelServerSettings) -> None:
        """The server is closed by whoever opened it."""
        self._server = server
        self._queue = model_queue("chat", settings)
        self._text_in_spans = settings.model_text_in_spans

    async def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatModel.complete`."""
        call = Call("chat", request.model, self._server.host)
        with call.timed(), span(_tracer, f"chat {request.model}", call.attributes, SpanKind.CLIENT) as chat:
            self._describe(chat, request)
            reply = _read(await self._server.post("/chat/completions", _body(request), self._queue))
            call.used("input", reply.usage.prompt_tokens)
            call.used("output", reply.usage.completion_tokens)
            chat.set_attributes(
                {
                    "gen_ai.usage.input_tokens": reply.usage.prompt_tokens,
                    "gen_ai.usage.output_tokens": reply.usage.completion_tokens,
                    "gen_ai.response.finish_reasons": [reply.finish_reason],
                }
            )
            if self._text_in_spans:
                said = _message("assistant", reply.text) | {"finish_reason": reply.finish_reason}
                chat.set_attribute("gen_ai.output.messages", json.dumps([said], ensure_ascii=False))
        return reply

    def _describe(self, chat: Span, request: ChatRequest) -> None:
        chat.set_attribute("gen_ai.request.max_tokens", request.max_tokens)
        if self._text_in_spans:
            shown = [_message(message.role.value, message.content) for message in request.messages]
            chat.set_attribute("gen_ai.input.messages", json.dumps(shown, ensure_ascii=False))


def _message(role: str, text: str) -> dict[str, object]:
    """A message as OpenTelemetry's conventions spell it."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _body(request: ChatRequest) -> dict[str, object]:
    body: dict[str, object] = {
        "model": request.model,
        "messages": [
            {"role": message.role.value, "content": message.content} for message in request.messages
        ],
        "seed": request.seed,
        "response_format": _format(request),
    }
    if _REASONING_MODEL.search(request.model):
        return body | {"max_completion_tokens": request.max_tokens}
    # The older name of the limit: every compatible server knows it, the newer one only some.
    return body | {"max_tokens": request.max_tokens, "temperature": request.temperature}


def _format(request: ChatRequest) -> dict[str, object]:
    wanted = request.reply_format
    if not isinstance(wanted, JsonSchema):
        return {"type": wanted.value}
    schema = {"name": wanted.name, "schema": wanted.schema, "strict": True}
    return {"type": "json_schema", "json_schema": schema}


def _read(body: bytes) -> ChatReply:
    """The reply in a body. Raises `ModelServerUnavailable` for anything that is no completion."""
    try:
        completion = json.loads(body)
        choice = completion["choices"][0]
        content = choice["message"].get("content")
        finish_reason, usage = choice.get("finish_reason"), completion.get("usage")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise _no_completion() from None
    if not isinstance(content, str | None):
        raise _no_completion()
    finish_reason = finish_reason if isinstance(finish_reason, str) else ""
    return ChatReply(encodable(content or ""), _usage(usage), encodable(finish_reason)[:40])


def _no_completion() -> ModelServerUnavailable:
    message = "The model server answered something that is no chat completion: check OPENAI_BASE_URL."
    return ModelServerUnavailable(message, retry_after_seconds=FIRST_PAUSE_SECONDS)


def _usage(usage: object) -> TokenUsage:
    if not isinstance(usage, dict):
        return TokenUsage()
    return TokenUsage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value <= MAX_TOKENS_COUNTED else 0
