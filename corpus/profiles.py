"""The card of a document: the facts by which a person names it, each with the words that state it.

See `clausegate.corpus.v1.DocumentProfile`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from corpus.spans import Span

MAX_PARTIES = 20
MAX_OTHER_NAMES = 12
"""Other names of one party."""
MAX_TEXT = 300
"""Code points of a title or a name."""


class DocumentKind(StrEnum):
    """What sort of document it is, by its title."""

    UNKNOWN = "unknown"
    """A kind that only a later release knows."""
    AMENDMENT = "amendment"
    CONSULTING = "consulting"
    COLLABORATION = "collaboration"
    CONFIDENTIALITY = "confidentiality"
    DEVELOPMENT = "development"
    DISTRIBUTION = "distribution"
    EMPLOYMENT = "employment"
    FRANCHISE = "franchise"
    HOSTING = "hosting"
    JOINT_VENTURE = "joint_venture"
    LEASE = "lease"
    LICENCE = "licence"
    LOAN = "loan"
    MAINTENANCE = "maintenance"
    MANUFACTURING = "manufacturing"
    MARKETING = "marketing"
    NOTICE = "notice"
    OUTSOURCING = "outsourcing"
    POLICY = "policy"
    PURCHASE = "purchase"
    SCHEDULE = "schedule"
    SERVICES = "services"
    SPONSORSHIP = "sponsorship"
    SUPPLY = "supply"
    TERMS = "terms"
    TRANSPORTATION = "transportation"
    OTHER = "other"


class OtherNameKind(StrEnum):
    """What another name of a party is."""

    UNKNOWN = "unknown"
    """A kind that only a later release knows."""
    PLAIN = "plain"
    """The name without its company form: `Acme` of `Acme, Inc.`."""
    DEFINED = "defined"
    """A short name that the document gives: `(“Slingerbag”)`."""
    ROLE = "role"
    """What the party does in the document: `(the “Licensor”)`."""
    ABBREVIATION = "abbreviation"
    """The initials of its name, where the document uses them: `(“GSK”)`."""
    TRADE = "trade"
    """Under which it does business: `d/b/a Newkleus`."""
    FORMER = "former"
    """That it had before: `f/k/a Acme Holdings`."""
    FILE_NAME = "file_name"
    """In the name of the file: `SLINGERBAGINC_07_07_2020.txt`."""


class DatePrecision(StrEnum):
    """How much of a date the document states."""

    UNKNOWN = "unknown"
    """One that only a later release knows."""
    DAY = "day"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class ProfileTitle:
    """The name of a document."""

    text: str
    """One line. Words in capitals are written as in a sentence's title: `Consulting Agreement`."""
    span: Span
    """The words in the text; but for case and white space they are `text`."""


@dataclass(frozen=True, slots=True)
class OtherName:
    """A name of a party besides the one that it signs with."""

    text: str
    """One line."""
    kind: OtherNameKind
    span: Span | None
    """Where the text says it; None when the file's name does."""


@dataclass(frozen=True, slots=True)
class Party:
    """Somebody who makes the agreement, or who issues the document."""

    name: str
    """As written, in one line."""
    span: Span
    other_names: tuple[OtherName, ...] = ()
    """In the order of the text, the file's name last; none is `name`."""


@dataclass(frozen=True, slots=True)
class StatedDate:
    """A date and the words that state it."""

    iso: str
    """ISO 8601, as precise as it is stated: `1999-06-05`, `1999-06` or `1999`."""
    precision: DatePrecision
    span: Span


@dataclass(frozen=True, slots=True)
class AmendedAgreement:
    """The agreement that an amendment changes."""

    title: str
    """One line, capitals as in `ProfileTitle`."""
    span: Span
    dated: StatedDate | None


@dataclass(frozen=True, slots=True)
class DocumentProfile:
    """The card of a document. What the text does not surely say is None or missing."""

    title: ProfileTitle | None
    kind: DocumentKind
    parties: tuple[Party, ...]
    """In the order of the text, each once."""
    dated: StatedDate | None
    """The day on which the agreement is made or entered into, by its own words."""
    effective: StatedDate | None
    """From when it has effect, by its own words; also when that is the day on which it is made."""
    amends: AmendedAgreement | None
    filed_under: str | None
    """A company named by the file's name that no party bears, as written there; less sure than the rest."""
