"""What the reader is worth on the chunks that search found, alone and with the score that ranks today.

Measures are those of the natural questions: how well the best window tells questions with an answer from near
misses, whether the first chunk holds the answer, and whether the best sentences are the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.metrics import Passage, auroc, hit, mean, refused_at
from training.examples import Example, Group, Window, evidence_in
from training.found import Found, FoundChunk
from training.scores import Scores
from training.sets import Question

WEIGHTS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
"""Of today's score beside the reader's logit, to choose from; a logit ranges over ten or so."""
NOTHING_FOUND = -100.0
"""Stands for the score of a question without candidates; below every real one."""


@dataclass(frozen=True, slots=True)
class ReadWindow:
    """A window and what the reader says of it."""

    window: Window
    answers: float
    sentences: tuple[float, ...]
    """One logit for each sentence of the window that the reader saw."""


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question, what search found for it, and what the reader says of that."""

    question: Question
    found: Found
    windows: tuple[tuple[ReadWindow, ...], ...]
    """Of each chunk found."""

    @property
    def gold(self) -> list[Passage]:
        """Where the answer stands."""
        return [Passage(self.question.document, span.start, span.end) for span in self.question.gold]

    def gate(self, weight: float) -> float:
        """The best logit of all windows, with today's score of the question added."""
        best = max((read.answers for chunk in self.windows for read in chunk), default=NOTHING_FOUND)
        return best + weight * self.found.gate

    def first_chunk_is_right(self, weight: float) -> bool:
        """Whether the chunk with the best window, today's score of the chunk added, holds the answer."""
        scores = [
            max((read.answers for read in windows), default=NOTHING_FOUND) + weight * chunk.score
            for chunk, windows in zip(self.found.chunks, self.windows, strict=True)
        ]
        return bool(scores) and hit([_passage(self.found.chunks[int(np.argmax(scores))])], self.gold)

    def sentences(self, weight: float) -> list[Passage]:
        """All sentences, best first: by their own logit, their window's and today's score of their chunk."""
        scores: dict[Passage, float] = {}
        for chunk, windows in zip(self.found.chunks, self.windows, strict=True):
            for read in windows:
                for sentence, logit in zip(read.window.passage.sentences, read.sentences, strict=False):
                    start = read.window.start
                    place = Passage(chunk.document, start + sentence.start, start + sentence.end)
                    score = logit + read.answers + weight * chunk.score
                    scores[place] = max(score, scores.get(place, -np.inf))
        return sorted(scores, key=lambda place: -scores[place])


def groups_to_read(questions: Sequence[Question], found: Mapping[str, Found]) -> Iterator[Group]:
    """A group of all windows for each question for which search found something, in order.

    It asks without the words that name the documents: search has gone by them already.
    """
    for question in questions:
        asked = found[question.question_id]
        examples = [
            Example(
                window.passage,
                evidence_in(window, question.gold) if chunk.document == question.document else frozenset(),
            )
            for chunk in asked.chunks
            for window in chunk.read_windows()
        ]
        if examples:
            yield Group(asked.clause_question, tuple(examples), "found")


def read_questions(
    questions: Sequence[Question], found: Mapping[str, Found], scores: Scores
) -> list[ReadQuestion]:
    """The questions with the scores of the rows that `groups_to_read` made of their windows."""
    rows = iter(range(len(scores.answers)))

    def read(window: Window) -> ReadWindow:
        row = next(rows)
        return ReadWindow(window, float(scores.answers[row]), tuple(scores.sentences_of(row).tolist()))

    return [
        ReadQuestion(
            question,
            found[question.question_id],
            tuple(
                tuple(read(window) for window in chunk.read_windows())
                for chunk in found[question.question_id].chunks
            ),
        )
        for question in questions
    ]


def gate_figures(questions: Sequence[ReadQuestion], weight: float) -> dict[str, float]:
    """How well the gate tells questions with an answer from the others."""
    answerable = [read.gate(weight) for read in questions if read.question.gold]
    silent = [read.gate(weight) for read in questions if not read.question.gold]
    return {
        "AUROC": auroc(answerable, silent),
        "refused at 5 %": refused_at(answerable, silent, 0.05),
        "refused at 8 %": refused_at(answerable, silent, 0.08),
    }


def finding_figures(questions: Sequence[ReadQuestion], weight: float) -> dict[str, float]:
    """Of questions with an answer: how often chunks and sentences that come first are right."""
    answerable = [read for read in questions if read.question.gold]
    best = [read.sentences(weight) for read in answerable]
    return {
        "first chunk": mean(read.first_chunk_is_right(weight) for read in answerable),
        "one of five chunks": mean(
            hit([_passage(chunk) for chunk in read.found.chunks], read.gold) for read in answerable
        ),
        "first sentence": mean(hit(own[:1], read.gold) for own, read in zip(best, answerable, strict=True)),
        "one of three sentences": mean(
            hit(own[:3], read.gold) for own, read in zip(best, answerable, strict=True)
        ),
    }


def today_figures(questions: Sequence[ReadQuestion]) -> dict[str, float]:
    """The same of the product's own scores, as far as they say it."""
    answerable = [read.found.gate for read in questions if read.question.gold]
    silent = [read.found.gate for read in questions if not read.question.gold]
    first = [
        bool(read.found.chunks) and hit([_passage(read.found.chunks[0])], read.gold)
        for read in questions
        if read.question.gold
    ]
    return {
        "AUROC": auroc(answerable, silent),
        "refused at 5 %": refused_at(answerable, silent, 0.05),
        "refused at 8 %": refused_at(answerable, silent, 0.08),
        "first chunk": mean(first),
    }


@dataclass(frozen=True, slots=True)
class TodaysWeight:
    """What today's score counts beside the reader's logit: where questions are refused, where chunks rank."""

    gate: float
    rank: float


def best_weight(questions: Sequence[ReadQuestion]) -> TodaysWeight:
    """With it AUROC is best, and the first chunk is most often right; the smaller one of equals."""
    return TodaysWeight(
        gate=max(WEIGHTS, key=lambda weight: gate_figures(questions, weight)["AUROC"]),
        rank=max(WEIGHTS, key=lambda weight: finding_figures(questions, weight)["first chunk"]),
    )


def _passage(chunk: FoundChunk) -> Passage:
    return Passage(chunk.document, chunk.start, chunk.start + len(chunk.text))
