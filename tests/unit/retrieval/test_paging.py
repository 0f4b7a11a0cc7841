"""A token leads to the next page of the list that it was made for, and to no other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chassis.errors import InvalidInput
from services.retrieval import paging


@settings(deadline=None)
@given(st.text(min_size=1), st.text())
def test_a_page_token_gives_its_position_back(position, request_text):
    assert paging.page_position(paging.page_token(position, request_text), request_text) == position


def test_no_token_is_the_first_page():
    assert paging.page_position("", "documents") == ""


@settings(deadline=None)
@given(st.text(min_size=1))
def test_foreign_tokens_are_refused(token):
    with pytest.raises(InvalidInput) as refused:
        paging.page_position(token, "documents")
    assert refused.value.field == "page_token"


def test_a_token_of_another_request_is_refused():
    with pytest.raises(InvalidInput):
        paging.page_position(paging.page_token("x", "documents", ("a",)), "documents", ("b",))
