"""Has a chat model grade candidates: all in one call, or each in its own, all at once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from chassis.errors import DeadlineExceeded
from chassis.limits.deadlines import time_left
from corpus.chunks import Chunk
from corpus.spans import Span
from services.answer.context import lay_out_as
from services.answer.contracts import grade
from services.answer.contracts.completion import Completer
from services.answer.records.tasks import Task

MAX_CHARACTERS = 2_000
"""A chunk that is longer is shown as two halves, each of at most so many characters."""
TIME_SHARE = 0.4
"""Share of the caller's time that grading may take; the rest is left for the answer, which is up to three
times as long as the grades."""


@dataclass(frozen=True, slots=True)
class Grades:
    """What a model thinks of chunks."""

    by_chunk: Mapping[str, int]
    """0 to 3, by chunk id."""
    model: str


async def grade_together(completer: Completer, task: Task, question: str, chunks: Sequence[Chunk]) -> Grades:
    """The grades of all chunks from one call. Raises what `Completer.ask` raises, and `DeadlineExceeded`."""
    async with _in_time():
        return await _ask(completer, task, question, passages_of(chunks))


async def grade_each(completer: Completer, task: Task, question: str, chunks: Sequence[Chunk]) -> Grades:
    """The grades of all chunks, each from a call of its own; the first call that fails ends the others."""
    try:
        async with _in_time(), asyncio.TaskGroup() as group:
            asked = [
                group.create_task(_ask(completer, task, question, passages_of([chunk]))) for chunk in chunks
            ]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    graded = [call.result() for call in asked]
    by_chunk = {chunk_id: given for grades in graded for chunk_id, given in grades.by_chunk.items()}
    return Grades(by_chunk, graded[0].model)


def passages_of(chunks: Sequence[Chunk]) -> Mapping[str, Chunk]:
    """What a model is shown, by handle: `c3`, or the halves of a long chunk as `c3a` and `c3b`."""
    return {
        f"c{number}{letter}": part
        for number, chunk in enumerate(chunks, start=1)
        for letter, part in _parts_of(chunk).items()
    }


def prompt_of(question: str, passages: Mapping[str, Chunk], code: str) -> str:
    """What a model is sent to grade passages, between markers that carry `code`."""
    return grade.prompt(question, lay_out_as(passages, code).text)


def _parts_of(chunk: Chunk) -> Mapping[str, Chunk]:
    """The chunk, or its halves, cut where the sentence ends that is nearest to the middle."""
    length = len(chunk.text)
    if length <= MAX_CHARACTERS:
        return {"": chunk}
    start = chunk.span.start
    ends = [sentence.end - start for sentence in chunk.sentences]
    whole = [end for end in ends if length - MAX_CHARACTERS <= end <= MAX_CHARACTERS]
    cut = min(whole, key=lambda end: abs(end - length // 2), default=length // 2)
    return {
        "a": chunk.part(Span(start, start + min(cut, MAX_CHARACTERS))),
        "b": chunk.part(Span(start + cut, start + min(length, cut + MAX_CHARACTERS))),
    }


async def _ask(completer: Completer, task: Task, question: str, passages: Mapping[str, Chunk]) -> Grades:
    asked = prompt_of(question, passages, task.clock.new_code())
    kept = await completer.ask(grade.CONTRACT, asked, grade.rules_for(passages), task.ledger)
    best: dict[str, int] = {}
    for given in kept.reply.grades:
        chunk_id = passages[given.chunk].chunk_id
        best[chunk_id] = max(given.grade, best.get(chunk_id, 0))
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
