"""What the index refuses of a card, and how it names it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chassis.errors import InvalidInput
from corpus.profiles import (
    MAX_OTHER_NAMES,
    MAX_PARTIES,
    MAX_TEXT,
    DatePrecision,
    DocumentKind,
    OtherName,
    OtherNameKind,
    Party,
    ProfileTitle,
    StatedDate,
)
from corpus.spans import Span
from services.retrieval.profiles import check_profile
from tests.cards import WHOLE

HERE, NOWHERE = Span(0, 9), Span(9, 9)
LONG = "x" * (MAX_TEXT + 1)


def party(**other):
    return (Party("Acme", HERE), Party("Zeta", HERE, (OtherName(**{"text": "Z", "span": None, **other}),)))


def on(iso, precision=DatePrecision.DAY, span=HERE):
    return StatedDate(iso, precision, span)


def test_a_card_with_every_field_is_taken():
    check_profile("profile", WHOLE)


def test_a_card_at_its_limits_is_taken():
    other = OtherName("x" * MAX_TEXT, OtherNameKind.DEFINED, HERE)
    full = Party("x" * MAX_TEXT, HERE, (other,) * MAX_OTHER_NAMES)

    check_profile("profile", replace(WHOLE, parties=(full,) * MAX_PARTIES))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"kind": DocumentKind.UNKNOWN}, "kind"),
        ({"title": ProfileTitle("", HERE)}, "title.text"),
        ({"title": ProfileTitle(LONG, HERE)}, "title.text"),
        ({"title": ProfileTitle("Lease", NOWHERE)}, "title.span"),
        ({"title": ProfileTitle("Lease", Span(-1, 9))}, "title.span"),
        ({"parties": (Party("Acme", HERE),) * (MAX_PARTIES + 1)}, "parties"),
        ({"parties": (Party("Acme\x1b[31m", HERE),)}, "parties[0].name"),
        ({"parties": (Party("Acme", HERE), Party(LONG, HERE))}, "parties[1].name"),
        ({"parties": (Party("Acme", NOWHERE),)}, "parties[0].span"),
        ({"parties": party(kind=OtherNameKind.UNKNOWN)}, "parties[1].other_names[0].kind"),
        ({"parties": party(kind=OtherNameKind.ROLE, text=LONG)}, "parties[1].other_names[0].text"),
        ({"parties": party(kind=OtherNameKind.ROLE, span=NOWHERE)}, "parties[1].other_names[0].span"),
        (
            {"parties": (replace(WHOLE.parties[0], other_names=WHOLE.parties[0].other_names * 7),)},
            "parties[0].other_names",
        ),
        ({"dated": on("2020-02-30")}, "dated.iso"),
        ({"dated": on("2020-W01-1")}, "dated.iso"),
        ({"dated": on("١٩٩٩", DatePrecision.YEAR)}, "dated.iso"),
        ({"dated": on("")}, "dated.iso"),
        ({"effective": on("2020-07")}, "effective.precision"),
        ({"effective": on("2020-07-01", DatePrecision.UNKNOWN)}, "effective.precision"),
        ({"effective": on("2020-07-01", span=NOWHERE)}, "effective.span"),
        ({"amends": replace(WHOLE.amends, title=" ")}, "amends.title"),
        ({"amends": replace(WHOLE.amends, span=NOWHERE)}, "amends.span"),
        ({"amends": replace(WHOLE.amends, dated=on("soon"))}, "amends.dated.iso"),
        ({"filed_under": ""}, "filed_under"),
    ],
)
def test_what_is_too_much_or_no_fact_is_refused_by_its_path(changed, field):
    with pytest.raises(InvalidInput) as told:
        check_profile("profile", replace(WHOLE, **changed))

    assert told.value.field == f"profile.{field}"
