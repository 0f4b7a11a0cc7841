"""Grades the candidates, keeps the best, and lets the gate decide.

Whoever can grade does: a chat model, or the reader and local evidence where there is none or where it fails,
whatever it fails with. A failure is not hidden: the judgement names it, and what is wrong with key, address
or server meets the answer as well, which nothing stands in for. Two errors are no failure of the model:
`BudgetExceeded`, since the caller has said what a query may cost, and `ReplayDiverged`, since a query that
goes another way than its recording replays nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chassis.errors import ServiceError
from inference.recording import ReplayDiverged
from services.answer.answers import GateDecision
from services.answer.clients.retrieval import RetrievalClient
from services.answer.contracts.completion import Completer
from services.answer.corpus import Found
from services.answer.evidence import gate, grading
from services.answer.evidence.extraction import ScoredSentence, rank_sentences
from services.answer.evidence.grading import GradedCandidate, Grading
from services.answer.evidence.local_grading import LocalGrader
from services.answer.evidence.policy import Policy
from services.answer.evidence.probability import Estimate, Signs, calibration_of, signs_of
from services.answer.query.model_grading import MAX_GRADED, Grades, Pool, grade_each, grade_together
from services.answer.questions import Question
from services.answer.records.tasks import Task
from services.answer.records.usage import BudgetExceeded

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates after grading, best first."""

    ranked: tuple[GradedCandidate, ...]
    strong: tuple[GradedCandidate, ...]
    """The candidates that are good enough to be kept."""
    kept: tuple[GradedCandidate, ...]
    """The best of them, as many as may be."""
    grader: str
    """`local`, a model's name, or empty when grading was off."""
    by_model: bool = False
    """Whether a chat model graded."""
    sentences: tuple[ScoredSentence, ...] = ()
    """Those of the kept ones, best first; none when a model graded, or nobody."""
    signs: Signs = field(default_factory=dict)
    """What the estimate was worked out from."""
    estimate: Estimate | None = None
    """How probable it is that the answer is right; None when a model graded, or nobody."""
    failure: str = ""
    """Reason of a model's grading that failed, so that the next best stood in; empty otherwise."""


class Judge:
    """Ranks candidates and decides whether they are enough."""

    def __init__(
        self, retrieval: RetrievalClient, completer: Completer, policy: Policy, grader: LocalGrader
    ) -> None:
        self._retrieval = retrieval
        self._completer = completer
        self._policy = policy
        self._grader = grader

    def asks_model(self, question: Question) -> bool:
        """Whether a chat model grades the candidates of a question."""
        by_model = self._policy.grading is not Grading.LOCAL
        return question.grading and by_model and self._completer.configured

    async def rank(self, task: Task, question: Question, found: Found) -> Ranking:
        """The candidates, graded and the best kept; a model grades only the best by local evidence.

        Raises `BudgetExceeded` and `ReplayDiverged`.
        """
        if not question.grading:
            ranked = grading.rank_by_similarity(found, use_bm25=self._policy.raw_gate_uses_bm25)
            return self._keep(ranked, "")
        if not found.candidates or not self.asks_model(question):
            return await self._grade_locally(found)
        best = grading.grade_locally(found)[:MAX_GRADED]
        try:
            grades = await self._ask(task, question, best)
        except (BudgetExceeded, ReplayDiverged):
            raise
        except ServiceError as error:
            logger.warning("a model's grading failed", extra={"reason": error.reason})
            return replace(await self._grade_locally(found), failure=error.reason)
        ranked = grading.apply_grades(best, grades.by_chunk)
        strong = grading.keep_graded(ranked, self._policy.relevance_threshold, len(ranked))
        return Ranking(ranked, strong, strong[: self._policy.keep_at_most], grades.model, by_model=True)

    def decide(self, question: Question, found: Found, ranking: Ranking) -> GateDecision:
        """Tier 1 for graded candidates, with the threshold of whoever graded them; tier 2 for raw scores."""
        limits = self._policy.gate
        if not question.grading:
            distinct = [graded.score for graded in gate.collapse_near_duplicates(ranking.ranked)]
            return gate.decide_raw(distinct, limits, enabled=question.gate)
        if ranking.by_model:
            threshold = float(self._policy.relevance_threshold)
        elif limits.threshold is None:
            threshold = calibration_of(ranking.signs).evidence_needed
        else:
            threshold = limits.threshold
        return gate.decide_graded(
            [graded.score for graded in ranking.ranked],
            threshold,
            limits.min_chunks,
            enabled=question.gate,
            calibrated=ranking.by_model or found.background.calibrated,
        )

    async def weigh(self, found: Found, kept: Sequence[GradedCandidate]) -> Ranking:
        """Local evidence for what a chat model has graded: the sentences of `kept`, and what they come to."""
        grades = await self._grader.grade(found)
        read = {graded.candidate.chunk.chunk_id: graded.candidate for graded in grades.ranked}
        own = [replace(graded, candidate=read[graded.candidate.chunk.chunk_id]) for graded in kept]
        return _with_signs(Ranking(grades.ranked, (), tuple(own), grades.grader), found)

    async def _ask(self, task: Task, question: Question, best: Sequence[GradedCandidate]) -> Grades:
        grade = grade_each if self._policy.grading is Grading.EACH else grade_together
        chunks = [graded.candidate.chunk for graded in best]
        pool = Pool(question.query, chunks, await self._retrieval.cards(chunks))
        return await grade(self._completer, task, pool)

    async def _grade_locally(self, found: Found) -> Ranking:
        grades = await self._grader.grade(found)
        ranking = replace(self._keep(grades.ranked, grades.grader), failure=grades.failure)
        return _with_signs(ranking, found)

    def _keep(self, ranked: Sequence[GradedCandidate], grader: str) -> Ranking:
        strong = grading.keep(ranked, self._policy.keep_ratio, len(ranked))
        return Ranking(tuple(ranked), strong, strong[: self._policy.keep_at_most], grader)


def _with_signs(ranking: Ranking, found: Found) -> Ranking:
    """The ranking with the sentences of what is kept, and how probable it is that the first one answers."""
    sentences = rank_sentences(ranking.kept, found)
    signs = signs_of(sentences, ranking.ranked, found)
    told = calibration_of(signs).estimate(signs) if signs else None
    return replace(ranking, sentences=sentences, signs=signs, estimate=told)
