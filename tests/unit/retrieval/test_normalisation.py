"""Questions are reduced to what is worth searching for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.retrieval.normalisation import FILLERS, normalise
from services.retrieval.terms import DefinedTerms

NO_TERMS = DefinedTerms.of(())


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the fee schedule for CME data?", "fee schedule cme data"),
        ("Can you explain redistribution requirements?", "redistribution requirements"),
        ("How does CME charge for real-time data?", "cme charge real-time data"),
        ("What issuers must report?", "what issuers report"),
        ("what is this", "what is this"),
        ("Could you please explain  the   fees, please", "fees please"),
        ("What’s a Non-Display use?", "non-display use"),
        ("Explaining usage (30%)!", "explaining usage 30%"),
        ("S&P 500 – what is it?", "s&p 500 what it"),
    ],
)
def test_questions_lose_leading_phrases_fillers_and_punctuation(question, expected):
    assert normalise(question, NO_TERMS) == expected


def test_quoted_phrases_keep_their_fillers():
    assert normalise("What is “termination for cause”?", NO_TERMS) == '"termination for cause"'


def test_an_open_quote_protects_nothing():
    assert normalise('What is "termination for cause?', NO_TERMS) == "termination cause"


def test_defined_terms_keep_their_fillers():
    terms = DefinedTerms.of(["will call data", "right of use"])
    assert normalise("Do we pay for the Will Call Data?", terms) == "pay will call data"


def test_terms_made_of_fillers_alone_are_not_kept():
    assert normalise("Can you explain what you owe?", DefinedTerms.of(["you"])) == "what owe"


TERMS = st.lists(st.sampled_from(["for cause", "you", "data", "the data", "will call"])).map(DefinedTerms.of)
WORDS = st.sampled_from(
    [*sorted(FILLERS), "what", "explain", "how", '"', "“", "data", "call", "cause", "-", "?"]
)
QUESTIONS = st.text(min_size=1) | st.lists(WORDS, min_size=1).map(" ".join)


@settings(deadline=None)
@given(QUESTIONS, TERMS)
def test_normalising_again_changes_nothing(question, terms):
    once = normalise(question, terms)
    assert normalise(once, terms) == once


@settings(deadline=None)
@given(QUESTIONS, TERMS)
def test_something_is_always_left(question, terms):
    assert normalise(question, terms)
