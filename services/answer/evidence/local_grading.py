"""Grades candidates without a chat model: by local evidence, and by the reader where there is one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chassis.errors import ServiceError
from inference.reading.model import ReadingModel
from services.answer.corpus import Candidate, Found
from services.answer.evidence import grading
from services.answer.evidence.grading import LOCAL_GRADER, GradedCandidate
from services.answer.evidence.readings import READ_CHUNKS, passages_of, with_readings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LocalGrades:
    """The candidates with their grades."""

    ranked: tuple[GradedCandidate, ...]
    """Best first."""
    grader: str
    """`local`, or the reader's name."""
    failure: str = ""
    """Reason why the reader has read nothing, so that local evidence graded alone; empty otherwise."""


class LocalGrader:
    """Grades what was found. What the reader cannot read in time is graded without it."""

    def __init__(self, reader: ReadingModel | None = None) -> None:
        self._reader = reader

    async def grade(self, found: Found) -> LocalGrades:
        """Every candidate with its grade."""
        ranked = grading.grade_locally(found)
        if self._reader is None or not ranked:
            return LocalGrades(ranked, LOCAL_GRADER)
        best = [graded.candidate for graded in ranked[:READ_CHUNKS]]
        others = [with_readings(graded.candidate, ()) for graded in ranked[READ_CHUNKS:]]
        try:
            read = await self._read(self._reader, found.clause_question, best)
        except ServiceError as error:
            logger.warning("the reader has not read", extra={"reason": error.reason})
            return LocalGrades(ranked, LOCAL_GRADER, error.reason)
        candidates = (*read, *others)
        return LocalGrades(grading.grade_locally(replace(found, candidates=candidates)), self._reader.name)

    async def _read(
        self, reader: ReadingModel, question: str, candidates: Sequence[Candidate]
    ) -> list[Candidate]:
        passages = [passages_of(candidate) for candidate in candidates]
        readings = iter(await reader.read(question, [passage for own in passages for passage in own]))
        return [
            with_readings(candidate, [next(readings) for _ in own])
            for candidate, own in zip(candidates, passages, strict=True)
        ]
