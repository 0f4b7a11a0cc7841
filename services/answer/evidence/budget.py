"""Chooses the chunks that fit the token budget of an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corpus.chunks import Chunk
from inference.tokens import TokenCounter
from services.answer.context import format_chunk
from services.answer.evidence.grading import GradedCandidate


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """Tokens of one answer, all in."""

    total_tokens: int = 60_000
    answer_tokens: int = 2_048
    """Reserved for the answer."""
    chunk_tokens: int = 57_300
    """The most that chunks may take, whatever the prompt leaves."""

    def for_chunks(self, prompt_tokens: int) -> int:
        """Tokens left for chunks beside a prompt of `prompt_tokens` (0 without a model), at least 0."""
        return max(0, min(self.chunk_tokens, self.total_tokens - self.answer_tokens - prompt_tokens))


@dataclass(frozen=True, slots=True)
class BudgetReport:
    """What fitted."""

    target_tokens: int
    final_tokens: int
    chunks_kept: int
    chunks_dropped: int

    @property
    def under_budget(self) -> bool:
        """Whether the context is within the budget; it always is."""
        return self.final_tokens <= self.target_tokens


@dataclass(frozen=True, slots=True)
class Packed:
    """The chunks that fit, in the order given, and how it came out."""

    kept: tuple[GradedCandidate, ...]
    report: BudgetReport


def pack(
    ranked: Sequence[GradedCandidate],
    target_tokens: int,
    counter: TokenCounter,
    shown: Callable[[Chunk], str] = format_chunk,
) -> Packed:
    """Fit chunks into `target_tokens`: the higher grade first, on ties the shorter.

    What is counted is the chunk as `shown`. One that does not fit is passed over; a later one may still fit.
    """
    costs = [counter.count(shown(graded.candidate.chunk)) for graded in ranked]
    order = sorted(range(len(ranked)), key=lambda i: (-(ranked[i].grade or 0), costs[i]))
    used, chosen = 0, set[int]()
    for i in order:
        if used + costs[i] <= target_tokens:
            used += costs[i]
            chosen.add(i)
    report = BudgetReport(target_tokens, used, len(chosen), len(ranked) - len(chosen))
    return Packed(tuple(graded for i, graded in enumerate(ranked) if i in chosen), report)
