"""Terms are folded, and found in texts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.retrieval.terms import DefinedTerms, fold_term


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("“Subscriber”", "SUBSCRIBERS"),
        ("'Non-Professional Subscriber'", "non-professional   subscribers"),
        ("Fee", "Fees"),
        ("Company", "Companies"),
        ("Subscriber’s Data", "Subscriber Data"),
        ("S&P 500 Index", "s&p 500 index"),
    ],
)
def test_spellings_of_one_term_fold_alike(one, other):
    assert fold_term(one) == fold_term(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Rule 1A", "Rule 1B"), ("Basis", "Bas"), ("Data", "Date"), ("§", "%")]
)
def test_different_terms_fold_apart(one, other):
    assert fold_term(one) != fold_term(other)


@settings(deadline=None)
@given(st.text())
def test_a_fold_is_its_own_fold(term):
    assert fold_term(fold_term(term)) == fold_term(term)


@settings(deadline=None)
@given(st.text().filter(str.strip))
def test_no_term_folds_to_nothing(term):
    assert fold_term(term)


def test_the_longest_term_at_a_place_is_used():
    terms = DefinedTerms.of(map(fold_term, ["Subscriber", "Professional Subscriber", "Data"]))
    text = "Each Professional Subscriber’s data, and every other subscriber."
    assert [text[use.start : use.end] for use in terms.uses(text)] == [
        "Professional Subscriber’s",
        "data",
        "subscriber",
    ]


@settings(deadline=None)
@given(st.lists(st.text(alphabet="ab c", min_size=1), max_size=6), st.text(alphabet="ab c&’s", max_size=60))
def test_uses_are_in_order_and_hold_their_terms(terms, text):
    defined = DefinedTerms.of(filter(None, map(fold_term, terms)))
    uses = defined.uses(text)
    assert all(fold_term(text[use.start : use.end]) == use.term for use in uses)
    assert all(before.end <= after.start for before, after in pairwise(uses))
