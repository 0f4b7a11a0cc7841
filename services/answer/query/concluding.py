"""What the passages found for a question come to: graded, gated, and answered from or not."""

from __future__ import annotations

from dataclasses import replace

from services.answer.answers import Answer, GateDecision, GateRule, RefusalReason
from services.answer.corpus import Found
from services.answer.query.drafting import Drafting, WithoutReply
from services.answer.query.judging import Judge
from services.answer.query.notes import MODEL_DECLINED, MODEL_REPLY_UNUSED
from services.answer.query.progress import Progress
from services.answer.records.tasks import Task


class Concluding:
    """Judges what was found, and answers from it."""

    def __init__(self, judge: Judge, drafting: Drafting) -> None:
        self.judge = judge
        self._drafting = drafting

    async def decide(self, task: Task, progress: Progress, found: Found) -> None:
        """Grade the candidates, keep the best, and let the gate decide."""
        with progress.stage("grade") as span:
            ranking = await self.judge.rank(task, progress.question, found)
            progress.ranked, progress.strong = ranking.ranked, ranking.strong
            progress.kept = ranking.kept
            progress.ranked_sentences = ranking.sentences
            progress.signs, progress.estimate = ranking.signs, ranking.estimate
            progress.grader, progress.grading_failure = ranking.grader, ranking.failure
            span.set_attributes(
                {
                    "clausegate.candidates": len(ranking.ranked),
                    "clausegate.kept": len(ranking.kept),
                    "clausegate.grader": ranking.grader,
                    "clausegate.grading_failure": ranking.failure,
                }
            )
        with progress.stage("gate") as span:
            progress.gate = self.judge.decide(progress.question, found, ranking)
            span.set_attribute("clausegate.gate.rule", progress.gate.rule.value)

    async def conclude(
        self, task: Task, progress: Progress, found: Found, decision: GateDecision
    ) -> Answer | RefusalReason:
        """The verified answer, or why there is none."""
        if decision.passed:
            drafted = await self._drafting.draft(task, progress, found)
            if isinstance(drafted, WithoutReply):
                return await self._extract(progress, found, drafted)
            return drafted
        if found.names_only_unknown:
            return RefusalReason.NO_DOCUMENT_NAMED
        nothing = decision.rule is GateRule.NOTHING_RETRIEVED
        return RefusalReason.NO_CHUNKS_RETRIEVED if nothing else RefusalReason.CONFIDENCE_TOO_LOW

    async def _extract(self, progress: Progress, found: Found, left: WithoutReply) -> Answer | RefusalReason:
        """What the product says without a model, where the model has said nothing, and a note why.

        A model that finds no answer is believed where local evidence finds none either.
        """
        draft = left.draft
        with progress.stage("weigh") as span:
            weighed = await self.judge.weigh(found, draft.kept)
            progress.ranked_sentences = weighed.sentences
            progress.signs, progress.estimate = weighed.signs, weighed.estimate
            span.set_attribute("clausegate.grader", weighed.grader)
        is_answer = self._drafting.is_answer(progress, draft)
        if left.declined and not is_answer:
            return RefusalReason.CONFIDENCE_TOO_LOW
        is_answer = False if left.declined else is_answer
        draft = replace(draft, is_answer=is_answer, calibrated=found.background.calibrated)
        answer = await self._drafting.extract(progress, draft)
        if isinstance(answer, RefusalReason):
            return answer
        note = MODEL_DECLINED if left.declined else MODEL_REPLY_UNUSED
        return replace(answer, notes=(note, *answer.notes))
