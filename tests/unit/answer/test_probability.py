from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.spans import Span
from services.answer.corpus import Background, Candidate, ChunkReading, Found, Leg
from services.answer.evidence.extraction import rank_sentences
from services.answer.evidence.grading import grade_locally
from services.answer.evidence.probability import (
    Calibration,
    calibration_of,
    read_calibrations,
    set_of,
    signs_of,
)
from tests.unit.nouns import a_chunk

FEE = "The Licensee shall pay a monthly fee of USD 100."
MODEL = Calibration(bias=-1.0, weights={"words": 2.0}, evidence_needed=0.15, answered_from=0.7)


def candidate(text, name="fees"):
    chunk = a_chunk(
        text, chunk_id=name, document_id="cme/a.txt", source="cme", sentences=(Span(0, len(text)),)
    )
    return Candidate(chunk, similarity=0.6, bm25=1.0, combined=0.9, windows=())


def found(*candidates, mean=0.0, keyword_stems=("fee", "month", "insur"), lexicon_stems=()):
    return Found(
        normalized_query="",
        clause_question="What is the monthly fee?",
        candidates=candidates,
        vector=Leg(0, None),
        keyword=Leg(0, None),
        merged_count=0,
        unique_chunks=0,
        background=Background(mean, calibrated=True),
        routed={},
        keyword_stems=keyword_stems,
        lexicon_stems=lexicon_stems,
        index_revision="1",
    )


def signs(of):
    kept = grade_locally(of)
    return signs_of(rank_sentences(kept, of), kept, of)


def test_signs_tell_what_was_asked_and_what_stands_where():
    told = signs(found(candidate(FEE), lexicon_stems=("fee", "cost")))
    assert told["words in sentence and heading"] == pytest.approx(2 / 3)
    assert (told["topic named"], told["asks for a figure"]) == (1.0, 1.0)
    assert told["sentence similarity"] == 0.6


def test_a_sentence_without_others_stands_out_wholly():
    assert signs(found(candidate(FEE)))["sentence stands out"] == 1.0


def test_two_sentences_that_score_alike_do_not_stand_out():
    twice = found(
        candidate(FEE), candidate(FEE.replace("monthly", "yearly"), "yearly"), keyword_stems=("fee",)
    )
    assert signs(twice)["sentence stands out"] == pytest.approx(0.5, abs=0.05)


def test_a_reader_adds_what_it_says_of_the_sentence_and_of_its_chunk():
    read = replace(candidate(FEE), reading=ChunkReading(1.5, {Span(0, len(FEE)): 2.5}))
    told = signs(found(read))
    assert (told["reader of passage"], told["reader of sentence"]) == (1.5, 2.5)
    without = signs(found(candidate(FEE))).keys()
    assert told.keys() - without == {"reader of passage", "reader of sentence"}
    assert without - told.keys() == {"evidence around"}


def test_nothing_found_has_no_signs():
    assert signs(found()) == {}


@settings(deadline=None)
@given(st.dictionaries(st.text(), st.floats(-1e6, 1e6)))
def test_a_probability_lies_between_nothing_and_all(values):
    assert 0 < MODEL.estimate(values).probability < 1


def test_a_sign_with_a_weight_counts():
    assert MODEL.estimate({"words": 0.5, "other": 9.0}).probability == pytest.approx(0.5)


@pytest.mark.parametrize("reading", [None, ChunkReading(1.5, {})])
def test_every_weight_of_the_packaged_calibrations_is_of_a_sign(reading):
    told = signs(found(replace(candidate(FEE), reading=reading)))
    packaged = calibration_of(told)
    assert {*packaged.weights, "best evidence"} == set(told)
    assert packaged == read_calibrations()[set_of(told)]
    assert 0 < packaged.answered_from < 1


def test_evidence_is_the_best_that_the_gate_sees():
    read = replace(candidate(FEE), reading=ChunkReading(4.0, {}))
    both = found(candidate("The term is one year.", "term"), read)
    assert signs(both)["best evidence"] == max(one.score for one in grade_locally(both))


def test_signs_of_a_reading_model_make_another_set():
    assert set_of(["topic named"]) == "evidence"
    assert set_of(["topic named", "reader of sentence"]) == "evidence+reader"


def test_calibrations_are_read_from_their_file(tmp_path):
    file = tmp_path / "calibration.json"
    fitted = {"bias": 1, "weights": {}, "evidence_needed": 0.1, "answered_from": 0.8}
    file.write_text(json.dumps({"evidence": fitted}))
    assert read_calibrations(file) == {"evidence": Calibration(1, {}, 0.1, 0.8)}
