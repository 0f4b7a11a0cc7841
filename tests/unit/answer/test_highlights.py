"""What of a quote is marked as the answer, and where nothing is."""

from __future__ import annotations

import pytest

from services.answer.evidence.highlights import highlight_of


def marked(question: str, quote: str) -> str | None:
    span = highlight_of(question, quote)
    return quote[span.start : span.end] if span else None


@pytest.mark.parametrize(
    ("question", "quote", "words"),
    [
        (
            "How much notice does an audit need?",
            "Tarnholm may audit on no less than thirty (30) days' prior written notice.",
            "no less than thirty (30) days'",
        ),
        ("How long does it last?", "The term of this Agreement is five years.", "five years"),
        ("How many days do we get to pay?", "Customer pays within 30 days of receipt.", "within 30 days"),
        (
            "What does display cost, and what is the fee?",
            "The display fee is USD 58.00 per user per month.",
            "USD 58.00 per user per month",
        ),
        (
            "How much is the deposit?",
            "A deposit of five thousand dollars ($5,000) is due.",
            "five thousand dollars ($5,000)",
        ),
        (
            "Up to what value are goods free?",
            "The cost shall not exceed $12,000 in a season.",
            "shall not exceed $12,000",
        ),
        ("What share do we get?", "Zynga pays ten percent (10%) of net revenue.", "ten percent (10%)"),
        ("When does it end?", "This Agreement ends on 31 December 2027.", "31 December 2027"),
        ("By when must we tell them?", "Notice is due within ten days of discovery.", "within ten days"),
        (
            "Which state's law applies?",
            "This Agreement is governed by the laws of the State of Illinois.",
            "the State of Illinois",
        ),
        (
            "Which law governs?",
            "22.1 This Agreement is governed by the law of England and Wales.",
            "England and Wales",
        ),
        (
            "Who pays for shipping?",
            "The Buyer shall bear all costs of shipping.",
            "The Buyer",
        ),
    ],
)
def test_the_one_thing_that_is_asked_for_is_marked(question, quote, words):
    assert marked(question, quote) == words


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("What is the fee?", "The fee is USD 50, and USD 70 after the first year."),
        ("What is the cap?", "The cap is the greater of USD 50 and the fees paid."),
        ("What is the cap?", "The cap is twice USD 50."),
        ("What is the fee?", "The fee is USD 50 plus tax."),
        ("What is the fee?", "The fee is [***]."),
        ("What is the fee?", "The fee is USD 50, or 5% of sales."),
        ("What is the fee?", "Market | Fee per User per month (USD) … Northgate Level 1 | 58.00"),
        ("How many years do we have?", "Neither party sues more than two years after the cause arose."),
        ("When does it end?", "It ends on 31 December 2027 or 30 days after notice."),
        ("May we share the data?", "The Licensee may share the Data with 3 Affiliates for 30 days."),
        ("What is a Device?", "“Device” means a screen that shows data for at most 15 minutes."),
        ("Who pays for shipping?", "The Buyer shall pay the price, and the Seller shall pay for shipping."),
        ("Who pays for shipping?", "The Seller shall not pay for shipping."),
        ("Which state's law applies?", "The laws of Illinois and the laws of Delaware apply."),
        ("Which county would a state court case be in?", "The laws of the State of Texas govern in Tarrant."),
        ("How much stock does he get?", "He gets stock as long as he pays the dues of $15.00."),
    ],
)
def test_nothing_is_marked_in_doubt(question, quote):
    assert marked(question, quote) is None


@pytest.mark.parametrize("quote", ["", "one " * 5_000, "1" * 5_000, "1,111" * 2_000, "A " * 5_000])
@pytest.mark.parametrize("question", ["How much is it?", "How long?", "When?", "Who pays?", "Which law?"])
def test_any_quote_is_read(question, quote):
    assert highlight_of(question, quote) is None
