from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from corpus.spans import Span
from inference.reading.model import Reading
from services.answer.corpus import Candidate, ChunkReading, Window
from services.answer.evidence.readings import (
    READ_CHUNKS,
    READ_WINDOWS,
    UNREAD_CHUNK,
    ReadWindow,
    evidence_read,
    rank_gain,
    sentence_gain,
    windows_to_read,
    with_readings,
)
from tests.unit.nouns import a_chunk

START = 100
TEXT = "Fees are due monthly. They are paid in dollars. Notices go by post."
FEES, DOLLARS, POST = Span(100, 121), Span(122, 147), Span(148, 167)
FIRST, SECOND = Span(100, 147), Span(122, 167)


def candidate(*windows: Span, similarities: tuple[float, ...] = (0.5, 0.5)) -> Candidate:
    chunk = a_chunk(TEXT, span=Span(START, START + len(TEXT)), sentences=(FEES, DOLLARS, POST))
    shown = zip(windows, similarities, strict=False)
    return Candidate(chunk, 0.5, 0.0, 0.5, tuple(Window(*window) for window in shown))


def with_windows(*similarities: float) -> Candidate:
    """A candidate whose windows are told apart by their similarity."""
    return candidate(*[FIRST] * len(similarities), similarities=similarities)


def similarities_of(windows: list[ReadWindow]) -> list[float]:
    return [window.similarity for window in windows]


def test_passages_are_the_windows_with_their_sentences_counted_from_their_beginning():
    first, second = (window.passage for window in windows_to_read([candidate(FIRST, SECOND)]))
    assert (first.text, first.sentences) == (TEXT[:47], (Span(0, 21), Span(22, 47)))
    assert (second.text, second.sentences) == (TEXT[22:], (Span(0, 25), Span(26, 45)))


def test_sentence_that_a_window_cuts_is_read_as_far_as_it_stands_there():
    (window,) = windows_to_read([candidate(Span(105, 130))])
    assert window.passage.text == TEXT[5:30]
    assert window.passage.sentences == (Span(0, 16), Span(17, 25))


def test_candidate_without_windows_is_read_as_a_whole():
    (window,) = windows_to_read([candidate()])
    assert window.passage.text == TEXT


def test_the_best_window_of_each_chunk_is_read_before_the_second_best_of_any():
    ranked = [with_windows(0.1, 0.2), with_windows(0.9, 0.8, 0.7), with_windows(0.05)]
    assert similarities_of(windows_to_read(ranked)) == [0.2, 0.9, 0.05, 0.8, 0.7, 0.1]


@given(st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=6), max_size=12))
def test_no_more_is_read_than_the_best_windows_of_the_best_chunks(similarities):
    ranked = [with_windows(*own) for own in similarities]
    windows = windows_to_read(ranked)
    read = {id(window.candidate) for window in windows}
    assert len(windows) == min(READ_WINDOWS, sum(map(len, similarities[:READ_CHUNKS])))
    assert read == {id(candidate) for candidate in ranked[:READ_CHUNKS]}
    left_out = [s for own in similarities[:READ_CHUNKS] for s in own]
    for similarity in similarities_of(windows):
        left_out.remove(similarity)
    assert max(left_out, default=-1) <= min(similarities_of(windows)[READ_CHUNKS:], default=1)


def test_the_best_window_counts_for_the_chunk_and_for_a_sentence_in_several():
    both = candidate(FIRST, SECOND)
    readings = [Reading(-1.0, (0.5, -2.0)), Reading(2.0, (1.5, None))]
    read = with_readings(both, list(zip(windows_to_read([both]), readings, strict=True))).reading
    assert read is not None
    assert read.answers == 2.0
    assert read.sentences == {FEES: 0.5, DOLLARS: 1.5}


def test_what_was_read_in_other_chunks_says_nothing_of_this_one():
    other = candidate(FIRST)
    read = [(window, Reading(3.0, (1.0, 1.0))) for window in windows_to_read([other])]
    assert with_readings(candidate(FIRST), read).reading == ChunkReading(UNREAD_CHUNK, {})


def test_without_a_reader_nothing_changes():
    assert rank_gain(candidate(FIRST)) == 0
    assert sentence_gain(candidate(FIRST), FEES) == 0
    assert evidence_read(0.3, candidate(FIRST)) == 0.3


def test_chunk_that_was_not_read_beside_others_gains_nothing():
    unread = with_readings(candidate(FIRST), ())
    assert rank_gain(unread) == 0
    assert sentence_gain(unread, FEES) == 0


logits = st.floats(-16, 8)


@given(logits, logits, logits, st.floats(-1, 2))
def test_what_is_added_rises_with_the_logits(answers, lower, higher, evidence):
    lower, higher = sorted((lower, higher))
    one = candidate(FIRST)
    windows = windows_to_read([one])
    read, better = (
        with_readings(one, [(window, Reading(logit, (lower, higher))) for window in windows])
        for logit in (answers, answers + 1)
    )
    assert sentence_gain(read, FEES) <= sentence_gain(read, DOLLARS)
    assert rank_gain(read) < rank_gain(better)
    assert evidence_read(evidence, read) < evidence_read(evidence, better)
