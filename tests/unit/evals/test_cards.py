"""Cards made by hand: what counts as right, and the promises of the file."""

import re

import pytest

from corpus.profiles import DatePrecision, DocumentKind, DocumentProfile, Party, ProfileTitle, StatedDate
from corpus.spans import Span
from evals.cards import Card, cards, figures

HERE = Span(0, 1)
CARD = Card(
    file="a.txt",
    part="development",
    title=("Supply Agreement",),
    parties=(("Acme, Inc.", "Acme Inc. of Ohio"), ("Zeta GmbH",)),
    dated="2020-03-01",
    effective=None,
)


def made(title: str, dated: str | None, *parties: str) -> DocumentProfile:
    return DocumentProfile(
        title=ProfileTitle(title, HERE),
        kind=DocumentKind.SUPPLY,
        parties=tuple(Party(name, HERE) for name in parties),
        dated=StatedDate(dated, DatePrecision.DAY, HERE) if dated else None,
        effective=None,
        amends=None,
        filed_under=None,
    )


def test_a_card_is_right_but_for_case_and_marks():
    found = figures([CARD], [made("SUPPLY AGREEMENT", "2020-03-01", "ACME INC", "The Zeta GmbH")])
    assert found == {"party recall": 1, "party precision": 1, "title": 1, "dated": 1, "effective": 1}


@pytest.mark.parametrize(
    ("profile", "figure", "share"),
    [
        (made("Agreement", "2020-03-01", "Acme, Inc.", "Zeta GmbH"), "title", 0),
        (made("Supply Agreement", None, "Acme, Inc.", "Zeta GmbH"), "dated", 0),
        (made("Supply Agreement", "2020-03-01", "Acme", "Zeta GmbH"), "party recall", 0.5),
        (made("Supply Agreement", "2020-03-01", "Zeta GmbH"), "party recall", 0.5),
        (made("Supply Agreement", "2020-03-01", "Zeta GmbH"), "party precision", 1),
        (made("Supply Agreement", "2020-03-01", "Acme Inc", "Zeta GmbH", "Ohio"), "party precision", 2 / 3),
    ],
)
def test_what_is_wrong_or_missing_counts(profile, figure, share):
    assert figures([CARD], [profile])[figure] == pytest.approx(share)


def test_each_contract_has_one_card_with_facts_alone():
    by_hand = cards()
    assert len({card.file for card in by_hand}) == len(by_hand)
    assert all(card.title and len(max(card.title, key=len)) < 120 for card in by_hand)
    dates = [date for card in by_hand for date in (card.dated, card.effective) if date]
    assert all(re.fullmatch(r"\d{4}(-\d\d){0,2}", date) for date in dates)
