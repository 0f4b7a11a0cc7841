"""The one way to ask a model for structure: ask, parse, check, repair once, or fail with a type.

Strategies: A asks in the prompt alone, B has the server return a JSON object (the default), C gives it the
schema. All replies go the same way: fences off, JSON, the reply's class, the contract's own rules. A reply
that fails gets one repair attempt that carries the errors; then a fallback model, if one is set, gets the
same; then the call is `ContractFailed`. Nothing of a failed reply is used.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from chassis.errors import Precondition, Unavailable
from chassis.telemetry import counter, span, tracer
from inference.chat.model import (
    ChatModel,
    ChatReply,
    ChatRequest,
    JsonSchema,
    Message,
    PlainFormat,
    Role,
    TokenUsage,
)
from inference.tokens import TokenCounter
from services.answer.records.usage import Ledger

MAX_REPORTED_ERRORS = 10
MESSAGE_TOKENS = 8
"""Upper bound of what a message takes besides its words."""

_tracer = tracer(__name__)
_replies = counter(__name__, "clausegate.contract.replies", "Replies that must keep a contract.", "{reply}")
_tokens = counter(__name__, "clausegate.model.tokens", "Tokens by what they were for.", "{token}")
_cost = counter(__name__, "clausegate.model.cost", "US dollars at the prices of the settings.", "{USD}")


class ContractFailed(Unavailable):
    """The model's reply does not keep its contract, nor does the repair."""

    reason = "CONTRACT_FAILED"


class ModelNotConfigured(Precondition):
    """The task needs a chat model."""

    reason = "MODEL_NOT_CONFIGURED"


DEFAULT_DOMAIN = "licences and contracts"
"""What documents are about where nobody says."""


class Reply(BaseModel):
    """Base of what models must return. Types are strict; fields that nobody asked for are ignored."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


R = TypeVar("R", bound=Reply)


class Strategy(StrEnum):
    """How a model is made to return JSON."""

    PROMPT = "prompt"
    JSON_OBJECT = "json_object"
    JSON_SCHEMA = "json_schema"


@dataclass(frozen=True, slots=True)
class TaskModel:
    """Which model does a task, and how it is asked."""

    model: str
    strategy: Strategy = Strategy.JSON_OBJECT
    max_tokens: int = 2048
    """Tokens of the reply at most."""
    fallback: str = ""
    """Model that is asked when this one fails its contract twice; empty for none."""
    domain: str = DEFAULT_DOMAIN
    """What the documents are about, as prompts say it."""


def read_json(text: str) -> object:
    """JSON, also within a fenced block. Raises `ValueError`."""
    try:
        return json.loads(without_fences(text))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def without_fences(text: str) -> str:
    """The inside of the only fenced block of a text, else the text."""
    lines = text.strip().splitlines()
    fences = [i for i, line in enumerate(lines) if line.lstrip().startswith("```")]
    return "\n".join(lines[fences[0] + 1 : fences[1]]) if len(fences) == 2 else text.strip()


@dataclass(frozen=True, slots=True)
class Contract(Generic[R]):
    """What a model is asked for."""

    name: str
    """The stage in usage, spans and metrics, e.g. `answer`."""
    version: str
    """Changes with prompt or class, e.g. `answer/1`."""
    reply: type[R]
    system: str
    """The system prompt, the same for every call: question and documents are in the user's message.
    `$DOMAIN` in it stands for what the documents are about, see `about`."""
    read: Callable[[str], object] = read_json
    """Turns the text of a reply into what the class validates. Raises `ValueError`."""

    def about(self, domain: str) -> str:
        """The system prompt for documents about `domain`."""
        return self.system.replace("$DOMAIN", domain)

    @property
    def sha256(self) -> str:
        """Names prompt and class together, 64 hexadecimal digits."""
        spelled = json.dumps([self.system, _schema(self.reply)], sort_keys=True)
        return hashlib.sha256(spelled.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Kept(Generic[R]):
    """A reply that keeps its contract."""

    reply: R
    model: str
    """The model that gave it: the task's own, or its fallback."""
    repaired: bool


Counters = Callable[[str], TokenCounter]
"""What counts the tokens of a model, by its name."""
Rules = Callable[[R], Sequence[str]]
"""A contract's own rules: what is wrong with a reply, one sentence each; empty when nothing is."""


class Completer:
    """Asks models for replies that keep their contracts."""

    def __init__(self, chat: ChatModel | None, tasks: Mapping[str, TaskModel], counters: Counters) -> None:
        """`chat` is None when no model is configured; `tasks` names the model of each contract."""
        self._chat = chat
        self._tasks = tasks
        self._counters = counters
        self._system_tokens: dict[str, int] = {}
        """Tokens of each contract's system prompt, which is the same for every call."""

    @property
    def configured(self) -> bool:
        """Whether there is a model to ask."""
        return self._chat is not None

    def task(self, contract: Contract[R]) -> TaskModel:
        """The model that a contract is asked of."""
        return self._tasks[contract.name]

    def require(self, contract: Contract[R]) -> ChatModel:
        """The model server, for work that makes no sense without. Raises `ModelNotConfigured`."""
        if self._chat is None:
            raise ModelNotConfigured(
                f"The task `{contract.name}` needs a chat model: set OPENAI_API_KEY, or OPENAI_BASE_URL"
                " for a compatible server."
            )
        return self._chat

    def prompt_tokens(self, contract: Contract[R], prompt: str) -> int:
        """Tokens that a call with this user's message sends, as the model counts them or as estimated."""
        tokens = self._counters(self.task(contract).model)
        if contract.name not in self._system_tokens:
            self._system_tokens[contract.name] = tokens.count(contract.about(self.task(contract).domain))
        return self._system_tokens[contract.name] + tokens.count(prompt) + 2 * MESSAGE_TOKENS

    async def ask(self, contract: Contract[R], prompt: str, rules: Rules[R], ledger: Ledger) -> Kept[R]:
        """A reply that keeps the contract and its rules.

        Raises `ModelNotConfigured`, `ContractFailed`, `BudgetExceeded` and what `ChatModel.complete` raises.
        """
        task = self.task(contract)
        for model in (task.model, task.fallback) if task.fallback else (task.model,):
            kept = await self._ask_model(_Call(contract, prompt, rules, ledger, model, task))
            if kept:
                return kept
        raise ContractFailed(f"The model's reply does not keep the contract {contract.version}.")

    async def _ask_model(self, call: _Call[R]) -> Kept[R] | None:
        with span(_tracer, f"contract {call.contract.name}", _described(call)) as current:
            repaired, messages = False, call.messages()
            reply = await self._complete(call, messages, repair=False)
            # In a thread: rules may read long texts, and others are waiting.
            read = await asyncio.to_thread(_read, call, reply)
            if isinstance(read, _Broken):
                repaired = True
                reply = await self._complete(call, (*messages, *_repair(reply, read)), repair=True)
                read = await asyncio.to_thread(_read, call, reply)
            kept = None if isinstance(read, _Broken) else Kept(read, call.model, repaired)
            outcome = "failed" if kept is None else "repaired" if repaired else "kept"
            current.set_attribute("clausegate.contract.outcome", outcome)
            _replies.add(1, _counted(call) | {"clausegate.contract.outcome": outcome})
        return kept

    async def _complete(self, call: _Call[R], messages: tuple[Message, ...], *, repair: bool) -> ChatReply:
        chat = self.require(call.contract)
        # Counting takes a millisecond a prompt: only a limit, or a server that says nothing, asks for it.
        most = (
            TokenUsage(self._sent(call.model, messages), call.task.max_tokens)
            if call.ledger.limited
            else TokenUsage()
        )
        reserved = call.ledger.reserve(call.model, most)
        try:
            reply = await chat.complete(call.request(messages))
        finally:
            call.ledger.release(reserved)
        # A server that does not say what a call took is not free of charge.
        told = reply.usage.prompt_tokens and (reply.usage.completion_tokens or not reply.text)
        used = reply.usage if told else self._counted(call.model, messages, reply.text)
        cost = call.ledger.record(call.contract.name, call.model, used, repair=repair)
        _tokens.add(used.prompt_tokens, _counted(call) | {"gen_ai.token.type": "input"})
        _tokens.add(used.completion_tokens, _counted(call) | {"gen_ai.token.type": "output"})
        _cost.add(cost, _counted(call))
        return reply

    def _sent(self, model: str, messages: tuple[Message, ...]) -> int:
        tokens = self._counters(model)
        return sum(tokens.count(message.content) + MESSAGE_TOKENS for message in messages)

    def _counted(self, model: str, messages: tuple[Message, ...], reply: str) -> TokenUsage:
        return TokenUsage(self._sent(model, messages), self._counters(model).count(reply))


@dataclass(frozen=True, slots=True)
class _Call(Generic[R]):
    contract: Contract[R]
    prompt: str
    rules: Rules[R]
    ledger: Ledger
    model: str
    task: TaskModel

    def messages(self) -> tuple[Message, ...]:
        return (Message(Role.SYSTEM, self.contract.about(self.task.domain)), Message(Role.USER, self.prompt))

    def request(self, messages: tuple[Message, ...]) -> ChatRequest:
        return ChatRequest(self.model, messages, self.task.max_tokens, self._format())

    def _format(self) -> PlainFormat | JsonSchema:
        match self.task.strategy:
            case Strategy.PROMPT:
                return PlainFormat.TEXT
            case Strategy.JSON_OBJECT:
                return PlainFormat.JSON_OBJECT
            case Strategy.JSON_SCHEMA:
                return JsonSchema(self.contract.name, _schema(self.contract.reply))


@cache
def _schema(reply: type[Reply]) -> dict[str, Any]:
    """The schema of a class, made once: it takes milliseconds."""
    return reply.model_json_schema()


@dataclass(frozen=True, slots=True)
class _Broken:
    """What is wrong with a reply, one sentence each."""

    errors: tuple[str, ...]


def _read(call: _Call[R], reply: ChatReply) -> R | _Broken:
    """The reply's value, or what is wrong with it."""
    if reply.finish_reason == "length":
        return _Broken((f"The reply was cut off at {call.task.max_tokens} tokens; be shorter.",))
    try:
        said = call.contract.read(reply.text)
        # JSON can escape half of a surrogate pair, which no message on the wire can hold; a `ValueError`.
        json.dumps(said, ensure_ascii=False).encode()
        value = call.contract.reply.model_validate(said, extra="ignore")
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:MAX_REPORTED_ERRORS]
        return _Broken(
            tuple(f"{'.'.join(map(str, fault['loc'])) or 'reply'}: {fault['msg']}" for fault in found)
        )
    except ValueError as error:
        return _Broken((f"The reply is not JSON: {error}.",))
    errors = tuple(call.rules(value))[:MAX_REPORTED_ERRORS]
    return _Broken(errors) if errors else value


def _repair(reply: ChatReply, broken: _Broken) -> tuple[Message, ...]:
    """The turns that ask for the reply again; what was wrong with it is all that is said of it."""
    listed = "\n".join(f"- {error}" for error in broken.errors)
    request = (
        f"Your reply cannot be used:\n{listed}\n"
        "Reply again: one JSON value that keeps the contract, and nothing else."
    )
    said = (Message(Role.ASSISTANT, reply.text),) if reply.text else ()
    return (*said, Message(Role.USER, request))


def _counted(call: _Call[R]) -> dict[str, str]:
    return {"clausegate.contract": call.contract.name, "gen_ai.request.model": call.model}


def _described(call: _Call[R]) -> dict[str, str]:
    return _counted(call) | {
        "clausegate.prompt_version": call.contract.version,
        "clausegate.strategy": call.task.strategy.value,
    }
