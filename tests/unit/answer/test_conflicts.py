from __future__ import annotations

import pytest

from corpus.spans import Span
from services.answer.query.conflicts import find_conflicts
from services.answer.sentences import Sentence
from tests.unit.nouns import a_chunk

FEE = "The licensee shall pay a monthly display fee of {} for each device that shows market data."


def sentence(text: str, document: str) -> Sentence:
    span = Span(0, len(text))
    chunk = a_chunk(
        text,
        chunk_id=document,
        alias=document,
        document_id=document,
        source="cme",
        span=span,
        sentences=(span,),
    )
    return Sentence(chunk, span, text)


def values(left: str, right: str, *, documents=("a", "b")) -> list[tuple[str, str]]:
    pair = [sentence(text, document) for text, document in zip((left, right), documents, strict=True)]
    return [conflict.values for conflict in find_conflicts(pair)]


@pytest.mark.parametrize(
    ("left", "right"),
    [("USD 100", "USD 120"), ("$1,000.00", "$ 1,500"), ("5%", "7 percent"), ("30 days", "60 days")],
)
def test_different_values_for_the_same_matter_are_found(left, right):
    assert values(FEE.format(left), FEE.format(right)) == [(left, right)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("USD 100", "$100.00"),
        ("USD 100", "EUR 100"),
        ("30 days", "2 months"),
        ("5%", "USD 5"),
        ("USD 100 and USD 120", "USD 120"),
        ("a sum", "USD 120"),
    ],
)
def test_equal_or_incomparable_values_are_no_conflict(left, right):
    assert values(FEE.format(left), FEE.format(right)) == []


def test_sentences_of_one_document_are_no_conflict():
    assert values(FEE.format("USD 100"), FEE.format("USD 120"), documents=("a", "a")) == []


def test_sentences_about_other_matters_are_no_conflict():
    law = "Notice of termination must reach the other party USD 7 in advance and in writing by mail."
    assert values(FEE.format("USD 100"), law) == []


def test_short_sentences_share_too_little_to_be_compared():
    assert values("The fee is USD 100.", "The fee is USD 120.") == []
