"""Passages that are chosen without a model."""

from __future__ import annotations

from corpus.spans import Span
from corpus.stems import stems_of
from services.answer.corpus import Background, Candidate, Found, Leg, Window
from services.answer.evidence.grading import GradedCandidate
from services.answer.research.extracting import excerpts
from tests.unit.nouns import a_chunk

FEE = "The licensee shall pay a monthly fee of USD 100 for each device."
LATE = "Whoever is late with the fee of a device pays interest of two per cent a month."
LAW = "This agreement is governed by the laws of the State of Illinois."


def graded(*sentences: str, name: str = "c", start: int = 0) -> GradedCandidate:
    spans, at = [], start
    for sentence in sentences:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    text = "\n".join(sentences)
    whole = Span(start, start + len(text))
    chunk = a_chunk(text, chunk_id=name, alias=name, span=whole, sentences=tuple(spans))
    return GradedCandidate(Candidate(chunk, 0.5, 0.0, 0.8, (Window(whole, 0.5),)), 0.8, 0.8)


def found(question: str) -> Found:
    nothing, background = Leg(0, None), Background(0.6, calibrated=True)
    stems = tuple(stems_of(question))
    return Found("", question, (), nothing, nothing, 0, 0, background, {}, stems, (), "1")


def chosen(*kept: GradedCandidate, question: str = "monthly fee device") -> list[tuple[int, str]]:
    return [(one.start, one.content) for one in excerpts(kept, found(question))]


def test_neighbours_are_joined_as_they_stand() -> None:
    assert chosen(graded(LAW, FEE, LATE, start=1000)) == [(1000 + len(LAW) + 1, f"{FEE}\n{LATE}")]


def test_sentences_apart_stay_apart_with_the_best_one_first() -> None:
    assert [content for _, content in chosen(graded(LATE, LAW, FEE))] == [FEE, LATE]


def test_chunks_are_not_joined_even_where_they_touch() -> None:
    first, second = graded(FEE, name="one"), graded(LATE, name="two", start=len(FEE) + 1)

    assert [content for _, content in chosen(first, second)] == [FEE, LATE]


def test_no_more_than_eight_sentences_are_taken() -> None:
    apart = [text for i in range(12) for text in (f"{FEE[:-1]} {i}.", LAW.replace("Illinois", f"State {i}"))]

    assert len(chosen(graded(*apart))) == 8


def test_nothing_kept_gives_no_passages() -> None:
    assert chosen() == []
