"""How a question becomes an answer: search, grade, gate, definitions, budget, statements, verify, render.

One generator of events carries it all; the unary answer is its last event. A refusal is an event like any
other, an error is an exception. No event with content leaves before the audit record is on disk. With a chat
model two calls of it are on the way: one grades, one answers.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from chassis.auth import Caller
from chassis.telemetry import stage
from corpus.labels import labels_of
from inference.tokens import TokenCounter
from services.answer.answers import Answer, DryRun, GateDecision, GateRule, Outcome, RefusalReason
from services.answer.clients.retrieval import RetrievalClient
from services.answer.contracts.answer import CONTRACT
from services.answer.contracts.completion import Completer
from services.answer.corpus import Found
from services.answer.evidence.grading import clause_of
from services.answer.evidence.policy import Policy
from services.answer.query import refusing
from services.answer.query.drafting import Drafting
from services.answer.query.estimating import Estimates
from services.answer.query.events import (
    Completed,
    Estimated,
    Event,
    Gated,
    Graded,
    GradedChunk,
    Response,
    Retrieved,
    unfold,
)
from services.answer.query.judging import Judge
from services.answer.query.progress import Progress, describe, explained
from services.answer.query.refusing import Named
from services.answer.query.rendering import render_markdown, render_markdown_full, render_text
from services.answer.questions import Question, check
from services.answer.records.tasks import Task, Tasks
from services.answer.records.tracking import TaskName
from services.answer.sentences import whole
from services.answer.verification.citing import EXTRACTIVE
from services.answer.verification.signing import Signer

MAX_NEAREST_CLAUSES = 3


class Querying:
    """Answers questions. Keeps nothing between them."""

    def __init__(
        self,
        retrieval: RetrievalClient,
        completer: Completer,
        counter: TokenCounter,
        policy: Policy,
        tasks: Tasks,
        signer: Signer,
    ) -> None:
        self._retrieval = retrieval
        self._completer = completer
        self._counter = counter
        self._policy = policy
        self._tasks = tasks
        self._judge = Judge(completer, policy)
        self._drafting = Drafting(retrieval, completer, counter, policy, signer)

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
        async with self._open(question, caller) as task:
            progress = self._begin(task, question)
            check(question)
            with progress.stage("retrieve"):
                found = progress.found = await self._search(question)
            task.run.chunks_retrieved = len(found.candidates)
            yield _retrieved(found)
            if question.dry_run:
                dry_run = await self._estimate(task, question, found)
                response = self._respond(task, progress, found, dry_run)
                await _record(task, response)
                yield Estimated(dry_run)
                yield Completed(response)
                return
            decision = await self._decide(task, progress, found)
            if question.grading:
                yield _graded(progress)
            yield Gated(decision)
            answer = progress.answer = await self._conclude(task, progress, found, decision)
            response = self._respond(task, progress, found, answer)
            await _record(task, response)
            for event in unfold(answer):
                yield event
            yield Completed(response)

    def _open(self, question: Question, caller: Caller) -> AbstractAsyncContextManager[Task]:
        return self._tasks.open(
            TaskName.QUERY,
            text=question.query,
            sources=question.sources,
            caller=caller,
            max_cost_usd=question.max_cost_usd,
        )

    def _begin(self, task: Task, question: Question) -> Progress:
        configured = self._completer.configured
        model = self._completer.task(CONTRACT).model if configured else EXTRACTIVE
        progress = Progress(task.run, question, model)
        task.run.debug = lambda: describe(progress)
        return progress

    async def _search(self, question: Question) -> Found:
        policy = self._policy
        return await self._retrieval.search(
            question,
            top_k=policy.pool,
            vector_k=policy.vector_k,
            keyword_k=policy.keyword_k,
            route=not question.everywhere,
        )

    async def _estimate(self, task: Task, question: Question, found: Found) -> DryRun:
        """What would be sent at most, without sending it."""
        chunks = [candidate.chunk for candidate in found.candidates]
        estimates = Estimates(self._completer, self._counter, self._policy, task.ledger)
        stages = []
        if chunks and self._judge.asks_model(question):
            stages.append(estimates.grading(question.query, chunks))
        if chunks and self._completer.configured:
            passages, depth = map(whole, chunks), self._policy.definition_depth
            definitions = await self._retrieval.find_definitions(question, found, passages, depth)
            stages.append(estimates.answer(question.query, chunks, definitions))
        return DryRun(tuple(stages))

    async def _decide(self, task: Task, progress: Progress, found: Found) -> GateDecision:
        """Grade the candidates, keep the best, and let the gate decide."""
        with progress.stage("grade") as span:
            ranking = await self._judge.rank(task, progress.question, found)
            progress.ranked, progress.strong = ranking.ranked, ranking.strong
            progress.kept = ranking.kept
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
            progress.gate = self._judge.decide(progress.question, found, ranking)
            span.set_attribute("clausegate.gate.rule", progress.gate.rule.value)
        return progress.gate

    async def _conclude(self, task: Task, progress: Progress, found: Found, decision: GateDecision) -> Answer:
        """The verified answer, or the refusal."""
        if decision.passed:
            drafted = await self._drafting.draft(task, progress, found)
            return drafted if isinstance(drafted, Answer) else await self._refuse(progress, found, drafted)
        nothing = decision.rule is GateRule.NOTHING_RETRIEVED
        reason = RefusalReason.NO_CHUNKS_RETRIEVED if nothing else RefusalReason.CONFIDENCE_TOO_LOW
        return await self._refuse(progress, found, reason)

    async def _refuse(self, progress: Progress, found: Found, reason: RefusalReason) -> Answer:
        assert progress.gate is not None
        question = progress.question
        with progress.stage("refuse"):
            census = await self._retrieval.count_terms(question, found, refusing.content_words(found))
            nearest = progress.ranked[:MAX_NEAREST_CLAUSES]
            named = () if question.document_ids else tuple(found.routed)
            ids = dict.fromkeys([*named, *(graded.candidate.chunk.document_id for graded in nearest)])
            labels = labels_of((await self._retrieval.live_documents(ids)).values())
            total = await self._retrieval.document_count(question.sources) if named else census.documents
        refusal = refusing.refuse(
            reason,
            progress.gate,
            question,
            refusing.absence_evidence(census),
            Named(tuple(labels[name] for name in named if name in labels), total),
        )
        clauses = tuple(clause_of(graded, graded.candidate.chunk, labels) for graded in nearest)
        return Answer(refusal=replace(refusal, nearest_clauses=clauses))

    def _respond(self, task: Task, progress: Progress, found: Found, result: Answer | DryRun) -> Response:
        with stage("render") as span:
            text, markdown, full = render_text(result), render_markdown(result), render_markdown_full(result)
            refusal = result.refusal if isinstance(result, Answer) else None
            span.set_attribute("clausegate.refusal_reason", refusal.reason.value if refusal else "")
        metadata = task.metadata(
            model=progress.model,
            prompt_version=progress.prompt_version,
            grader=progress.grader,
            index_revision=found.index_revision,
            normalized_query=found.normalized_query,
            context_tokens=progress.budget.final_tokens if progress.budget else 0,
        )
        failure, dropped = progress.grading_failure, len(progress.dropped)
        return Response(
            answer=result if isinstance(result, Answer) else Answer(),
            text=text,
            markdown=markdown,
            markdown_full=full,
            metadata=replace(metadata, grading_failure=failure, dropped_statements=dropped),
            debug=explained(progress) if progress.question.debug else None,
            usage=task.ledger.stages,
            dry_run=result if isinstance(result, DryRun) else None,
        )


async def _record(task: Task, response: Response) -> None:
    """What is missing names words of the question, so a refusal is recorded by its message alone.

    A dry run counts as answered: it did what was asked.
    """
    answer, refusal = response.answer, response.answer.refusal
    await task.close(
        answer=refusal.message if refusal else response.text,
        chunks_used=len(answer.supporting_clauses),
        outcome=response.outcome or Outcome.ANSWERED,
        refusal_reason=refusal.reason.value if refusal else None,
    )


def _retrieved(found: Found) -> Retrieved:
    return Retrieved(found.normalized_query, len(found.candidates), tuple(found.routed), found.index_revision)


def _graded(progress: Progress) -> Graded:
    kept = {graded.candidate.chunk.chunk_id for graded in progress.kept}
    return Graded(
        tuple(
            GradedChunk(
                chunk_id=graded.candidate.chunk.chunk_id,
                chunk_alias=graded.candidate.chunk.alias,
                grade=graded.grade or 0,
                score=graded.score,
                probability=graded.probability,
                kept=graded.candidate.chunk.chunk_id in kept,
            )
            for graded in progress.ranked
        )
    )
