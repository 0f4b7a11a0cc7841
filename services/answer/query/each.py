"""Asks questions of each document by itself: contracts by questions, cell by cell.

A cell is a query like any other, within one document: counted, graded, gated, verified and recorded. One
that fails says why and leaves the others to be asked; what would fail every cell after it (nothing can be
recorded, the money or the time is used up) ends the call.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice, product

from chassis.auth import Caller
from chassis.errors import DeadlineExceeded, InvalidInput, ServiceError
from chassis.limits.concurrency import count_one_more
from chassis.limits.size import check_count, check_names
from corpus.citations import Citation
from corpus.documents import Document
from services.answer.answers import Outcome, Statement
from services.answer.clients.retrieval import RetrievalClient
from services.answer.query.events import Response
from services.answer.query.querying import Querying
from services.answer.questions import Question, check_query
from services.answer.records.audit import AuditUnavailable
from services.answer.records.tasks import check_max_cost
from services.answer.records.usage import BudgetExceeded

MAX_QUERIES = 20
MAX_DOCUMENTS = 1_000
MAX_CELLS = 5_000
AT_ONCE = 4
"""Cells that are asked at a time, so that one call leaves room for others."""
ENDS_ALL = (AuditUnavailable, BudgetExceeded, DeadlineExceeded)


@dataclass(frozen=True, slots=True)
class EachQuestion:
    """What to ask of which documents, see `clausegate.answer.v1.QueryEachRequest`."""

    queries: tuple[str, ...]
    sources: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    max_cost_usd: float | None = None
    """What the models of all cells may cost, in US dollars; None means no limit."""


@dataclass(frozen=True, slots=True)
class EachBegun:
    """The documents that are asked, and how many cells follow."""

    documents: tuple[Document, ...]
    cells: int


@dataclass(frozen=True, slots=True)
class EachCell:
    """What a document says to a question, or why no answer came."""

    query: int
    """Place of the question, from 0."""
    document_id: str
    outcome: Outcome | None = None
    """None when the cell failed."""
    statement: Statement | None = None
    """The first of the answer."""
    citations: tuple[Citation, ...] = ()
    """What the statement cites."""
    query_id: str = ""
    error: ServiceError | None = None


@dataclass(frozen=True, slots=True)
class EachCompleted:
    """How many cells came out how; None counts those that failed."""

    outcomes: Counter[Outcome | None]


EachEvent = EachBegun | EachCell | EachCompleted


class QueryingEach:
    """Asks each document. Keeps nothing between calls."""

    def __init__(self, querying: Querying, retrieval: RetrievalClient) -> None:
        self._querying = querying
        self._retrieval = retrieval

    async def events(self, asked: EachQuestion, caller: Caller) -> AsyncGenerator[EachEvent, None]:
        """What is asked, every cell, document by document in order, and how many came out how.

        Closing it cancels the cells under way. Raises `ServiceError`; `InvalidInput` names the field.
        """
        check(asked)
        documents = await self._retrieval.documents(asked.sources, asked.document_ids)
        cells = len(asked.queries) * len(documents)
        if cells > MAX_CELLS:
            said = f"{len(asked.queries):,} questions of {len(documents):,} documents are {cells:,} cells"
            raise InvalidInput(f"{said}; at most {MAX_CELLS:,} may be asked for.", field="queries")
        yield EachBegun(documents, cells)
        outcomes: Counter[Outcome | None] = Counter()
        async with aclosing(self._cells(asked, documents, caller)) as cells_of:
            async for cell in cells_of:
                outcomes[cell.outcome] += 1
                yield cell
        yield EachCompleted(outcomes)

    async def _cells(
        self, asked: EachQuestion, documents: Sequence[Document], caller: Caller
    ) -> AsyncGenerator[EachCell, None]:
        """The cells in order, some asked ahead; one after the other where what is left to spend is known only
        then."""
        places = product((document.document_id for document in documents), range(len(asked.queries)))
        at_once = AT_ONCE if asked.max_cost_usd is None else 1
        left = asked.max_cost_usd
        running = deque[asyncio.Task[tuple[EachCell, float]]]()
        try:
            while True:
                for document_id, query in islice(places, at_once - len(running)):
                    cell = self._cell(asked, document_id, query, left, caller)
                    running.append(asyncio.create_task(cell))
                if not running:
                    return
                answered, cost = await running.popleft()
                left = None if left is None else max(0.0, left - cost)
                yield answered
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _cell(
        self, asked: EachQuestion, document_id: str, query: int, left: float | None, caller: Caller
    ) -> tuple[EachCell, float]:
        """A cell and what models took for it, in US dollars. Raises what fails every cell after it too.

        With a limit of costs that is every failure: what a cell that failed has cost is not known.
        """
        await count_one_more()
        question = Question(asked.queries[query], document_ids=(document_id,), max_cost_usd=left)
        try:
            response = await self._querying.answer(question, caller)
        except ServiceError as error:
            if left is not None or isinstance(error, ENDS_ALL):
                raise
            return EachCell(query, document_id, error=error), 0.0
        return _answered(response, query, document_id), sum(stage.cost_usd for stage in response.usage)


def check(asked: EachQuestion) -> None:
    """Raise `InvalidInput`, naming the field, unless the limits of the request are kept."""
    if not asked.queries:
        raise InvalidInput("Must hold a question.", field="queries")
    check_count("queries", asked.queries, MAX_QUERIES)
    for number, query in enumerate(asked.queries):
        check_query(query, f"queries[{number}]")
    check_names("sources", asked.sources)
    check_names("document_ids", asked.document_ids, MAX_DOCUMENTS)
    check_max_cost(asked.max_cost_usd)


def _answered(response: Response, query: int, document_id: str) -> EachCell:
    answer = response.answer
    statement = next(iter(answer.statements), None)
    numbers = statement.citation_numbers if statement else ()
    return EachCell(
        query,
        document_id,
        outcome=answer.outcome,
        statement=statement,
        citations=tuple(citation for citation in answer.citations if citation.number in numbers),
        query_id=response.metadata.query_id,
    )
