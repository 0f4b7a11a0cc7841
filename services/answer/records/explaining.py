"""Why a query came out as it did: what its debug record adds for a person, see `DebugExplanation`.

It is made of what the query kept while it ran. It goes to who asked for it, never to the log of debug
records: it names documents and terms that the question is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from services.answer.answers import GateDecision
from services.answer.corpus import ResolvedDefinition
from services.answer.evidence.grading import GradedCandidate
from services.answer.query.stating import Dropped
from services.answer.records.tracking import Progress


class Fate(StrEnum):
    """What became of a candidate."""

    KEPT = "kept"
    TOO_WEAK = "too_weak"
    BEYOND_LIMIT = "beyond_limit"
    OVER_BUDGET = "over_budget"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ExplainedCandidate:
    """A candidate and what became of it."""

    graded: GradedCandidate
    fate: Fate


@dataclass(frozen=True, slots=True)
class ExplainedDefinition:
    """A definition that was found, and whether the context holds it."""

    resolved: ResolvedDefinition
    kept: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a query came out as it did; what was not reached is empty."""

    routed: Mapping[str, float]
    """Documents that the question names, best first, with their shares."""
    candidates: tuple[ExplainedCandidate, ...]
    gate: GateDecision | None
    background_mean: float | None
    definitions: tuple[ExplainedDefinition, ...]
    dropped: tuple[Dropped, ...]
    seconds: Mapping[str, float]
    """By stage, in order of first entry."""


def explain(progress: Progress) -> Explanation:
    """The explanation of a query as far as it has come."""
    found = progress.found
    background = found.background if found else None
    return Explanation(
        routed=found.routed if found else {},
        candidates=tuple(ExplainedCandidate(one, _fate(one, progress)) for one in progress.ranked),
        gate=progress.gate,
        background_mean=background.mean if background and background.calibrated else None,
        definitions=tuple(ExplainedDefinition(one, one in progress.defined) for one in progress.resolved),
        dropped=progress.dropped,
        seconds=progress.seconds,
    )


def _fate(one: GradedCandidate, progress: Progress) -> Fate:
    if one in progress.kept:
        if progress.gate and not progress.gate.passed:
            return Fate.REFUSED
        over = progress.packed is not None and one not in progress.packed
        return Fate.OVER_BUDGET if over else Fate.KEPT
    return Fate.BEYOND_LIMIT if one in progress.strong else Fate.TOO_WEAK
