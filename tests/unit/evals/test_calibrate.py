from __future__ import annotations

import numpy as np
import pytest

from evals.calibrate import Row, calibration, fit, highest_refusing, lowest_right
from evals.metrics import reliability

RANDOM = np.random.default_rng(0)


def test_the_fit_finds_the_model_that_made_the_answers():
    signs = RANDOM.normal(size=(20_000, 2))
    right = (RANDOM.random(20_000) < 1 / (1 + np.exp(-(0.5 + signs @ [1.0, -2.0])))).astype(float)
    model = fit(signs, right)
    assert model.bias == pytest.approx(0.5, abs=0.1)
    assert list(model.weights) == pytest.approx([1.0, -2.0], abs=0.1)


def test_the_upper_limit_is_the_lowest_that_leaves_enough_right():
    probable, right = np.linspace(0, 1, 101), (np.linspace(0, 1, 101) >= 0.5).astype(float)
    assert lowest_right(probable, right, 0.8) == pytest.approx(0.38)


def test_where_too_little_is_right_there_is_no_limit():
    with pytest.raises(ValueError, match=r"no limit leaves 20 questions of which 80% are right"):
        lowest_right(np.linspace(0, 0.9, 50), np.zeros(50), 0.8)


def test_the_lower_limit_refuses_few_answerable_questions():
    probable = np.linspace(0, 1, 100)
    limit = highest_refusing(probable, 0.06)
    assert (probable < limit).mean() == pytest.approx(0.06)


def test_a_calibration_tells_how_it_came_about():
    scores = RANDOM.random(400)
    rows = [
        Row(
            f"c{number % 20}",
            ours=number % 3 == 0,
            answerable=bool(number % 4),
            right=score > 0.4,
            any_right=score > 0.3,
            signs={"s": score, "best evidence": score},
        )
        for number, score in enumerate(scores)
    ]
    fitted = calibration(rows)
    assert fitted["weights"]["s"] > 0
    assert fitted["fit"]["first right of answered"] >= 0.76
    assert fitted["fit"]["any right of answered"] >= fitted["fit"]["first right of answered"]
    assert fitted["fit"]["false refusals"] <= 0.06
    assert 0 < fitted["evidence_needed"] < fitted["answered_from"] < 1


def test_bands_compare_what_was_predicted_with_what_came_true():
    bands = reliability([0.11, 0.19, 0.95, 1.0], [False, True, True, True])
    assert [(band.predicted, band.observed, band.questions) for band in bands] == [
        (pytest.approx(0.15), 0.5, 2),
        (pytest.approx(0.975), 1.0, 2),
    ]
