"""What long texts hold of numbers, dates, clause numbers and links, read once and asked often.

The lint holds a statement to its quotes, also in how often it says a thing. Prose about whole documents is
held to less: what it counts, dates, refers to or links must stand in them somewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from services.answer.verification.lint.dates import Date
from services.answer.verification.lint.findings import Finding, LintRule
from services.answer.verification.lint.numerals import trimmed
from services.answer.verification.lint.quantities import (
    Amount,
    Code,
    DateFound,
    FreeUnit,
    Label,
    Unit,
    quantities_of,
)
from services.answer.verification.lint.tokens import Kind, tokens_of
from services.answer.verification.lint.wording import links_of


class Inventory:
    """The numbers, dates, clause numbers and links of texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Linear in the texts: about two seconds for a million characters."""
        self._units: dict[str, set[Unit | None]] = defaultdict(set)
        self._dates: set[Date] = set()
        self._codes: set[str] = set()
        """Clause numbers, other names with digits, and numbers as they are written."""
        self._links: set[str] = set()
        for text in texts:
            self._add(text)

    def _add(self, text: str) -> None:
        tokens = tokens_of(text)
        self._links |= {token.word for token in links_of(tokens)}
        self._codes |= {token.word for token in tokens if token.kind in (Kind.NUMBER, Kind.CODE)}
        for quantity in quantities_of(tokens):
            match quantity:
                case Amount():
                    self._units[trimmed(quantity.value)].add(quantity.unit)
                case DateFound():
                    self._dates.add(quantity.date)
                    if quantity.date.year is not None:
                        self._units[str(quantity.date.year)].add(None)
                case Label():
                    self._codes.add(quantity.label)
                case Code():
                    self._codes.add(quantity.value)

    def lacks(self, text: str) -> Iterator[Finding]:
        """What a text says and these do not, in its order."""
        tokens = tokens_of(text)
        for quantity in quantities_of(tokens):
            if not isinstance(quantity, FreeUnit) and not self._holds(quantity):
                yield Finding(_rule_of(quantity), quantity.text)
        for link in links_of(tokens):
            if link.word not in self._links:
                yield Finding(LintRule.NAME, link.text)

    def _holds(self, quantity: Amount | DateFound | Label | Code) -> bool:
        match quantity:
            case Amount():
                return self._holds_amount(quantity)
            case DateFound():
                return any(known.holds(quantity.date) for known in self._dates)
            case Label():
                return quantity.label in self._codes
            case Code():
                return quantity.value in self._codes

    def _holds_amount(self, amount: Amount) -> bool:
        """Whether the number stands there with its unit; in a table the unit may stand elsewhere."""
        known = self._units.get(trimmed(amount.value), set())
        if amount.text.casefold() == "one" or (amount.unit is None and known):
            return True
        return any(unit is None or (amount.unit is not None and unit.holds(amount.unit)) for unit in known)


def _rule_of(quantity: Amount | DateFound | Label | Code) -> LintRule:
    match quantity:
        case Amount():
            return quantity.rule
        case DateFound():
            return LintRule.DATE
        case Label():
            return LintRule.CLAUSE_NUMBER
        case Code():
            return LintRule.NUMBER
