"""What answering a question would send to models at most, told without sending any of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from corpus.chunks import Chunk
from inference.chat.model import TokenUsage
from inference.tokens import TokenCounter
from services.answer.answers import StageEstimate
from services.answer.context import CODE_TOKENS, SAMPLE_CODE, format_entry
from services.answer.contracts import answer, grade
from services.answer.contracts.completion import Completer, Contract, Reply
from services.answer.corpus import ResolvedDefinition
from services.answer.evidence.grading import Grading
from services.answer.evidence.policy import Policy
from services.answer.query import answering, model_grading
from services.answer.query.defining import MAX_DEFINITIONS, as_chunk
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

    def grading(self, question: str, chunks: Sequence[Chunk]) -> StageEstimate:
        """Grading the chunks; what is sent is known but for the random codes."""
        pools = [[chunk] for chunk in chunks] if self._policy.grading is Grading.EACH else [chunks]
        passages = map(model_grading.passages_of, pools)
        prompts = [model_grading.prompt_of(question, shown, SAMPLE_CODE) for shown in passages]
        sent = sum(self._completer.prompt_tokens(grade.CONTRACT, prompt) + CODE_TOKENS for prompt in prompts)
        return self._stage(grade.CONTRACT, sent, len(prompts))

    def answer(
        self, question: str, chunks: Sequence[Chunk], definitions: Sequence[ResolvedDefinition]
    ) -> StageEstimate:
        """Answering from the longest of the chunks and definitions, as many of each as may be shown."""
        prompt = answering.prompt_tokens(self._completer, question)
        longest = self._longest(chunks, self._policy.keep_at_most)
        longest += self._longest([as_chunk(resolved.definition) for resolved in definitions], MAX_DEFINITIONS)
        return self._stage(answer.CONTRACT, prompt + min(longest, self._policy.budget.for_chunks(prompt)), 1)

    def _longest(self, chunks: Sequence[Chunk], at_most: int) -> int:
        costs = sorted((self._counter.count(format_entry(chunk)) for chunk in chunks), reverse=True)
        return sum(costs[:at_most])

    def _stage(self, contract: Contract[R], prompt_tokens: int, calls: int) -> StageEstimate:
        task = self._completer.task(contract)
        usage = TokenUsage(prompt_tokens, task.max_tokens * calls)
        cost = self._ledger.most(task.model, usage)
        priced = task.model in self._ledger.prices
        return StageEstimate(contract.name, task.model, prompt_tokens, usage.completion_tokens, cost, priced)
