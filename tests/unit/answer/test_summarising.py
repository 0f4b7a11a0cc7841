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
SPLICE = "The Vendor owns derived data and the Subscriber owns raw data."
TWO = "The Vendor pays USD 50 and the Licensee pays USD 70."
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
    (
        "What does display cost?",
        "USD 58.00 per user and month.",
        [("Market | Fee per User per month (USD)", "Northgate Level 1 | 58.00")],
    ),
    (
        "What does display cost?",
        "The fee is USD 58.00 for each user a month.",
        [("Market | Fee per User per month (USD)", "Northgate Level 1 | 58.00")],
    ),
    (
        "How much notice does an audit need?",
        "An audit needs at least 30 days' written notice.",
        [
            (
                "Tarnholm may audit the Subscriber's records on no less than thirty (30) days' prior"
                " written notice."
            )
        ],
    ),
    (
        "How much notice does an audit need?",
        "Thirty days.",
        [
            (
                "Tarnholm may audit the Subscriber's records on no less than thirty (30) days' prior"
                " written notice."
            )
        ],
    ),
    (
        "How long must records be kept?",
        "Records must be kept for three years.",
        [
            (
                "The Subscriber shall keep complete records of its use of the Information for a period of"
                " three (3) years."
            )
        ],
    ),
    (
        "Can we share the data with affiliates?",
        "The Licensee may share the Data with its Affiliates.",
        ["The Licensee may share the Data with its Affiliates."],
    ),
    (
        "Can we share the data with affiliates?",
        "The Licensee may not share the Data with third parties.",
        ["The Licensee shall not share the Data with any third party for commercial purposes."],
    ),
    (
        "Who may end the contract?",
        "Either party can terminate on 90 days' notice.",
        [
            (
                "Either party may terminate this Agreement without cause upon ninety (90) days' prior"
                " written notice to the other party."
            )
        ],
    ),
    (
        "Which law governs?",
        "The law of Illinois governs the agreement.",
        ["This Agreement is governed by and construed under the laws of the State of Illinois."],
    ),
    (
        "Which law governs?",
        "Illinois law.",
        ["This Agreement is governed by and construed under the laws of the State of Illinois."],
    ),
    (
        "When does it start?",
        "It starts on 1 January 2024.",
        ["This Agreement commences on January 1, 2024 (the “Effective Date”)."],
    ),
    (
        "What if we pay late?",
        "Late payments bear interest of 1.5% a month.",
        [
            (
                "Any amount not paid when due shall bear interest at the rate of one and one-half percent"
                " (1.5%) per month."
            )
        ],
    ),
    (
        "What is the cap on liability?",
        "Liability is capped at the fees paid in the twelve months before the claim.",
        [
            (
                "In no event shall either party's aggregate liability exceed the fees paid by the Licensee"
                " in the twelve (12) months preceding the claim."
            )
        ],
    ),
    (
        "Do we have to return the data?",
        "All copies have to be returned or destroyed within 30 days after termination.",
        [
            (
                "Within thirty (30) days after termination, the Licensee shall return or destroy all"
                " copies of the Data."
            )
        ],
    ),
    (
        "Is sublicensing allowed?",
        "Sublicensing is forbidden without the Licensor's prior written consent.",
        ["The Licensee shall not sublicense the Data without the prior written consent of the Licensor."],
    ),
    (
        "What is a non-professional?",
        "A Non-Professional is a natural person who uses the data for private purposes only.",
        [
            (
                "“Non-Professional” means a natural person who uses the Information solely for personal,"
                " non-business purposes."
            )
        ],
    ),
    (
        "May we use the logo?",
        "The Distributor may use the trade marks during the term with prior approval.",
        [
            (
                "During the Term, and subject to prior written approval, the Distributor may use the Trade"
                " Marks to promote the Products."
            )
        ],
    ),
    (
        "How many users are included?",
        "Up to 25 named users are included.",
        ["The licence includes up to twenty-five (25) Named Users."],
    ),
    (
        "When are invoices due?",
        "Invoices are due within 45 days of receipt.",
        ["The Licensee shall pay each invoice within forty-five (45) days of receipt."],
    ),
    (
        "Is there an exclusivity?",
        "The licence is non-exclusive.",
        ["The Licensor grants the Licensee a non-exclusive, non-transferable licence to use the Software."],
    ),
    (
        "Where must disputes go?",
        "Disputes go to the courts of New York.",
        [
            (
                "Any dispute arising hereunder shall be submitted to the exclusive jurisdiction of the"
                " courts of the State of New York."
            )
        ],
    ),
    (
        "What delay applies?",
        "Data counts as delayed after 15 minutes.",
        [
            (
                "“Delayed Data” means Information that is made available not earlier than fifteen (15)"
                " minutes after its publication by the Exchange."
            )
        ],
    ),
    (
        "What is due?",
        "USD 120 a month for each Device; Illinois law governs.",
        [FEE, LAW],
    ),
    ("What is due?", "The Vendor pays USD 50, the Licensee USD 70.", [TWO]),
]
"""Truthful short answers, as a model words them."""


@pytest.mark.parametrize(("question", "text", "quotes"), TRUE)
def test_a_sentence_that_its_quotes_bear_out_leaves_with_their_numbers(question, text, quotes):
    (sentence,) = summary(text, *quotes, question=question).sentences
    assert (sentence.text, sentence.citation_numbers) == (text, tuple(range(1, len(quotes) + 1)))


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (
            "The Subscriber pays for the audit if it reveals an underpayment above 5%.",
            "The costs of the audit are borne by Tarnholm unless the audit reveals an underpayment of"
            " more than"
            " 5%, in which case the Subscriber shall bear them.",
        ),
        (
            "A breach has to be reported within 72 hours of discovery.",
            "The Recipient shall notify the Discloser of any breach without undue delay and in any"
            " event within"
            " seventy-two (72) hours of discovery.",
        ),
    ],
)
def test_a_true_sentence_that_tells_an_exception_in_its_own_way_is_left_out_too(text, quote):
    assert summary(text, quote).sentences == ()


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("The Vendor owns raw data.", [SPLICE]),
        ("The Subscriber owns derived data.", [SPLICE]),
        ("The Vendor pays USD 70.", [TWO]),
        ("The Vendor pays USD 70.", ["The Vendor pays USD 50.", "The Licensee pays USD 70."]),
    ],
)
def test_halves_of_quotes_are_not_joined_to_what_no_clause_says(text, quotes):
    assert summary(text, *quotes).sentences == ()


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The Licensee owns the Data.", "In Illinois the Licensee owns the Data."),
        ("The Licensee owned the Data.", "The Licensee owned the Data prior to 2019."),
        ("The Licensee keeps the logs.", "The Licensee used to keep the logs."),
        ("The fee is waived.", "The fee is waived for schools."),
        (
            "The fee applies from 1 May 2025 to 1 March 2026.",
            "The fee applies from 1 March 2026 to 1 May 2025.",
        ),
    ],
)
def test_what_comparing_words_cannot_tell_stands_beside_the_quote_that_tells_it(text, quote):
    found = summary(text, quote)
    assert [sentence.text for sentence in found.sentences] == [text]
    assert found.sentences[0].citation_numbers == (1,)


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
