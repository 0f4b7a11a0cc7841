"""Has a chat model choose quotes of the kept passages; `stating` decides what of them leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpus.chunks import Chunk
from services.answer.context import CODE_TOKENS, SAMPLE_CODE, enclose, lay_out
from services.answer.contracts import answer
from services.answer.contracts.answer import GivenSentence
from services.answer.contracts.completion import Completer
from services.answer.query.stating import quotes_of
from services.answer.records.tasks import Task
from services.answer.verification.citing import Quote


@dataclass(frozen=True, slots=True)
class Asked:
    """What the answer model is asked for."""

    question: str
    summary: bool = True
    """Whether it may word the answer in short."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the answer model says."""

    addressed: bool
    """Whether it finds an answer in what it was shown."""
    quotes: tuple[Quote | None, ...]
    """What answers; None for a quote that names no passage."""
    summary: tuple[GivenSentence, ...]
    model: str


def prompt_tokens(completer: Completer, question: str) -> int:
    """Tokens of a call besides the chunks that it shows, never knowingly too few."""
    asked = answer.prompt(question, enclose("", SAMPLE_CODE), summary=False)
    return completer.prompt_tokens(answer.CONTRACT, asked) + CODE_TOKENS


async def ask(
    completer: Completer, task: Task, asked: Asked, chunks: Sequence[Chunk], cards: Mapping[str, str]
) -> Reply:
    """The quotes of the answer model from chunks, below these cards. Raises what `Completer.ask` raises."""
    material = lay_out(chunks, task.clock.new_code(), cards)
    prompt = answer.prompt(asked.question, material.text, summary=asked.summary)
    kept = await completer.ask(answer.CONTRACT, prompt, answer.broken_rules, task.ledger)
    quotes = quotes_of(kept.reply.quotes, material.handles)
    summary = tuple(kept.reply.summary) if asked.summary else ()
    return Reply(kept.reply.addressed, quotes, summary, kept.model)
