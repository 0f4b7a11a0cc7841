"""Grades candidates and keeps the best: by local evidence, by a chat model's grades, or by raw scores.

The recipe of local grading and its constants were measured on CUAD and ContractNLI with vectors of windows
only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from corpus.chunks import Chunk
from services.answer.answers import SupportingClause
from services.answer.corpus import Background, Candidate, Found
from services.answer.evidence.readings import evidence_read, rank_gain
from services.answer.parts import outside, pages_at

LOCAL_GRADER = "local"
"""Stands for a model's name where local evidence grades."""
BACKGROUND_WEIGHT = 0.5
"""Share of the background that is taken off: 1.0 refuses a little more on balanced questions and is clearly
harmful on natural ones (CUAD dev, AUROC .849 against .806)."""
UNCALIBRATED_OFFSET = 0.31
"""What is taken off with an embedding model that evidence was not measured with."""
LOGISTIC_BIAS, LOGISTIC_SLOPE = 4.86, 9.31
"""Calibration of evidence to probability, fitted on CUAD dev."""
GRADE_LIMITS = ((0.50, 3), (0.40, 2), (0.20, 1))
"""Least evidence for each grade, best first; below them all is grade 0."""


class Grading(StrEnum):
    """Who grades candidates, and how."""

    BATCH = "batch"
    """A chat model, all of them in one call."""
    EACH = "each"
    """A chat model, one call per candidate, concurrently."""
    LOCAL = "local"
    """Local evidence, as without a chat model."""


@dataclass(frozen=True, slots=True)
class GradedCandidate:
    """A candidate and what the gate thinks of it."""

    candidate: Candidate
    score: float
    """What the gate compares: evidence, of the reader as well where there is one; a model's grade; or a raw
    score when grading was off."""
    rank_score: float
    """Local evidence with what the reader says, or a raw score when grading was off; what orders candidates,
    higher is better. A chat model's grades go before it."""
    grade: int | None = None
    """0 not relevant to 3 contains the answer; None when grading was off."""
    probability: float | None = None
    """Probability that the chunk answers the question, 0 to 1; set by local grading only."""


def evidence_of(combined: float, background: Background) -> float:
    """Combined evidence made comparable between easy and hard questions, about -1 to 1.5."""
    offset = BACKGROUND_WEIGHT * background.mean if background.calibrated else UNCALIBRATED_OFFSET
    return combined - offset


def probability_of(evidence: float) -> float:
    """Calibrated probability of relevance, 0 to 1, rising with evidence."""
    return 1.0 / (1.0 + math.exp(LOGISTIC_BIAS - LOGISTIC_SLOPE * evidence))


def grade_of(evidence: float) -> int:
    """Grade 0 to 3, never falling with evidence."""
    return next((grade for limit, grade in GRADE_LIMITS if evidence >= limit), 0)


def grade_locally(found: Found) -> tuple[GradedCandidate, ...]:
    """Every candidate with its grade, best first; ties keep the order of the search."""
    graded = [_graded(candidate, found) for candidate in found.candidates]
    return tuple(sorted(graded, key=_by_rank))


def apply_grades(ranked: Sequence[GradedCandidate], grades: Mapping[str, int]) -> tuple[GradedCandidate, ...]:
    """Candidates with a model's grades, by chunk id, 0 where it gave none; best first, ties as given."""
    graded = [
        replace(local, score=float(grade), grade=grade, probability=None)
        for local in ranked
        for grade in (grades.get(local.candidate.chunk.chunk_id, 0),)
    ]
    return tuple(sorted(graded, key=lambda regraded: -regraded.score))


def rank_by_similarity(found: Found, *, use_bm25: bool = False) -> tuple[GradedCandidate, ...]:
    """Every candidate with its raw cosine, or its raw BM25, best first: what is left when grading is off."""
    scored = [
        (candidate, candidate.bm25 if use_bm25 else candidate.similarity) for candidate in found.candidates
    ]
    ungraded = (GradedCandidate(candidate, score=raw, rank_score=raw) for candidate, raw in scored)
    return tuple(sorted(ungraded, key=_by_rank))


def _by_rank(graded: GradedCandidate) -> float:
    """Sorts the best first."""
    return -graded.rank_score


def _graded(candidate: Candidate, found: Found) -> GradedCandidate:
    evidence = evidence_read(evidence_of(candidate.combined, found.background), candidate)
    return GradedCandidate(
        candidate,
        score=evidence,
        rank_score=candidate.combined
        + rank_gain(candidate)
        - _distance(candidate.chunk.document_id, found.routed),
        grade=grade_of(evidence),
        probability=probability_of(evidence),
    )


def _distance(document_id: str, routed: Mapping[str, float]) -> float:
    """How much worse than the best document the question names this one; 0 when it names none."""
    return 1.0 - routed.get(document_id, 0.0) if routed else 0.0


def keep(ranked: Sequence[GradedCandidate], ratio: float, at_most: int) -> tuple[GradedCandidate, ...]:
    """The candidates that score at least `ratio` of the best one, in order, at most `at_most`.

    A best score of 0 or less keeps the best alone: shares of it mean nothing.
    """
    if not ranked:
        return ()
    best, *others = ranked
    enough = ratio * best.rank_score if best.rank_score > 0 else math.inf
    return (best, *[graded for graded in others if graded.rank_score >= enough][: at_most - 1])


def keep_graded(
    ranked: Sequence[GradedCandidate], threshold: int, at_most: int
) -> tuple[GradedCandidate, ...]:
    """The candidates that a model gave at least grade `threshold`, in order, at most `at_most`.

    Where none has it, and the gate is off, the best alone.
    """
    enough = [graded for graded in ranked if graded.score >= threshold]
    return tuple(enough[:at_most] or ranked[:1])


def clause_of(graded: GradedCandidate, chunk: Chunk, labels: Mapping[str, str]) -> SupportingClause:
    """A passage with what the gate thinks of it; nothing of it is quoted yet.

    `labels` by document id; the title stands in for one that is not there.
    """
    page, last_page = pages_at(chunk, chunk.span)
    return SupportingClause(
        chunk_id=chunk.chunk_id,
        chunk_alias=chunk.alias,
        document=chunk.document_id,
        source=chunk.source,
        title=chunk.title,
        document_label=labels.get(chunk.document_id, chunk.title),
        section=chunk.section,
        page=page,
        last_page=last_page,
        text=chunk.text,
        span=chunk.span,
        quoted=(),
        grade=graded.grade,
        probability=graded.probability,
        score=graded.score,
        context_before=outside(chunk, chunk.context_before),
        context_after=outside(chunk, chunk.context_after),
    )
