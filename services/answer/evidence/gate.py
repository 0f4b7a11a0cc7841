"""Decides, before anything is answered, whether what was found is enough. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.answer.answers import GateDecision, GateRule, GateTier
from services.answer.evidence.grading import GradedCandidate

SHINGLE_WORDS = 5
DUPLICATE_SHARE = 0.8
"""Two chunks are near-duplicates when they share this part of all their runs of five words (Jaccard). Chunks
that only overlap by two sentences share a tenth."""


@dataclass(frozen=True, slots=True)
class GateLimits:
    """What evidence an answer needs."""

    threshold: float | None = None
    """Tier 1: evidence a chunk must reach; None is as calibrated."""
    min_chunks: int = 1
    """Tier 1: chunks that must reach it, at least 1."""
    min_score: float = 0.05
    """Tier 2: the best raw score must be above this."""
    min_ratio: float = 1.2
    """Tier 2: best raw score divided by the second best, at least."""


def decide_graded(
    scores: Sequence[float], threshold: float, min_chunks: int, *, enabled: bool, calibrated: bool
) -> GateDecision:
    """Tier 1, on graded evidence: `min_chunks` must reach the threshold. `scores` in any order."""
    above = sum(score >= threshold for score in scores)
    decision = GateDecision(
        enabled=enabled,
        passed=True,
        tier=GateTier.GRADED,
        rule=GateRule.PASSED,
        top_score=max(scores, default=None),
        threshold=threshold,
        min_chunks_required=min_chunks,
        chunks_above_threshold=above,
        ratio=None,
        calibrated=calibrated,
    )
    if not scores:
        return _refuse(decision, GateRule.NOTHING_RETRIEVED)
    if above == 0:
        return _refuse(decision, GateRule.BELOW_THRESHOLD)
    if above < min_chunks:
        return _refuse(decision, GateRule.TOO_FEW_CHUNKS)
    return decision


def decide_raw(scores: Sequence[float], limits: GateLimits, *, enabled: bool) -> GateDecision:
    """Tier 2, on raw cosine or BM25, never on ranking scores: the best must be high enough and stand out.

    `scores` in any order, near-duplicates collapsed. A second score of 0 or less makes no ratio.
    """
    ranked = sorted(scores, reverse=True)
    ratio = ranked[0] / ranked[1] if len(ranked) > 1 and ranked[1] > 0 else None
    decision = GateDecision(
        enabled=enabled,
        passed=True,
        tier=GateTier.RAW,
        rule=GateRule.PASSED,
        top_score=max(scores, default=None),
        threshold=limits.min_score,
        min_chunks_required=1,
        chunks_above_threshold=sum(score > limits.min_score for score in scores),
        ratio=ratio,
        calibrated=False,
    )
    if not scores:
        return _refuse(decision, GateRule.NOTHING_RETRIEVED)
    if ranked[0] <= limits.min_score:
        return _refuse(decision, GateRule.SCORE_TOO_LOW)
    if ratio is not None and ratio < limits.min_ratio:
        return _refuse(decision, GateRule.RATIO_TOO_LOW)
    return decision


def _refuse(decision: GateDecision, rule: GateRule) -> GateDecision:
    """Nothing retrieved refuses always; any other rule only when the gate is on."""
    if not decision.enabled and rule is not GateRule.NOTHING_RETRIEVED:
        return decision
    return replace(decision, passed=False, rule=rule)


def collapse_near_duplicates(ranked: Sequence[GradedCandidate]) -> tuple[GradedCandidate, ...]:
    """`ranked` without the chunks that say again what an earlier one says; order kept."""
    kept: list[tuple[GradedCandidate, frozenset[tuple[str, ...]]]] = []
    for graded in ranked:
        shingles = _shingles(graded.candidate.chunk.text)
        if not any(_jaccard(shingles, seen) >= DUPLICATE_SHARE for _, seen in kept):
            kept.append((graded, shingles))
    return tuple(graded for graded, _ in kept)


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = text.lower().split()
    runs = range(max(1, len(words) - SHINGLE_WORDS + 1))
    return frozenset(tuple(words[start : start + SHINGLE_WORDS]) for start in runs)


def _jaccard(left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]) -> float:
    return len(left & right) / len(left | right)
