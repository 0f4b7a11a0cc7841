"""Which sentences of a model's summary leave beside their quotes."""

from __future__ import annotations

import pytest

from services.answer.answers import Statement
from services.answer.contracts.answer import GivenSentence
from services.answer.query.stating import Dropped, Left, Stated, Why
from services.answer.query.summarising import summarised
from services.answer.verification.lint import LintRule
from tests.lies import lies

LAW = "This Agreement is governed by the laws of the State of Illinois."
FEE = "The Licensee shall pay a monthly display fee of USD 120 for each Device."
HEADER, ROW = "Market | Fee per User per month (USD)", "Northgate Level 1 | 58.00"
NOTICE = "Tarnholm may audit the Subscriber's records on no less than thirty (30) days' prior written notice."


def stated(*quotes: str | tuple[str, ...], related: bool = False) -> Stated:
    """Quotes that have left, in order; a row of a table behind its header."""
    left = {}
    for number, quote in enumerate(quotes, start=1):
        readings = (quote,) if isinstance(quote, str) else quote
        left[number] = Left(Statement(readings[-1], ("CME",), (number,), related), readings)
    return Stated(left, tuple(one.statement for one in left.values()), ())


def summary(text: str, *quotes: str | tuple[str, ...], question: str = "What is it?"):
    given = GivenSentence(text=text, quotes=list(range(1, len(quotes) + 1)))
    return summarised([given], stated(*quotes), question)


TRUE = [
    ("USD 58.00 per user and month.", [(HEADER, ROW)]),
    ("The fee is USD 58 for each user a month.", [(HEADER, ROW)]),
    ("Thirty days.", [NOTICE]),
    ("USD 58.00 for each user a month.", [(HEADER, ROW)]),
    ("An audit needs at least 30 days' written notice.", [NOTICE]),
    ("Illinois law governs.", [LAW]),
    ("Governed by the laws of Illinois.", [LAW]),
    ("USD 120 a month for each Device; Illinois law governs.", [FEE, LAW]),
    (
        "The Licensee may not share the Data with third parties.",
        ["The Licensee shall not share the Data with any third party for commercial purposes."],
    ),
    (
        "Either party can terminate on 90 days' notice.",
        ["Either party may terminate this Agreement upon ninety (90) days' prior written notice."],
    ),
    (
        "Any amount not paid when due bears interest of 1.5% a month.",
        ["Any amount not paid when due shall bear interest at one and one-half percent (1.5%) per month."],
    ),
]


@pytest.mark.parametrize(("text", "quotes"), TRUE)
def test_a_sentence_that_its_quotes_bear_out_leaves_with_their_numbers(text, quotes):
    (sentence,) = summary(text, *quotes).sentences
    assert (sentence.text, sentence.citation_numbers) == (text, tuple(range(1, len(quotes) + 1)))


@pytest.mark.parametrize(("kind", "said", "lie"), list(lies()))
def test_no_lie_in_the_words_of_its_quote_leaves(kind, said, lie):
    assert summary(lie, said).sentences == ()


@pytest.mark.parametrize(
    ("text", "quotes", "rule"),
    [
        ("EUR 58.00 per user and month.", [(HEADER, ROW)], LintRule.CURRENCY),
        ("USD 58.00 per user and year.", [(HEADER, ROW)], LintRule.NUMBER),
        ("USD 58.00 a year for each user.", [(HEADER, ROW)], LintRule.NUMBER),
        ("USD 59.00 per user and month.", [(HEADER, ROW)], LintRule.CURRENCY),
        ("USD 58.00 per user.", [ROW], LintRule.CURRENCY),
        ("At least 30 months' notice.", [NOTICE], LintRule.NUMBER),
        ("At most 30 days' notice.", [NOTICE], LintRule.NUMBER),
        ("Section 4.2 sets a notice of 30 days.", [NOTICE], LintRule.CLAUSE_NUMBER),
        ("Notice of 30 days from 1 March 2024.", [NOTICE], LintRule.DATE),
        ("Delaware law governs this Agreement.", [LAW], LintRule.NAME),
        ("The laws of Delaware govern this Agreement.", [LAW], LintRule.NAME),
        ("The laws of Illinois do not govern.", [LAW], LintRule.NEGATION),
        ("The Licensee may pay USD 120 for each Device.", [FEE], LintRule.MODAL),
        (
            "The Licensee shall destroy the Data.",
            ["The Licensee shall return the Data."],
            LintRule.UNSUPPORTED_WORDS,
        ),
    ],
)
def test_a_sentence_that_says_more_than_its_quotes_is_left_out(text, quotes, rule):
    found = summary(text, *quotes, question="Does Delaware law govern from 1 March 2024?")
    (dropped,) = found.dropped
    assert (found.sentences, dropped.why) == ((), Why.GOES_BEYOND)
    assert rule in dropped.rules


@pytest.mark.parametrize(
    ("text", "why"),
    [("The laws of Illinois likely govern this Agreement.", Why.GUESS), ("It is so.", Why.SAYS_NOTHING)],
)
def test_guesses_and_what_says_nothing_are_left_out(text, why):
    assert summary(text, LAW).dropped == (Dropped(1, why),)


@pytest.mark.parametrize("numbers", [[], [2], [1, 2], [0], [-1]])
def test_a_sentence_leaves_only_if_all_its_quotes_have(numbers):
    given = GivenSentence(text="Illinois law governs.", quotes=numbers)
    assert summarised([given], stated(LAW), "").dropped == (Dropped(1, Why.NO_STORED_QUOTE),)


def test_a_sentence_does_not_rest_on_a_quote_in_doubt():
    given = GivenSentence(text="Illinois law governs.", quotes=[1])
    assert summarised([given], stated(LAW, related=True), "").sentences == ()


def test_what_one_quote_says_does_not_bear_out_a_sentence_about_another():
    given = [GivenSentence(text="Illinois law governs.", quotes=[1])]
    assert summarised(given, stated(FEE, LAW), "").sentences == ()


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Yes, the laws of Illinois govern.", "The laws of Illinois govern."),
        ("No: the laws of Illinois govern.", "The laws of Illinois govern."),
    ],
)
def test_a_yes_or_no_is_left_to_the_reader(said, left):
    assert [one.text for one in summary(said, LAW).sentences] == [left]


@pytest.mark.parametrize("said", ["Yes.", "No.", "Yes"])
def test_a_yes_or_no_alone_is_no_sentence(said):
    assert summary(said, LAW).sentences == ()


def test_what_nobody_sees_leaves_no_more_than_line_breaks_do():
    (sentence,) = summary("Governed\nby the laws\u202e of \u200bIllinois.", LAW).sentences
    assert sentence.text == "Governed by the laws of Illinois."
