"""Has a chat model grade the best candidates: all in one call, or each in its own, all at once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from chassis.errors import DeadlineExceeded
from chassis.limits.deadlines import time_left
from corpus.chunks import Chunk
from corpus.spans import Span
from services.answer.context import Material, lay_out
from services.answer.contracts import grade
from services.answer.contracts.completion import Completer
from services.answer.records.tasks import Task

MAX_GRADED = 6
"""The best candidates by local evidence are graded. Of 321 natural questions whose answer stands in one of
twelve candidates it stands in one of the first six for 313, and these are 60 % of the words."""
MAX_CHARACTERS = 4_000
"""A chunk that is longer is shown to the end of the last sentence within so many characters."""
TIME_SHARE = 0.4
"""Share of the caller's time that grading may take; the rest is left for the answer, which is up to three
times as long as the grades."""


@dataclass(frozen=True, slots=True)
class Grades:
    """What a model thinks of chunks."""

    by_chunk: Mapping[str, int]
    """1 to 3, by chunk id; a chunk that is not there has grade 0."""
    model: str


@dataclass(frozen=True, slots=True)
class Pool:
    """What is to be graded."""

    question: str
    chunks: Sequence[Chunk]
    cards: Mapping[str, str] = field(default_factory=dict)
    """Of their documents, by id, see `card_of`."""

    def each(self) -> list[Pool]:
        """Every chunk in a pool of its own."""
        return [Pool(self.question, [chunk], self.cards) for chunk in self.chunks]

    def shown(self, code: str) -> Material:
        """What a model is shown, between markers that carry `code`."""
        return lay_out([_beginning(chunk) for chunk in self.chunks], code, self.cards)

    def prompt(self, code: str) -> str:
        """What a model is sent."""
        return grade.prompt(self.question, self.shown(code).text)


async def grade_together(completer: Completer, task: Task, pool: Pool) -> Grades:
    """The grades of all chunks from one call. Raises what `Completer.ask` raises, and `DeadlineExceeded`."""
    async with _in_time():
        return await _ask(completer, task, pool)


async def grade_each(completer: Completer, task: Task, pool: Pool) -> Grades:
    """The grades of all chunks, each from a call of its own; the first call that fails ends the others."""
    try:
        async with _in_time(), asyncio.TaskGroup() as group:
            asked = [group.create_task(_ask(completer, task, part)) for part in pool.each()]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    graded = [call.result() for call in asked]
    by_chunk = {chunk_id: given for grades in graded for chunk_id, given in grades.by_chunk.items()}
    return Grades(by_chunk, graded[0].model)


def _beginning(chunk: Chunk) -> Chunk:
    """The chunk, or as many of its first sentences as may be shown; of an endless sentence the beginning."""
    limit = chunk.span.start + MAX_CHARACTERS
    if chunk.span.end <= limit:
        return chunk
    ends = [sentence.end for sentence in chunk.sentences if sentence.end <= limit]
    return chunk.part(Span(chunk.span.start, max(ends, default=limit)))


async def _ask(completer: Completer, task: Task, pool: Pool) -> Grades:
    material = pool.shown(task.clock.new_code())
    asked = grade.prompt(pool.question, material.text)
    kept = await completer.ask(grade.CONTRACT, asked, grade.rules_for(material.handles), task.ledger)
    best: dict[str, int] = {}
    for given in kept.reply.grades:
        if chunk := material.handles.get(given.chunk):
            best[chunk.chunk_id] = max(given.grade, best.get(chunk.chunk_id, 0))
    return Grades(best, kept.model)


@asynccontextmanager
async def _in_time() -> AsyncIterator[None]:
    """Leaves the answer its share of the caller's time. Raises `DeadlineExceeded`."""
    left = time_left(math.inf)
    try:
        async with asyncio.timeout(None if math.isinf(left) else left * TIME_SHARE):
            yield
    except TimeoutError:
        message = "Grading takes more than its share of the time that the caller has left."
        raise DeadlineExceeded(message) from None
