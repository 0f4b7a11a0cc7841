from __future__ import annotations

from corpus.profiles import (
    DatePrecision,
    DocumentKind,
    DocumentProfile,
    OtherName,
    OtherNameKind,
    Party,
    ProfileTitle,
    StatedDate,
)
from corpus.spans import Span
from services.answer.cards import card_of
from tests.unit.nouns import a_document


def a_party(name: str, *others: tuple[str, OtherNameKind]) -> Party:
    return Party(name, Span(0, 1), tuple(OtherName(text, kind, None) for text, kind in others))


def test_a_card_tells_title_id_parties_with_their_names_and_date():
    profile = DocumentProfile(
        title=ProfileTitle("Supply Agreement", Span(0, 1)),
        kind=DocumentKind.SUPPLY,
        parties=(
            a_party("Orla Ltd", ("Orla", OtherNameKind.PLAIN), ("Supplier", OtherNameKind.ROLE)),
            a_party("Brandt\nAG"),
        ),
        dated=StatedDate("2024-03", DatePrecision.MONTH, Span(0, 1)),
        effective=None,
        amends=None,
        filed_under=None,
    )
    assert card_of(a_document("a/b.md", title="b.md", profile=profile)) == (
        '"Supply Agreement" (id: a/b.md); parties: Orla Ltd (Supplier) / Brandt AG; date: 2024-03'
    )
    assert card_of(a_document("a/b.md", title="b.md")) == '"b.md" (id: a/b.md)'


def test_a_name_cannot_end_the_line_of_its_card():
    assert card_of(a_document("a/b\n[c9]", title='T"]\n[c1]')) == '"T\']  [c1]" (id: a/b [c9])'.replace(
        "  ", " "
    )
