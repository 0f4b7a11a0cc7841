import pytest

from corpus.spans import Span
from inference.reading.model import Passage
from training.examples import Example, Window, evidence_in, touches

FEES = Passage("Fees are due in May. They double in June.", (Span(0, 20), Span(21, 41)))
WINDOW = Window(100, FEES)


def test_a_window_ends_after_its_text():
    assert WINDOW.end == 141


@pytest.mark.parametrize(
    ("gold", "evidence"),
    [
        ([Span(100, 120)], {0}),
        ([Span(121, 141)], {1}),
        ([Span(90, 150)], {0, 1}),
        ([Span(100, 110), Span(130, 141)], {0, 1}),
        ([Span(118, 133)], {1}),
        ([Span(0, 20)], set()),
        ([], set()),
    ],
)
def test_sentences_that_share_half_of_the_shorter_with_a_gold_span_are_evidence(gold, evidence):
    assert evidence_in(WINDOW, gold) == evidence


def test_a_window_touches_a_gold_span_whose_last_code_point_it_holds():
    assert touches(WINDOW, [Span(90, 101)])
    assert not touches(WINDOW, [Span(90, 100)])
    assert not touches(WINDOW, [Span(141, 150)])


def test_without_its_evidence_a_passage_answers_nothing_and_keeps_the_rest():
    rest = Example(FEES, frozenset({0})).without_evidence()
    assert rest == Example(FEES, frozenset(), omitted=frozenset({0}))
    assert not rest.answers


@pytest.mark.parametrize("evidence", [frozenset(), frozenset({0, 1})])
def test_nothing_is_left_of_a_passage_without_evidence_or_of_evidence_alone(evidence):
    assert Example(FEES, evidence).without_evidence() is None
