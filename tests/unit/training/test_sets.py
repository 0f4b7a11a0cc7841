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
