from __future__ import annotations

import pytest

from chassis.errors import InvalidInput
from services.answer.questions import Question, check


@pytest.mark.parametrize(
    ("question", "field"),
    [
        (Question(""), "query"),
        (Question(" \n\t "), "query"),
        (Question("x" * 8_001), "query"),
        (Question("fee\x00"), "query"),
        (Question("fee\x85"), "query"),
        (Question("fee", sources=("cme",) * 101), "sources"),
        (Question("fee", sources=("cme", "")), "sources[1]"),
        (Question("fee", document_ids=("x" * 1_025,)), "document_ids[0]"),
    ],
)
def test_a_question_beyond_its_limits_names_the_field(question, field):
    with pytest.raises(InvalidInput) as caught:
        check(question)
    assert caught.value.field == field


@pytest.mark.parametrize("query", ["x" * 8_000, "line\nbreak\tand\r\ntab", "Gebühr?", "🙂"])
def test_any_other_text_can_be_asked(query):
    check(Question(query, sources=("cme",) * 100, document_ids=("cme/a b.pdf",)))
