"""How a question becomes an answer: search, grade, gate, definitions, budget, statements, verify, render.

One generator of events carries it all; the unary answer is its last event. A refusal is an event like any
other, an error is an exception. No event with content leaves before the audit record is on disk. With a chat
model two calls of it are on the way: one grades, one answers; each document that a question names beside
others is asked by two of its own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from chassis.auth import Caller
from chassis.telemetry import stage
from corpus.labels import labels_of
from inference.tokens import TokenCounter
from services.answer.answers import Answer, DryRun, Note, Outcome, RefusalReason
from services.answer.clients.retrieval import RetrievalClient
from services.answer.contracts.answer import CONTRACT
from services.answer.contracts.completion import Completer
from services.answer.corpus import Found
from services.answer.evidence.grading import clause_of, grade_locally
from services.answer.evidence.policy import Policy
from services.answer.query import documents, notes, refusing
from services.answer.query.choosing import Chosen, choose
from services.answer.query.concluding import Concluding
from services.answer.query.documents import Part
from services.answer.query.estimating import Estimates, by_stage
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
from services.answer.query.model_grading import MAX_GRADED, Pool
from services.answer.query.progress import Progress, describe, explained
from services.answer.query.refusing import Named
from services.answer.query.rendering import render_markdown, render_markdown_full, render_text
from services.answer.questions import Question, check
from services.answer.records.tasks import Task, Tasks
from services.answer.records.tracking import TaskName
from services.answer.sentences import whole
from services.answer.verification.citing import EXTRACTIVE

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
        concluding: Concluding,
    ) -> None:
        self._retrieval = retrieval
        self._completer = completer
        self._counter = counter
        self._policy = policy
        self._tasks = tasks
        self._concluding = concluding

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
                found = progress.found = await self._search(question, route=not question.everywhere)
                chosen = await choose(self._retrieval, question, found)
                if chosen is not None and not chosen.is_named:
                    found = progress.found = replace(found, routed={})
                parts = await self._parts(progress, found, chosen)
            task.run.chunks_retrieved = sum(len(part.found.candidates) for part in parts)
            yield _retrieved(found, parts)
            if question.dry_run:
                dry_run = await self._estimate(task, parts)
                response = self._respond(task, progress, found, dry_run)
                await _record(task, response)
                yield Estimated(dry_run)
                yield Completed(response)
                return
            for part in parts:
                await self._concluding.decide(task, part.progress, part.found)
            documents.gather(progress, parts)
            if question.grading:
                yield _graded(progress)
            yield Gated(documents.best_of(parts).decision)
            answer = progress.answer = await self._conclude(task, progress, found, parts, chosen)
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

    async def _search(self, question: Question, *, route: bool) -> Found:
        policy = self._policy
        return await self._retrieval.search(
            question,
            top_k=policy.pool,
            vector_k=policy.vector_k,
            keyword_k=policy.keyword_k,
            route=route,
        )

    async def _parts(self, progress: Progress, found: Found, chosen: Chosen | None) -> list[Part]:
        """Each of the chosen documents on its own; without any, all together."""
        if chosen is None:
            return [Part(progress, found)]
        labels = labels_of((await self._retrieval.live_documents(chosen.document_ids)).values())
        asked = [
            documents.part_of(progress, document_id, chosen.question, labels)
            for document_id in chosen.document_ids
        ]
        return [Part(part, await self._search(part.question, route=False)) for part in asked]

    async def _estimate(self, task: Task, parts: Sequence[Part]) -> DryRun:
        """What would be sent at most, without sending it."""
        estimates = Estimates(self._completer, self._counter, self._policy, task.ledger)
        stages = []
        for part in parts:
            question, found = part.progress.question, part.found
            chunks = [graded.candidate.chunk for graded in grade_locally(found)]
            if not (chunks and self._completer.configured):
                continue
            graded = self._concluding.judge.asks_model(question)
            chunks = chunks[:MAX_GRADED] if graded else chunks
            pool = Pool(question.query, chunks, await self._retrieval.cards(chunks))
            if graded:
                stages.append(estimates.grading(pool))
            passages, depth = map(whole, chunks), self._policy.definition_depth
            definitions = await self._retrieval.find_definitions(question, found, passages, depth)
            stages.append(estimates.answer(pool, definitions))
        return DryRun(by_stage(stages))

    async def _conclude(
        self, task: Task, progress: Progress, found: Found, parts: Sequence[Part], chosen: Chosen | None
    ) -> Answer:
        """The verified answer, or the refusal."""
        for part in parts:
            part.result = await self._concluding.conclude(task, part.progress, part.found, part.decision)
        documents.gather(progress, parts)
        result = documents.together(parts, chosen)
        if isinstance(result, RefusalReason):
            return await self._refuse(progress, found, result, chosen)
        told = _notes_of_names(progress, found)
        if not result.documents:
            told += _notes_of_documents(progress, found)
        return replace(result, notes=(*result.notes, *told))

    async def _refuse(
        self, progress: Progress, found: Found, reason: RefusalReason, chosen: Chosen | None
    ) -> Answer:
        assert progress.gate is not None
        question = progress.question
        with progress.stage("refuse"):
            census = await self._retrieval.count_terms(question, found, refusing.content_words(found))
            nearest = progress.ranked[:MAX_NEAREST_CLAUSES]
            named = () if question.document_ids else tuple(found.routed)
            ids = dict.fromkeys([*named, *(graded.candidate.chunk.document_id for graded in nearest)])
            labels = labels_of((await self._retrieval.live_documents(ids)).values())
            total = await self._retrieval.document_count(question.sources) if named else census.documents
        absence = refusing.absence_evidence(census)
        if reason is RefusalReason.NO_DOCUMENT_NAMED:
            limited = _is_chosen(question)
            return Answer(
                refusal=refusing.refuse_unknown(found.unknown_names, progress.gate, absence, chosen=limited)
            )
        refusal = refusing.refuse(
            reason,
            progress.gate,
            question,
            absence,
            Named(tuple(labels[name] for name in named if name in labels), total),
        )
        clauses = tuple(clause_of(graded, graded.candidate.chunk, labels) for graded in nearest)
        told = _notes_of_names(progress, found)
        if chosen is not None and not chosen.is_named:
            silent = {Outcome.REFUSED: len(chosen.document_ids)}
            told.append(notes.asked_of_each_note(silent, chosen.not_asked))
        missing = " ".join([refusal.missing, *(note.text for note in told)])
        return Answer(refusal=replace(refusal, missing=missing, nearest_clauses=clauses))

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
        metadata = replace(
            metadata,
            grading_failure=progress.grading_failure,
            dropped_statements=len(progress.dropped),
            dropped_summary_sentences=len(progress.dropped_sentences),
        )
        return Response(
            answer=result if isinstance(result, Answer) else Answer(),
            text=text,
            markdown=markdown,
            markdown_full=full,
            metadata=metadata,
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


def _notes_of_names(progress: Progress, found: Found) -> list[Note]:
    """Of the names in a question those that no document bears."""
    chosen = _is_chosen(progress.question)
    return [notes.not_named_note(name, chosen=chosen) for name in found.unknown_names]


def _notes_of_documents(progress: Progress, found: Found) -> list[Note]:
    """In how many documents passages were found that bear on a question which names none."""
    bearing = {graded.candidate.chunk.document_id for graded in progress.strong}
    if found.routed or progress.question.document_ids or len(bearing) < 2:
        return []
    return [notes.found_in_note(len(bearing))]


def _is_chosen(question: Question) -> bool:
    return bool(question.sources or question.document_ids)


def _retrieved(found: Found, parts: Sequence[Part]) -> Retrieved:
    candidates = sum(len(part.found.candidates) for part in parts)
    return Retrieved(found.normalized_query, candidates, tuple(found.routed), found.index_revision)


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
