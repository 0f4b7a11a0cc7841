"""Requests are checked once, with the field at fault."""

from __future__ import annotations

import pytest

from chassis.errors import InvalidInput
from services.retrieval import queries


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "a\x00b", "a\x1bb", "a\x85b", "a" * 8001, "a" * 100_000])
def test_bad_questions_are_refused_with_their_field(text):
    with pytest.raises(InvalidInput) as refused:
        queries.question(text, "query")
    assert refused.value.field == "query"


@pytest.mark.parametrize(
    "text", ["a" * 8000, "line\nline\r\n\ttab", "Ω é “q” 中", "'; DROP TABLE -- \" AND (x:y*)"]
)
def test_any_other_text_is_a_question(text):
    assert queries.question(text, "query") == text


@pytest.mark.parametrize(("value", "expected"), [(0, 12), (1, 1), (100, 100), (101, 100), (2**31 - 1, 100)])
def test_counts_have_a_default_and_a_limit(value, expected):
    assert queries.count(value, "top_k", default=12, limit=100) == expected


def test_negative_counts_are_refused():
    with pytest.raises(InvalidInput) as refused:
        queries.count(-1, "top_k", default=12, limit=100)
    assert refused.value.field == "top_k"


@pytest.mark.parametrize(("sources", "documents", "field"), [(101, 0, "sources"), (0, 101, "document_ids")])
def test_scopes_are_bounded(sources, documents, field):
    with pytest.raises(InvalidInput) as refused:
        queries.scope(list(map(str, range(sources))), list(map(str, range(documents))))
    assert refused.value.field == field


def test_a_scope_names_each_thing_once():
    assert queries.scope(["b", "a", "b"], []).sources == ("b", "a")
