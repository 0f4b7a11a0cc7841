"""Grades candidates without a chat model: by local evidence, and by the reader where there is one."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from chassis.errors import ServiceError
from inference.reading.model import ReadingModel
from services.answer.corpus import Found
from services.answer.evidence import grading
from services.answer.evidence.grading import LOCAL_GRADER, GradedCandidate
from services.answer.evidence.readings import windows_to_read, with_readings

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
        candidates = [graded.candidate for graded in ranked]
        windows = windows_to_read(candidates)
        try:
            readings = await self._reader.read(found.clause_question, [window.passage for window in windows])
        except ServiceError as error:
            logger.warning("the reader has not read", extra={"reason": error.reason})
            return LocalGrades(ranked, LOCAL_GRADER, error.reason)
        read = list(zip(windows, readings, strict=True))
        candidates = [with_readings(candidate, read) for candidate in candidates]
        regraded = grading.grade_locally(replace(found, candidates=tuple(candidates)))
        return LocalGrades(regraded, self._reader.name)
