from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from corpus.spans import Span
from inference.reading.model import Reading
from services.answer.corpus import Candidate, Window
from services.answer.evidence.readings import (
    CHUNK_WEIGHT,
    RANK_WEIGHT,
    SENTENCE_WEIGHT,
    UNREAD,
    passages_of,
    rank_gain,
    sentence_gain,
    with_readings,
)
from tests.unit.nouns import a_chunk

START = 100
TEXT = "Fees are due monthly. They are paid in dollars. Notices go by post."
FEES, DOLLARS, POST = Span(100, 121), Span(122, 147), Span(148, 167)
FIRST, SECOND = Span(100, 147), Span(122, 167)


def candidate(*windows: Span) -> Candidate:
    chunk = a_chunk(TEXT, span=Span(START, START + len(TEXT)), sentences=(FEES, DOLLARS, POST))
    return Candidate(chunk, 0.5, 0.0, 0.5, tuple(Window(window, 0.5) for window in windows))


def test_passages_are_the_windows_with_their_sentences_counted_from_their_beginning():
    first, second = passages_of(candidate(FIRST, SECOND))
    assert (first.text, first.sentences) == (TEXT[:47], (Span(0, 21), Span(22, 47)))
    assert (second.text, second.sentences) == (TEXT[22:], (Span(0, 25), Span(26, 45)))


def test_sentence_that_a_window_cuts_is_read_as_far_as_it_stands_there():
    (passage,) = passages_of(candidate(Span(105, 130)))
    assert passage.text == TEXT[5:30]
    assert passage.sentences == (Span(0, 16), Span(17, 25))


def test_candidate_without_windows_is_read_as_a_whole():
    (passage,) = passages_of(candidate())
    assert passage.text == TEXT


def test_the_best_window_counts_for_the_chunk_and_for_a_sentence_in_several():
    read = with_readings(
        candidate(FIRST, SECOND), [Reading(-1.0, (0.5, -2.0)), Reading(2.0, (1.5, None))]
    ).reading
    assert read is not None
    assert read.answers == 2.0
    assert read.sentences == {FEES: 0.5, DOLLARS: 1.5}


def test_without_a_reader_nothing_is_added():
    assert rank_gain(candidate(FIRST)) == 0
    assert sentence_gain(candidate(FIRST), FEES) == 0


def test_chunk_that_was_not_read_beside_others_counts_as_one_that_hardly_answers():
    unread = with_readings(candidate(FIRST), ())
    assert rank_gain(unread) == RANK_WEIGHT * UNREAD
    assert sentence_gain(unread, FEES) == (CHUNK_WEIGHT + SENTENCE_WEIGHT) * UNREAD


logits = st.floats(-8, 8)


@given(logits, logits, logits)
def test_what_is_added_rises_with_the_logits(answers, lower, higher):
    lower, higher = sorted((lower, higher))
    read = with_readings(candidate(FIRST), [Reading(answers, (lower, higher))])
    assert sentence_gain(read, FEES) <= sentence_gain(read, DOLLARS)
    assert rank_gain(read) == RANK_WEIGHT * answers
