"""What answering a question would send to models at most, told without sending any of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from corpus.chunks import Chunk
from inference.chat.model import TokenUsage
from inference.tokens import TokenCounter
from services.answer.answers import StageEstimate
from services.answer.context import CODE_TOKENS, SAMPLE_CODE, lay_out
from services.answer.contracts import answer, grade
from services.answer.contracts.completion import Completer, Contract, Reply
from services.answer.corpus import ResolvedDefinition
from services.answer.evidence.grading import Grading
from services.answer.evidence.policy import Policy
from services.answer.query import answering
from services.answer.query.defining import MAX_DEFINITIONS, as_chunk, explains
from services.answer.query.model_grading import Pool
from services.answer.records.usage import Ledger

R = TypeVar("R", bound=Reply)


def by_stage(estimates: Sequence[StageEstimate]) -> tuple[StageEstimate, ...]:
    """What stages send in all documents together, each stage once, in order of first appearance."""
    totals: dict[str, StageEstimate] = {}
    for estimate in estimates:
        before = totals.get(estimate.stage)
        totals[estimate.stage] = estimate if before is None else _sum(before, estimate)
    return tuple(totals.values())


def _sum(left: StageEstimate, right: StageEstimate) -> StageEstimate:
    return replace(
        left,
        prompt_tokens=left.prompt_tokens + right.prompt_tokens,
        max_completion_tokens=left.max_completion_tokens + right.max_completion_tokens,
        max_cost_usd=left.max_cost_usd + right.max_cost_usd,
    )


class Estimates:
    """Estimates the stages of one question."""

    def __init__(self, completer: Completer, counter: TokenCounter, policy: Policy, ledger: Ledger) -> None:
        self._completer = completer
        self._counter = counter
        self._policy = policy
        self._ledger = ledger

    def grading(self, pool: Pool) -> StageEstimate:
        """Grading the chunks; what is sent is known but for the random codes."""
        pools = pool.each() if self._policy.grading is Grading.EACH else [pool]
        prompts = [part.prompt(SAMPLE_CODE) for part in pools]
        sent = sum(self._completer.prompt_tokens(grade.CONTRACT, prompt) + CODE_TOKENS for prompt in prompts)
        return self._stage(grade.CONTRACT, sent, len(prompts))

    def answer(self, pool: Pool, definitions: Sequence[ResolvedDefinition]) -> StageEstimate:
        """Answering from the longest of the chunks and definitions, as many of each as may be shown."""
        prompt = answering.prompt_tokens(self._completer, pool.question)
        told = [as_chunk(resolved.definition) for resolved in definitions if explains(resolved.definition)]
        shown = [*_longest(pool.chunks, self._policy.keep_at_most), *_longest(told, MAX_DEFINITIONS)]
        material = self._counter.count(lay_out(shown, SAMPLE_CODE, pool.cards).text)
        return self._stage(answer.CONTRACT, prompt + min(material, self._policy.budget.for_chunks(prompt)), 1)

    def _stage(self, contract: Contract[R], prompt_tokens: int, calls: int) -> StageEstimate:
        task = self._completer.task(contract)
        usage = TokenUsage(prompt_tokens, task.max_tokens * calls)
        cost = self._ledger.most(task.model, usage)
        priced = task.model in self._ledger.prices
        return StageEstimate(contract.name, task.model, prompt_tokens, usage.completion_tokens, cost, priced)


def _longest(chunks: Sequence[Chunk], at_most: int) -> list[Chunk]:
    return sorted(chunks, key=lambda chunk: -len(chunk.text))[:at_most]
