"""How a question becomes an answer: search, grade, gate, definitions, budget, statements, verify, render.

One generator of events carries it all; the unary answer is its last event. A refusal is an event like any
other, an error is an exception. No event with content leaves before the audit record is on disk.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from chassis.auth import Caller
from chassis.telemetry import tracer
from inference.tokens import TokenCounter
from services.answer import defining, gate, grading, refusing
from services.answer.answers import Answer, GateDecision, GateRule, RefusalReason
from services.answer.budget import BudgetLimits, Packed, pack
from services.answer.citing import EXTRACTIVE, Citations, Origin
from services.answer.composing import Draft, clause_of, compose
from services.answer.corpus import Found, ResolvedDefinition
from services.answer.events import Completed, Event, Gated, Graded, GradedChunk, Response, Retrieved, unfold
from services.answer.extraction import choose_sentences
from services.answer.questions import Question, check
from services.answer.rendering import render_markdown, render_text
from services.answer.sentences import Sentence
from services.answer.signing import Signer
from services.answer.tasks import Task, Tasks
from services.answer.tracking import Progress, TaskName, debug_record

if TYPE_CHECKING:
    from services.answer.clients.retrieval import RetrievalClient

LOCAL_GRADER = "local"
MAX_NEAREST_CLAUSES = 3

_tracer = tracer(__name__)


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings that shape an answer."""

    gate: gate.GateLimits = field(default_factory=gate.GateLimits)
    budget: BudgetLimits = field(default_factory=BudgetLimits)
    pool: int = 12
    vector_k: int = 10
    keyword_k: int = 10
    keep_ratio: float = 0.8
    keep_at_most: int = 5
    raw_gate_uses_bm25: bool = False
    definition_depth: int = 2

    def sha256(self) -> str:
        """Names the policy in certificates: SHA-256 over its values, 64 hexadecimal digits."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


class Querying:
    """Answers questions. Keeps nothing between them."""

    def __init__(
        self,
        retrieval: RetrievalClient,
        counter: TokenCounter,
        policy: Policy,
        tasks: Tasks,
        signer: Signer,
    ) -> None:
        self._retrieval = retrieval
        self._counter = counter
        self._policy = policy
        self._tasks = tasks
        self._signer = signer

    async def answer(self, question: Question, caller: Caller) -> Response:
        """The whole answer: the last event of `events`."""
        completed: Completed | None = None
        async for event in self.events(question, caller):
            if isinstance(event, Completed):
                completed = event
        assert completed is not None
        return completed.response

    async def events(self, question: Question, caller: Caller) -> AsyncGenerator[Event, None]:
        """The events of an answer; `Completed` is the last. Raises `ServiceError` when there is none.

        `InvalidInput` names the field at fault, `AuditUnavailable` means that the record is not on disk.
        """
        async with self._tasks.open(
            TaskName.QUERY, text=question.query, sources=question.sources, caller=caller
        ) as task:
            progress = self._begin(task, question)
            check(question)
            found = progress.found = await self._search(question)
            task.run.chunks_retrieved = len(found.candidates)
            yield _retrieved(found)
            decision = self._judge(progress, found)
            if question.grading:
                yield _graded(progress)
            yield Gated(decision)
            progress.answer = answer = await self._conclude(progress, found, decision)
            response = self._render(task, progress, found)
            await _record(task, response)
            for event in unfold(answer):
                yield event
            yield Completed(response)

    def _begin(self, task: Task, question: Question) -> Progress:
        progress = Progress(task.run, question, EXTRACTIVE)
        task.run.debug = lambda: debug_record(progress)
        return progress

    async def _search(self, question: Question) -> Found:
        policy = self._policy
        return await self._retrieval.search(
            question, top_k=policy.pool, vector_k=policy.vector_k, keyword_k=policy.keyword_k
        )

    def _judge(self, progress: Progress, found: Found) -> GateDecision:
        """Grade the candidates, keep the best, and let the gate decide."""
        policy, question = self._policy, progress.question
        with _tracer.start_as_current_span("grade") as span:
            if question.grading:
                ranked = grading.grade_locally(found)
            else:
                ranked = grading.rank_by_similarity(found, use_bm25=policy.raw_gate_uses_bm25)
            kept = grading.keep(ranked, policy.keep_ratio, policy.keep_at_most)
            progress.ranked, progress.kept = ranked, kept
            span.set_attributes({"clausegate.candidates": len(ranked), "clausegate.kept": len(kept)})
        with _tracer.start_as_current_span("gate") as span:
            progress.gate = self._decide(question, ranked, found)
            span.set_attribute("clausegate.gate.rule", progress.gate.rule.value)
        return progress.gate

    def _decide(
        self, question: Question, ranked: tuple[grading.GradedCandidate, ...], found: Found
    ) -> GateDecision:
        limits = self._policy.gate
        if question.grading:
            scores = [one.score for one in ranked]
            calibrated = found.background.calibrated
            return gate.decide_graded(scores, limits, enabled=question.gate, calibrated=calibrated)
        distinct = [one.score for one in gate.collapse_near_duplicates(ranked)]
        return gate.decide_raw(distinct, limits, enabled=question.gate)

    async def _conclude(self, progress: Progress, found: Found, decision: GateDecision) -> Answer:
        """The verified answer, or the refusal."""
        if not decision.passed:
            nothing = decision.rule is GateRule.NOTHING_RETRIEVED
            reason = RefusalReason.NO_CHUNKS_RETRIEVED if nothing else RefusalReason.CONFIDENCE_TOO_LOW
            return await self._refuse(progress, found, reason)
        sentences = _best_sentences(progress.kept, found)
        definitions = await self._define(progress, found, sentences)
        packed, definitions = self._fit(progress, definitions)
        if not packed.kept:
            return await self._refuse(progress, found, RefusalReason.EMPTY_CONTEXT_AFTER_BUDGET)
        if packed.report.chunks_dropped:
            sentences = _best_sentences(packed.kept, found)
        draft = Draft(
            question=progress.question.query,
            kept=packed.kept,
            sentences=sentences,
            definitions=definitions,
            calibrated=found.background.calibrated or not progress.question.grading,
        )
        answer = await self._verify(draft)
        if not answer.statements:
            return await self._refuse(progress, found, RefusalReason.VALIDATION_FAILED)
        return answer

    async def _define(
        self, progress: Progress, found: Found, sentences: tuple[Sentence, ...]
    ) -> tuple[ResolvedDefinition, ...]:
        """The definitions of terms that the question or the best sentences use."""
        with _tracer.start_as_current_span("definitions") as span:
            resolved = await self._retrieval.find_definitions(
                progress.question, found, sentences, self._policy.definition_depth
            )
            sources = {one.candidate.chunk.source for one in progress.kept}
            kept = defining.relevant(resolved, sources)
            span.set_attribute("clausegate.definitions", len(kept))
        return kept

    def _fit(
        self, progress: Progress, definitions: tuple[ResolvedDefinition, ...]
    ) -> tuple[Packed, tuple[ResolvedDefinition, ...]]:
        """Chunks first, then as many definitions as the budget still holds."""
        with _tracer.start_as_current_span("budget") as span:
            target = self._policy.budget.for_chunks(prompt_tokens=0)
            packed = pack(progress.kept, target, self._counter)
            left = target - packed.report.final_tokens
            fitting, tokens = defining.fitting(definitions, left, self._counter)
            report = replace(packed.report, final_tokens=packed.report.final_tokens + tokens)
            progress.budget = report
            span.set_attribute("clausegate.context_tokens", report.final_tokens)
        return replace(packed, report=report), fitting

    async def _verify(self, draft: Draft) -> Answer:
        """Re-read every chunk that the draft quotes, and keep what still stands there."""
        with _tracer.start_as_current_span("verify") as span:
            chunks, documents = await self._retrieval.read_back(draft.chunk_ids(), draft.document_ids())
            citations = Citations(chunks, documents, Origin(self._policy.sha256()), self._signer)
            answer = compose(draft, citations, chunks, documents)
            span.set_attribute("clausegate.citations", len(answer.citations))
        return answer

    async def _refuse(self, progress: Progress, found: Found, reason: RefusalReason) -> Answer:
        assert progress.gate is not None
        question = progress.question
        census = await self._retrieval.count_terms(question, found, refusing.content_words(found))
        refusal = refusing.refuse(reason, progress.gate, question.sources, refusing.absence_evidence(census))
        nearest = tuple(clause_of(one, one.candidate.chunk) for one in progress.ranked[:MAX_NEAREST_CLAUSES])
        return Answer(refusal=replace(refusal, nearest_clauses=nearest))

    def _render(self, task: Task, progress: Progress, found: Found) -> Response:
        answer = progress.answer
        assert answer is not None
        with _tracer.start_as_current_span("render"):
            text, markdown = render_text(answer), render_markdown(answer)
        metadata = task.metadata(
            model=EXTRACTIVE,
            grader=LOCAL_GRADER if progress.question.grading else "",
            index_revision=found.index_revision,
            normalized_query=found.normalized_query,
            context_tokens=progress.budget.final_tokens if progress.budget else 0,
        )
        debug = debug_record(progress) if progress.question.debug else None
        return Response(answer, text, markdown, metadata, debug)


async def _record(task: Task, response: Response) -> None:
    """What is missing names words of the question, so a refusal is recorded by its message alone."""
    answer, refusal = response.answer, response.answer.refusal
    await task.close(
        answer=refusal.message if refusal else response.text,
        chunks_used=len(answer.supporting_clauses),
        refused=refusal is not None,
        refusal_reason=refusal.reason.value if refusal else None,
    )


def _best_sentences(kept: tuple[grading.GradedCandidate, ...], found: Found) -> tuple[Sentence, ...]:
    return tuple(one.sentence for one in choose_sentences(kept, found))


def _retrieved(found: Found) -> Retrieved:
    return Retrieved(found.normalized_query, len(found.candidates), tuple(found.routed), found.index_revision)


def _graded(progress: Progress) -> Graded:
    kept = {one.candidate.chunk.chunk_id for one in progress.kept}
    return Graded(
        tuple(
            GradedChunk(
                chunk_id=one.candidate.chunk.chunk_id,
                chunk_alias=one.candidate.chunk.alias,
                grade=one.grade or 0,
                score=one.score,
                probability=one.probability,
                kept=one.candidate.chunk.chunk_id in kept,
            )
            for one in progress.ranked
        )
    )
