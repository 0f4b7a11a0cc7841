from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.answer.answers import GateRule, GateTier
from services.answer.corpus import Candidate
from services.answer.evidence.gate import GateLimits, collapse_near_duplicates, decide_graded, decide_raw
from services.answer.evidence.grading import GradedCandidate
from tests.unit.nouns import a_chunk

LIMITS = GateLimits(threshold=0.20)
scores = st.lists(st.floats(-1, 2, allow_nan=False), max_size=20)


def graded(values, *, limits=LIMITS, enabled=True):
    return decide_graded(values, limits.threshold, limits.min_chunks, enabled=enabled, calibrated=True)


def raw(values, *, enabled=True):
    return decide_raw(values, LIMITS, enabled=enabled)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ([], GateRule.NOTHING_RETRIEVED),
        ([0.19, 0.1], GateRule.BELOW_THRESHOLD),
        ([0.20], GateRule.PASSED),
        ([0.1, 0.9], GateRule.PASSED),
    ],
)
def test_graded_evidence_must_reach_the_threshold(values, rule):
    decision = graded(values)
    assert (decision.rule, decision.passed, decision.tier) == (rule, rule is GateRule.PASSED, GateTier.GRADED)


def test_enough_chunks_must_reach_the_threshold():
    decision = graded([0.9, 0.3, 0.1], limits=GateLimits(threshold=0.20, min_chunks=3))
    assert (decision.rule, decision.chunks_above_threshold) == (GateRule.TOO_FEW_CHUNKS, 2)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ([], GateRule.NOTHING_RETRIEVED),
        ([0.05], GateRule.SCORE_TOO_LOW),
        ([0.051], GateRule.PASSED),
        ([0.05, 0.01], GateRule.SCORE_TOO_LOW),
        ([0.5, 0.45], GateRule.RATIO_TOO_LOW),
        ([0.6, 0.5], GateRule.PASSED),
        ([0.1, 0.6, 0.5], GateRule.PASSED),
        ([0.6, 0.0], GateRule.PASSED),
        ([0.6, -0.2], GateRule.PASSED),
    ],
)
def test_raw_scores_must_be_high_and_stand_out(values, rule):
    decision = raw(values)
    assert (decision.rule, decision.passed, decision.tier) == (rule, rule is GateRule.PASSED, GateTier.RAW)


def test_ratio_is_reported_when_there_are_two():
    assert raw([0.6, 0.4]).ratio == pytest.approx(1.5)
    assert raw([0.6]).ratio is None


@settings(deadline=None)
@given(scores)
def test_a_gate_that_is_off_refuses_only_when_nothing_was_retrieved(values):
    for decision in (graded(values, enabled=False), raw(values, enabled=False)):
        assert decision.passed == bool(values)
        assert not decision.enabled


@settings(deadline=None)
@given(scores, st.floats(0, 2, allow_nan=False))
def test_more_evidence_never_turns_a_graded_answer_into_a_refusal(values, more):
    assert graded([*values, more]).passed >= graded(values).passed


@settings(deadline=None)
@given(scores, st.randoms())
def test_the_order_of_candidates_does_not_matter(values, random):
    shuffled = random.sample(values, len(values))
    assert graded(shuffled) == graded(values)
    assert raw(shuffled) == raw(values)


def chunk(text: str) -> GradedCandidate:
    part = a_chunk(text, chunk_id="id", alias="alias", document_id="a/b")
    return GradedCandidate(Candidate(part, 0.5, 0.0, 0.5, ()), 0.5, 0.5)


def words(start: int, end: int) -> str:
    return " ".join(f"word{i}" for i in range(start, end))


def test_a_chunk_that_says_the_same_again_is_collapsed_into_the_first():
    first, again, other = chunk(words(0, 300)), chunk(words(2, 301)), chunk(words(500, 800))
    assert collapse_near_duplicates([first, again, other]) == (first, other)


def test_neighbours_that_overlap_by_two_sentences_are_both_kept():
    first, neighbour = chunk(words(0, 300)), chunk(words(250, 550))
    assert collapse_near_duplicates([first, neighbour]) == (first, neighbour)


def test_chunks_of_a_few_words_are_compared_as_well():
    assert len(collapse_near_duplicates([chunk("USD 10"), chunk("usd 10"), chunk("USD 11"), chunk("")])) == 3
