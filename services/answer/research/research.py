"""Research queries: verbatim snippets of a project's documents for a question.

Where to look, search, extraction or what the cache holds, record. A question is searched every time: the
search tells the state of the index, without which the cache could answer from what is no longer there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, replace

from chassis.auth import Caller
from chassis.errors import InvalidInput, ServiceError
from chassis.limits.size import check_names, check_text
from services.answer.answers import Metadata, Outcome
from services.answer.clients.retrieval import RetrievalClient
from services.answer.contracts.snippets import MAX_SNIPPETS
from services.answer.corpus import Background, Found, Leg
from services.answer.evidence.policy import Policy
from services.answer.questions import MAX_QUERY_CHARACTERS, Question
from services.answer.records.tasks import Task, Tasks
from services.answer.records.tracking import TaskName
from services.answer.research.caching import ResultCache
from services.answer.research.extracting import Extraction, Extractor
from services.answer.research.scopes import EVERY_SOURCE, Scope, named_field, scope_of
from services.answer.research.snippets import Unverified, Wanted

NOTHING = Found("", "", (), Leg(0, None), Leg(0, None), 0, 0, Background(0.0, False), {}, (), (), "")
"""What a search of no documents finds."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A research query, see `clausegate.answer.v1.ExtractSnippetsRequest`."""

    project: str
    query: str
    source_ids: tuple[str, ...] = ()
    max_snippets: int = 0
    unverified: Unverified | None = Unverified.DROP
    """None for a choice that this version does not know."""
    max_cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """The whole result."""

    extraction: Extraction
    cached: bool
    metadata: Metadata


class Research:
    """Answers research queries."""

    def __init__(
        self,
        retrieval: RetrievalClient,
        extractor: Extractor,
        policy: Policy,
        tasks: Tasks,
        cache: ResultCache[Extraction],
    ) -> None:
        self._retrieval = retrieval
        self._extractor = extractor
        self._policy = policy
        self._tasks = tasks
        self._cache = cache

    async def extract(self, asked: Asked, caller: Caller) -> Findings:
        """The snippets of a question; its record is on disk.

        Raises `InvalidInput` and `NotFound`, naming the field, and what `Completer.ask` raises.
        """
        async with self._tasks.open(
            TaskName.SNIPPETS,
            text=asked.query,
            sources=asked.source_ids,
            caller=caller,
            max_cost_usd=asked.max_cost_usd,
        ) as task:
            _check(asked)
            scope = await self._scope(asked)
            found = await self._find(asked, scope)
            # A project's name would not tell the reader of the record what was searched.
            task.run.sources = (*scope.sources, *scope.document_ids) if scope else ()
            task.run.chunks_retrieved = len(found.candidates)
            extraction, cached = await self._extract(asked, found, scope, task)
            metadata = task.metadata(
                model=extraction.model,
                prompt_version=self._extractor.prompt_version,
                grader=extraction.grader,
                index_revision=found.index_revision,
                normalized_query=found.normalized_query,
                context_tokens=extraction.context_tokens,
            )
            await _close(task, extraction)
            return Findings(extraction, cached, metadata)

    async def _extract(
        self, asked: Asked, found: Found, scope: Scope | None, task: Task
    ) -> tuple[Extraction, bool]:
        wanted = _wanted(asked, found)
        maker = (self._extractor.model, self._extractor.prompt_version)
        key = result_key(task.run.caller, found, scope, wanted, maker)

        async def search_again(words: str) -> Found:
            return await self._find(replace(asked, query=words), scope, route=False)

        return await self._cache.get(key, lambda: self._extractor.extract(found, wanted, task, search_again))

    async def _find(self, asked: Asked, scope: Scope | None, *, route: bool = True) -> Found:
        """What a search of the scope finds; with `route`, only in the documents that the question names."""
        if scope is None:
            return NOTHING
        questions = []
        if scope.sources or not scope.document_ids:
            questions.append(Question(asked.query, sources=scope.sources))
        if scope.document_ids:
            questions.append(Question(asked.query, document_ids=scope.document_ids))
        try:
            found = await asyncio.gather(*(self._search(question, route=route) for question in questions))
        except ServiceError as error:
            error.field = named_field(error.field, scope, asked.source_ids)
            raise
        return found[0] if len(found) == 1 else _merged(*found)

    async def _scope(self, asked: Asked) -> Scope | None:
        """Where to look; None when the project has no documents."""
        if asked.project == EVERY_SOURCE:
            return scope_of(asked.source_ids, None)
        project = await self._retrieval.project(asked.project)
        if asked.source_ids:
            return scope_of(asked.source_ids, project.sources)
        # A project may name sources that have no documents yet, which a search would not find.
        live = await self._retrieval.live_sources()
        sources = tuple(source for source in project.sources if source in live)
        return Scope(sources) if sources else None

    async def _search(self, question: Question, *, route: bool) -> Found:
        policy = self._policy
        return await self._retrieval.search(
            question,
            top_k=policy.pool,
            vector_k=policy.vector_k,
            keyword_k=policy.keyword_k,
            route=route,
        )


def result_key(
    caller: Caller, found: Found, scope: Scope | None, wanted: Wanted, maker: tuple[str, str]
) -> Hashable:
    """What a result depends on: queries that differ in any of it share none.

    The question counts as it is searched and, but for case and white space, as it was asked: “may I” and
    “must I” are searched alike and answered differently. `maker` is the model and the version of its prompt.
    Callers share a result when they are of one tenant and hold the same sources.
    """
    asked = " ".join(wanted.question.casefold().split())
    limits = (wanted.at_most, wanted.unverified)
    seen_by = (caller.tenant, caller.sources)
    return (seen_by, asked, found.normalized_query, scope, limits, found.index_revision, maker)


def _wanted(asked: Asked, found: Found) -> Wanted:
    at_most = min(asked.max_snippets or MAX_SNIPPETS, MAX_SNIPPETS)
    unverified = asked.unverified or Unverified.DROP
    return Wanted(asked.query, frozenset(found.keyword_stems), at_most, unverified)


def _check(asked: Asked) -> None:
    if not asked.project:
        raise InvalidInput("Must not be empty; `-` means all sources.", field="project")
    check_text("query", asked.query, MAX_QUERY_CHARACTERS, required=True)
    check_names("source_ids", asked.source_ids)
    if asked.max_snippets < 0:
        raise InvalidInput("Must not be negative.", field="max_snippets")
    if asked.unverified is None:
        raise InvalidInput("Must be one of the choices of this version.", field="unverified")


def _merged(sources: Found, documents: Found) -> Found:
    """Candidates of two searches for the same question; grading orders them.

    What the question says about documents no longer counts: those of the second search were named.
    """
    return replace(documents, candidates=sources.candidates + documents.candidates, routed={})


async def _close(task: Task, extraction: Extraction) -> None:
    contents = [snippet.content for snippet in extraction.snippets]
    await task.close(
        answer="\n".join([*contents, extraction.summary]),
        chunks_used=extraction.chunks_used,
        outcome=Outcome.ANSWERED if extraction.silence is None else Outcome.REFUSED,
        refusal_reason=extraction.silence,
    )
