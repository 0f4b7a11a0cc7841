from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.spans import Span
from services.answer.corpus import Background, Candidate, Found, Leg
from services.answer.evidence import grading
from services.answer.evidence.grading import GradedCandidate
from tests.unit.nouns import a_chunk

CALIBRATED = Background(mean=0.6, calibrated=True)
evidence = st.floats(-1, 2, allow_nan=False)


def candidate(combined: float, document_id: str = "cme/a.txt", similarity: float = 0.5) -> Candidate:
    chunk = a_chunk(
        "The fee is due monthly.",
        chunk_id=f"{document_id}-{combined}",
        alias="alias",
        document_id=document_id,
        source="cme",
        title="Agreement",
        section="Section 1 of 1",
        span=Span(0, 23),
        sentences=(Span(0, 23),),
    )
    return Candidate(chunk, similarity, bm25=1.0, combined=combined, windows=())


def found(
    *candidates: Candidate, background: Background = CALIBRATED, routed: dict[str, float] | None = None
):
    return Found(
        normalized_query="fee",
        clause_question="fee",
        candidates=candidates,
        vector=Leg(0, None),
        keyword=Leg(0, None),
        merged_count=0,
        unique_chunks=0,
        background=background,
        routed=routed or {},
        keyword_stems=("fee",),
        lexicon_stems=(),
        index_revision="1",
    )


def ranked(*scores: float) -> tuple[GradedCandidate, ...]:
    return tuple(GradedCandidate(candidate(score), score, rank_score=score) for score in scores)


@pytest.mark.parametrize(
    ("evidence", "grade"),
    [(0.19, 0), (0.20, 1), (0.39, 1), (0.40, 2), (0.49, 2), (0.50, 3), (1.4, 3), (-1.0, 0)],
)
def test_bands_of_evidence_are_the_measured_ones(evidence, grade):
    assert grading.grade_of(evidence) == grade


@settings(deadline=None)
@given(evidence, evidence)
def test_grade_and_probability_never_fall_with_evidence(left, right):
    low, high = sorted((left, right))
    assert grading.grade_of(low) <= grading.grade_of(high)
    assert 0 < grading.probability_of(low) <= grading.probability_of(high) < 1


def test_probability_follows_the_fitted_curve():
    assert grading.probability_of(0.5) == pytest.approx(1 / (1 + math.exp(4.86 - 4.655)))


def test_half_of_the_background_is_taken_off():
    assert grading.evidence_of(0.9, CALIBRATED) == pytest.approx(0.6)


def test_without_calibration_a_fixed_offset_is_taken_off():
    assert grading.evidence_of(0.9, Background(mean=0.0, calibrated=False)) == pytest.approx(0.59)


def test_candidates_are_ordered_by_combined_evidence():
    graded = grading.grade_locally(found(candidate(0.4), candidate(0.9), candidate(0.6)))
    assert [one.candidate.combined for one in graded] == [0.9, 0.6, 0.4]


def test_a_document_that_the_question_names_less_well_ranks_lower():
    near, far = candidate(0.7, "cme/named.txt"), candidate(0.8, "cme/other.txt")
    graded = grading.grade_locally(found(far, near, routed={"cme/named.txt": 1.0, "cme/other.txt": 0.7}))
    assert [one.candidate for one in graded] == [near, far]


def test_without_grading_candidates_are_ordered_by_raw_cosine_and_have_no_grade():
    graded = grading.rank_by_similarity(found(candidate(0.9, similarity=0.1), candidate(0.2, similarity=0.7)))
    assert [(one.score, one.grade, one.probability) for one in graded] == [
        (0.7, None, None),
        (0.1, None, None),
    ]


def test_without_grading_raw_bm25_can_be_chosen():
    strong = dataclasses.replace(candidate(0.1), bm25=9.0)
    graded = grading.rank_by_similarity(found(candidate(0.9), strong), use_bm25=True)
    assert [one.score for one in graded] == [9.0, 1.0]


def test_chunks_below_the_share_of_the_best_are_dropped():
    assert [one.score for one in grading.keep(ranked(1.0, 0.8, 0.79), 0.8, 5)] == [1.0, 0.8]


def test_no_more_chunks_are_kept_than_allowed():
    assert len(grading.keep(ranked(*[1.0] * 9), 0.8, 5)) == 5


def test_nothing_is_kept_of_nothing():
    assert grading.keep((), 0.8, 5) == ()


def test_a_best_score_below_zero_keeps_the_best_alone():
    assert [one.score for one in grading.keep(ranked(-0.1, -0.1, -0.2), 0.8, 5)] == [-0.1]


@settings(deadline=None)
@given(st.lists(st.floats(-1, 2, allow_nan=False), min_size=1, max_size=20), st.integers(1, 6))
def test_what_is_kept_is_a_prefix_with_the_best_in_it(scores, at_most):
    everything = ranked(*sorted(scores, reverse=True))
    kept = grading.keep(everything, 0.8, at_most)
    assert 1 <= len(kept) <= at_most
    assert kept == everything[: len(kept)]


def graded(grades: dict[float, int]) -> tuple[GradedCandidate, ...]:
    """Candidates with this local evidence and these grades of a model."""
    pool = found(*map(candidate, grades))
    local = grading.grade_locally(pool)
    return grading.apply_grades(local, {f"cme/a.txt-{combined}": grade for combined, grade in grades.items()})


def test_a_models_grades_order_candidates_and_local_evidence_breaks_ties():
    assert [(one.candidate.combined, one.grade, one.score) for one in graded({0.3: 2, 0.6: 2, 0.1: 3})] == [
        (0.1, 3, 3.0),
        (0.6, 2, 2.0),
        (0.3, 2, 2.0),
    ]


def test_what_a_model_gave_no_grade_has_grade_0():
    local = grading.grade_locally(found(candidate(0.3)))
    assert [(one.grade, one.score) for one in grading.apply_grades(local, {})] == [(0, 0.0)]


def test_a_models_grade_is_no_probability():
    assert [one.probability for one in graded({0.3: 2})] == [None]


def test_candidates_that_a_model_gave_the_grade_are_kept_up_to_the_limit():
    pool = graded({0.1 * i: 3 if i < 6 else 1 for i in range(8)})
    assert len(grading.keep_graded(pool, threshold=2, at_most=5)) == 5
    assert len(grading.keep_graded(pool, threshold=2, at_most=8)) == 6


def test_where_no_candidate_has_the_grade_the_best_alone_is_kept():
    pool = graded({0.5: 0, 0.4: 1})
    assert [one.candidate.combined for one in grading.keep_graded(pool, threshold=2, at_most=5)] == [0.4]
    assert grading.keep_graded((), threshold=2, at_most=5) == ()
