"""Cards: one with every field, and ones of which a test says only who the parties are."""

from __future__ import annotations

from typing import Any

from corpus.profiles import (
    AmendedAgreement,
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

HERE = Span(0, 1)
WHOLE = DocumentProfile(
    title=ProfileTitle("First Amendment", Span(0, 15)),
    kind=DocumentKind.AMENDMENT,
    parties=(
        Party(
            "Acme, Inc.",
            Span(20, 30),
            (
                OtherName("Acme", OtherNameKind.PLAIN, Span(20, 24)),
                OtherName("ACMEINC", OtherNameKind.FILE_NAME, None),
            ),
        ),
        Party("Größe GmbH", Span(40, 50)),
    ),
    dated=StatedDate("2020-07-01", DatePrecision.DAY, Span(60, 72)),
    effective=StatedDate("2020-07", DatePrecision.MONTH, Span(80, 89)),
    amends=AmendedAgreement(
        "Supply Agreement", Span(90, 106), StatedDate("2019", DatePrecision.YEAR, Span(110, 114))
    ),
    filed_under="ZETAINC",
)


def a_card(title: str, *parties: tuple[str, ...], **told: Any) -> DocumentProfile:
    """A card whose parties have these names, the full one first; it says nothing more unless `told`."""
    plain: dict[str, Any] = {
        "title": ProfileTitle(title, HERE) if title else None,
        "kind": DocumentKind.OTHER,
        "parties": tuple(_party(*names) for names in parties),
        "dated": None,
        "effective": None,
        "amends": None,
        "filed_under": None,
    }
    return DocumentProfile(**(plain | told))


def on(day: str) -> StatedDate:
    """A day that a document states."""
    return StatedDate(day, DatePrecision.DAY, HERE)


def _party(name: str, *others: str) -> Party:
    return Party(name, HERE, tuple(OtherName(other, OtherNameKind.DEFINED, HERE) for other in others))
