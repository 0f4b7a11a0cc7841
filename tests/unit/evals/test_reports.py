"""Tables and JSON of the figures."""

import json
import math

import pytest

from evals.__main__ import model_server
from evals.plan import PLAN
from evals.reference import MARKS, Mark
from evals.reports import Report, table, write_json
from inference.settings import ModelServerSettings

REPORT = Report(
    "cuad-scoped",
    "CUAD",
    1764,
    {"hit@1": 0.65, "refused": math.nan, "characters": 571.4},
    (Mark("W + lexicon", {"hit@1": 0.661}), Mark("BM25", {"hit@1": 0.52})),
)


def test_a_table_shows_measured_difference_and_marks_under_their_names():
    assert table(REPORT).splitlines() == [
        "CUAD (1,764 questions)",
        "               hit@1  refused  characters",
        "measured       0.650        -         571",
        "W + lexicon    0.661        -           -",
        "  difference  -0.011        -           -",
        "BM25           0.520        -           -",
    ]


def test_a_table_without_marks_is_one_row():
    assert len(table(Report("x", "X", 1, {"a": 0.5}, ())).splitlines()) == 3


def test_whose_answers_were_measured_is_said(tmp_path):
    report = Report("x", "X", 1, {"a": 0.5}, (), "gpt-4o of http://127.0.0.1:8080")
    write_json([report], tmp_path / "figures.json")

    assert table(report).splitlines()[0] == "X (1 questions): gpt-4o of http://127.0.0.1:8080"
    assert json.loads((tmp_path / "figures.json").read_text())["x"]["by"] == report.by


@pytest.mark.parametrize(
    ("settings", "server"),
    [
        ({}, ""),
        ({"OPENAI_API_KEY": "secret"}, "https://api.openai.com"),
        ({"OPENAI_BASE_URL": "http://somebody:secret@127.0.0.1:8080/v1"}, "http://127.0.0.1:8080"),
    ],
)
def test_the_server_is_named_without_what_is_secret(settings, server):
    assert model_server(ModelServerSettings(**settings)) == server


def test_json_holds_null_for_figures_that_do_not_exist(tmp_path):
    write_json([REPORT], tmp_path / "figures.json")
    content = json.loads((tmp_path / "figures.json").read_text())
    assert content["cuad-scoped"]["figures"] == {"hit@1": 0.65, "refused": None, "characters": 571.4}


def test_every_mark_belongs_to_an_experiment():
    assert set(MARKS) <= set(PLAN)
