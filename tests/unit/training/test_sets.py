import json

import pytest

from corpus.spans import Span
from training import sets


@pytest.mark.parametrize(
    ("quote", "span"),
    [("fees are due", Span(4, 17)), ("fees  are\ndue", Span(4, 17)), ("tolls are due", None), ("", None)],
)
def test_a_quote_is_found_whatever_its_white_space(quote, span):
    assert sets.find_loosely("The fees are\n due.", quote) == span


def test_natural_questions_keep_both_wordings_and_the_near_passage(tmp_path):
    (tmp_path / "cuad/dev/corpus").mkdir(parents=True)
    (tmp_path / "cuad/dev/corpus/a.txt").write_bytes(b"Fees are due.\r\nLaw of Bern.")
    (tmp_path / "natural").mkdir()
    asked = {
        "id": "n1",
        "file": "a.txt",
        "q": "When?",
        "q_named": "When, at Acme?",
        "answers": [],
        "near": "Law of Bern.",
    }
    (tmp_path / "natural/train.jsonl").write_text(json.dumps(asked) + "\n", encoding="utf-8")
    (question,) = sets.natural(tmp_path, "train").questions
    assert question == sets.Question("n1", ("When?", "When, at Acme?"), "a.txt", (), Span(15, 27))


def test_our_questions_name_places_and_no_text(tmp_path):
    (tmp_path / "cuad/dev/corpus").mkdir(parents=True)
    (tmp_path / "cuad/dev/corpus/a.txt").write_bytes(b"Fees are due.\r\nLaw of Bern.")
    asked = {"file": "a.txt", "q": "When?", "q_named": "When, at Acme?"}
    rows = [
        {**asked, "id": "n1", "answers": [{"start": 0, "end": 13}], "near": None},
        {**asked, "id": "n2", "answers": [], "near": {"start": 15, "end": 27}},
    ]
    file = tmp_path / "ours.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    wordings = ("When?", "When, at Acme?")
    assert sets.ours(tmp_path, file).questions == (
        sets.Question("n1", wordings, "a.txt", (Span(0, 13),), None),
        sets.Question("n2", wordings, "a.txt", (), Span(15, 27)),
    )


def test_every_question_of_ours_is_answered_or_has_a_passage_that_is_near():
    rows = [json.loads(line) for line in sets.OURS.read_text(encoding="utf-8").splitlines()]
    assert len(rows) > 1_000
    for row in rows:
        assert bool(row["answers"]) != bool(row["near"])
        assert all(place["start"] < place["end"] for place in [*row["answers"], *filter(None, [row["near"]])])
        assert all((row["q"], row["q_named"], row["file"]))
