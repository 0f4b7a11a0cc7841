"""Has a chat model say what the kept passages say; `stating` decides what of it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus.chunks import Chunk
from services.answer.context import CODE_TOKENS, SAMPLE_CODE, enclose, lay_out
from services.answer.contracts import answer
from services.answer.contracts.completion import Completer
from services.answer.query.stating import Claim, claims_of
from services.answer.records.tasks import Task


@dataclass(frozen=True, slots=True)
class Reply:
    """What the answer model says."""

    claims: tuple[Claim, ...] | None
    """None when the model finds no answer in what it was shown."""
    model: str


def prompt_tokens(completer: Completer, question: str) -> int:
    """Tokens of a call besides the chunks that it shows, never knowingly too few."""
    asked = answer.prompt(question, enclose("", SAMPLE_CODE))
    return completer.prompt_tokens(answer.CONTRACT, asked) + CODE_TOKENS


async def ask(completer: Completer, task: Task, question: str, chunks: Sequence[Chunk]) -> Reply:
    """The claims of the answer model about chunks, in this order. Raises what `Completer.ask` raises."""
    material = lay_out(chunks, task.clock.new_code())
    asked = answer.prompt(question, material.text)
    kept = await completer.ask(answer.CONTRACT, asked, answer.broken_rules, task.ledger)
    claims = claims_of(kept.reply, material.handles) if kept.reply.addressed else None
    return Reply(claims, kept.model)
