from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answer.records.texts import TextMode, Texts
from services.answer.verification.signing import SigningKey

WORDS = st.lists(st.text("αβγδεζηθικλμ", min_size=5, max_size=9), min_size=1).map(" ".join)
"""Of letters that no hash and no name of a record has."""
KEY = SigningKey("k1", b"1" * 32)


@given(
    question=WORDS,
    answer=WORDS,
    modes=st.sampled_from([(TextMode.HASH, TextMode.PLAIN), (TextMode.OMIT, TextMode.HASH)]),
    key=st.sampled_from([None, KEY]),
)
def test_no_word_of_a_question_or_its_answer_is_recorded(question, answer, modes, key):
    texts = Texts(*modes, key)
    debug = {
        "original_query": question,
        "why": {"said": answer, "terms": question.split()},
        "scores": [{"chunk_id": "cme/1", "score": 0.5, "kept": True}],
    }
    parts = [texts.question(question), texts.answer(answer), texts.debug(debug)]
    recorded = json.dumps(parts, ensure_ascii=False)
    assert not [word for word in (question + " " + answer).split() if word in recorded]
    assert texts.debug(debug)["scores"] == debug["scores"]


@given(question=WORDS, other=WORDS)
def test_equal_texts_have_equal_hashes_and_a_key_makes_them_its_own(question, other):
    plain, keyed = Texts(TextMode.HASH), Texts(TextMode.HASH, key=KEY)
    assert (plain.question(question) == plain.question(other)) == (question == other)
    assert keyed.question(question).startswith("hmac-sha256:k1:")
    assert keyed.question(question) != plain.question(question)


@pytest.mark.parametrize(
    ("questions", "answers", "recorded"),
    [("plain", "plain", "Yes."), ("plain", "omit", ""), ("omit", "plain", ""), ("omit", "hash", "")],
    ids=["both plain", "answers omitted", "questions omitted", "never more openly"],
)
def test_an_answer_is_recorded_by_the_stricter_setting(questions, answers, recorded):
    assert Texts(TextMode(questions), TextMode(answers)).answer("Yes.") == recorded
