"""What a card holds: the facts by which a person names a document, each with the words that state it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from corpus.spans import Span


class Kind(StrEnum):
    """What sort of document it is, by its title."""

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


@dataclass(frozen=True, slots=True)
class Title:
    """The name of a document."""

    text: str
    """One line. Words in capitals are written as in a sentence's title: `Consulting Agreement`."""
    span: Span
    """The words in the text; but for case and white space they are `text`."""


class AliasKind(StrEnum):
    """What another name of a party is."""

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


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of a party."""

    text: str
    """One line."""
    kind: AliasKind
    span: Span | None
    """Where the text says it; None when the file's name does."""


@dataclass(frozen=True, slots=True)
class Party:
    """Somebody who makes the agreement, or who issues the document."""

    name: str
    """As written, in one line."""
    span: Span
    aliases: tuple[Alias, ...] = ()
    """In the order of the text, the file's name last; none is `name`."""


class Precision(StrEnum):
    """How much of a date the document states."""

    DAY = "day"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class StatedDate:
    """A date and the words that state it."""

    iso: str
    """ISO 8601, as precise as it is stated: `1999-06-05`, `1999-06` or `1999`."""
    precision: Precision
    span: Span


@dataclass(frozen=True, slots=True)
class Amended:
    """The agreement that an amendment changes."""

    title: str
    """One line, capitals as in `Title`."""
    span: Span
    dated: StatedDate | None


@dataclass(frozen=True, slots=True)
class DocumentProfile:
    """The card of a document. What the text does not surely say is None or missing."""

    title: Title | None
    kind: Kind
    parties: tuple[Party, ...]
    """In the order of the text, each once."""
    dated: StatedDate | None
    """The day on which the agreement is made or entered into, by its own words."""
    effective: StatedDate | None
    """From when it has effect, by its own words; also when that is the day on which it is made."""
    amends: Amended | None
    filed_under: str | None
    """A company named by the file's name that no party bears, as written there; less sure than the rest."""
