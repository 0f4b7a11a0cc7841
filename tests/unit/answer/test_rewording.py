from __future__ import annotations

import pytest

from services.answer.verification.rewording import in_words_of


@pytest.mark.parametrize(
    ("claim", "clause", "reworded"),
    [
        ("It has to tell us.", "It shall notify us.", "It must notify us."),
        ("It can walk away from the deal.", "It may terminate.", "It can terminate the deal."),
        ("Nobody told us.", "No person is notified.", "no person notified us."),
        ("USD 50 a month.", "", "USD 50 per month."),
        ("It is over 10 per cent.", "", "It is more than 10 per cent."),
        ("No later than noon.", "It is delayed.", "not later than noon."),
        ("Fees are refunded by Acme.", "Acme shall reimburse it.", "Fees are reimbursed by Acme."),
    ],
)
def test_a_claim_is_told_in_the_words_of_the_clause(claim, clause, reworded):
    assert in_words_of(claim, clause).text == reworded


def test_words_that_a_number_parts_are_no_phrase():
    assert (
        in_words_of("It is due 60 days later.", "It is due 30 days later.").text == "It is due 60 days later."
    )


@pytest.mark.parametrize(
    ("words", "place"), [("must notify", "has to tell"), ("30 days", "30 days"), ("notify us", "tell us")]
)
def test_other_words_are_found_where_the_claim_has_its_own(words, place):
    claim = "Acme has to tell us 30 days before."
    span = in_words_of(claim, "Acme shall notify us.").locate(words)

    assert claim[span.start : span.end] == place


def test_words_that_stand_nowhere_have_no_place():
    assert in_words_of("Acme pays.", "Acme pays.").locate("refund") is None
