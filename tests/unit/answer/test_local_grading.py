from __future__ import annotations

import dataclasses

import pytest

from chassis.errors import Unavailable
from inference.reading.model import Reading
from services.answer.corpus import Background, Candidate, Found, Leg
from services.answer.evidence.local_grading import LocalGrader
from services.answer.evidence.readings import READ_CHUNKS
from tests.unit.nouns import a_chunk

EVIDENCE = (0.80, 0.79, 0.78, 0.77, 0.76, 0.75, 0.74)


def candidate(number: int) -> Candidate:
    chunk = a_chunk(f"Passage {number}.", chunk_id=str(number))
    return Candidate(chunk, 0.5, 0.0, EVIDENCE[number], ())


FOUND = Found(
    normalized_query="fee",
    clause_question="Which fee?",
    candidates=tuple(map(candidate, range(len(EVIDENCE)))),
    vector=Leg(0, None),
    keyword=Leg(0, None),
    merged_count=0,
    unique_chunks=0,
    background=Background(0.0, calibrated=False),
    routed={},
    keyword_stems=(),
    lexicon_stems=(),
    index_revision="1",
)
NOTHING = dataclasses.replace(FOUND, candidates=())


class ReaderLost(Unavailable):
    reason = "UPSTREAM_UNAVAILABLE"


class Preferring:
    """A reader that finds an answer in one passage alone."""

    name = "reader-made-up"

    def __init__(self, text: str = "") -> None:
        self._text = text
        self.asked: list[tuple[str, list[str]]] = []

    async def read(self, question, passages):
        self.asked.append((question, [passage.text for passage in passages]))
        return [
            Reading(5.0 if passage.text == self._text else -5.0, (0.0,) * len(passage.sentences))
            for passage in passages
        ]


class Lost(Preferring):
    async def read(self, question, passages):
        raise ReaderLost("no time")


def order(grades) -> list[str]:
    return [graded.candidate.chunk.chunk_id for graded in grades.ranked]


async def test_without_a_reader_local_evidence_grades():
    grades = await LocalGrader().grade(FOUND)
    assert (order(grades), grades.grader, grades.failure) == ([*"0123456"], "local", "")


async def test_the_reader_is_asked_the_question_about_the_best_chunks():
    reader = Preferring()
    await LocalGrader(reader).grade(FOUND)
    assert reader.asked == [("Which fee?", [f"Passage {number}." for number in range(READ_CHUNKS)])]


@pytest.mark.parametrize("preferred", range(READ_CHUNKS))
async def test_the_chunk_that_the_reader_prefers_comes_first_and_its_name_is_told(preferred):
    grades = await LocalGrader(Preferring(f"Passage {preferred}.")).grade(FOUND)
    assert order(grades)[0] == str(preferred)
    assert sorted(order(grades)) == [*"0123456"]
    assert (grades.grader, grades.failure) == ("reader-made-up", "")


async def test_reader_that_does_not_read_is_told_and_local_evidence_grades_alone():
    grades = await LocalGrader(Lost()).grade(FOUND)
    assert grades.ranked == (await LocalGrader().grade(FOUND)).ranked
    assert (grades.grader, grades.failure) == ("local", "UPSTREAM_UNAVAILABLE")


async def test_nothing_found_is_not_read():
    reader = Preferring()
    grades = await LocalGrader(reader).grade(NOTHING)
    assert (grades.ranked, reader.asked) == ((), [])
