"""A card with every field."""

from __future__ import annotations

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
