"""The figures of merit on small cases worked out by hand, and their laws."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.metrics import Passage, auroc, character_overlap, first_hit, hit, mean, meets, refused_at

SCORES = st.lists(st.floats(-1, 2), min_size=1, max_size=30)
PASSAGES = st.lists(
    st.builds(
        lambda document, start, length: Passage(document, start, start + length),
        st.sampled_from(["a", "b"]),
        st.integers(0, 50),
        st.integers(1, 30),
    ),
    min_size=1,
    max_size=8,
)


def test_half_of_the_shorter_passage_is_enough_to_meet():
    assert meets(Passage("a", 0, 100), Passage("a", 95, 105))


def test_less_than_half_of_the_shorter_passage_does_not_meet():
    assert not meets(Passage("a", 0, 100), Passage("a", 96, 105))


def test_passages_of_different_documents_never_meet():
    assert not meets(Passage("a", 0, 10), Passage("b", 0, 10))


def test_an_empty_passage_meets_nothing():
    assert not meets(Passage("a", 5, 5), Passage("a", 0, 10))


def test_first_hit_counts_ranks_from_one():
    found = [Passage("a", 0, 10), Passage("a", 20, 30), Passage("a", 40, 50)]
    assert first_hit(found, [Passage("a", 22, 28)]) == 2


def test_first_hit_is_none_without_a_hit():
    assert first_hit([Passage("a", 0, 10)], [Passage("a", 50, 60)]) is None


def test_characters_found_twice_count_once():
    overlap = character_overlap(
        [Passage("a", 0, 10), Passage("a", 5, 15)], [Passage("a", 10, 20), Passage("b", 0, 10)]
    )
    assert (overlap.recall, overlap.precision) == (5 / 20, 5 / 15)


def test_f1_is_the_harmonic_mean():
    overlap = character_overlap([Passage("a", 0, 10)], [Passage("a", 0, 30)])
    assert overlap.f1 == pytest.approx(0.5)


def test_nothing_found_has_no_overlap():
    assert character_overlap([], [Passage("a", 0, 5)]).f1 == 0


@given(PASSAGES)
def test_gold_found_whole_is_perfect(gold):
    overlap = character_overlap(gold, gold)
    assert (overlap.recall, overlap.precision) == (1, 1)


@given(PASSAGES, PASSAGES)
def test_finding_more_never_lowers_recall_or_hits(found, gold):
    assert character_overlap(found, gold).recall >= character_overlap(found[:-1], gold).recall
    assert hit(found, gold) >= hit(found[:-1], gold)


def test_auroc_counts_ties_half():
    assert auroc([0.9, 0.5], [0.5, 0.1]) == pytest.approx(3.5 / 4)


@given(SCORES, SCORES)
def test_swapping_the_classes_mirrors_auroc(positives, negatives):
    assert auroc(positives, negatives) == pytest.approx(1 - auroc(negatives, positives))


def test_refused_share_is_read_at_the_asked_false_refusals():
    positives = [n / 100 for n in range(100)]
    assert refused_at(positives, [0.01, 0.049, 0.05, 0.7], 0.05) == 0.5


@given(SCORES, SCORES, st.floats(0, 1))
def test_the_threshold_keeps_false_refusals_within_the_share(positives, negatives, share):
    assert 0 <= refused_at(positives, negatives, share) <= 1
    assert refused_at(positives, positives, share) <= share


def test_figures_without_cases_are_not_a_number():
    assert math.isnan(mean([]))
    assert math.isnan(auroc([], [1.0]))
    assert math.isnan(refused_at([1.0], [], 0.05))
