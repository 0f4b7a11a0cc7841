"""Reads everything of a text that the lint compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.answer.verification.lint.bounds import Bound, Rate, bounds_of, rates_of
from services.answer.verification.lint.findings import LintRule
from services.answer.verification.lint.numerals import trimmed
from services.answer.verification.lint.polarity import Modal, Negation, modals_of, negations_of
from services.answer.verification.lint.quantities import (
    Amount,
    Code,
    DateFound,
    FreeUnit,
    Label,
    Place,
    Quantity,
    quantities_of,
)
from services.answer.verification.lint.tokens import Kind, Token, tokens_of
from services.answer.verification.lint.vocabulary import FUNCTION_WORDS


@dataclass(frozen=True, slots=True)
class Number:
    """A number of any kind and the two words before and behind it, where they say something."""

    value: str
    rule: LintRule
    text: str
    contexts: tuple[tuple[str, ...], ...]
    again: bool
    """Whether it only repeats the number before it."""


@dataclass(slots=True)
class Text:
    """Everything of a text, or of all quotes together, that the lint compares."""

    tokens: list[Token] = field(default_factory=list)
    amounts: list[Amount] = field(default_factory=list)
    dates: list[DateFound] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    codes: list[Code] = field(default_factory=list)
    free: list[FreeUnit] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    rates: list[Rate] = field(default_factory=list)
    negations: list[Negation] = field(default_factory=list)
    modals: list[Modal] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)
    _last: tuple[int, str] = (-1, "")
    """Where the last number ended, and its value."""

    def add(self, text: str) -> None:
        """Read one more text; nothing is read across the border of two."""
        tokens = tokens_of(text)
        self._last = (-1, "")
        self.tokens += tokens
        for quantity in quantities_of(tokens):
            self._keep(quantity, tokens)
        bounds = bounds_of(tokens)
        self.bounds += bounds
        self.rates += rates_of(tokens)
        within = frozenset(
            at
            for bound in bounds
            if bound.asked
            for at in (*range(bound.start, bound.end), bound.denial)
            if at is not None
        )
        self.negations += negations_of(tokens, within)
        self.modals += modals_of(tokens)

    def _keep(self, quantity: Quantity, tokens: Sequence[Token]) -> None:
        match quantity:
            case Amount():
                self.amounts.append(quantity)
                self._count(trimmed(quantity.value), quantity.rule, quantity, tokens)
            case DateFound():
                self.dates.append(quantity)
            case Label():
                self.labels.append(quantity)
                self._count(quantity.label, LintRule.CLAUSE_NUMBER, quantity, tokens)
            case Code():
                self.codes.append(quantity)
                self._count(quantity.value, LintRule.NUMBER, quantity, tokens)
            case FreeUnit():
                self.free.append(quantity)

    def _count(
        self, value: str, rule: LintRule, quantity: Amount | Label | Code, tokens: Sequence[Token]
    ) -> None:
        """Keep a number, unless it says the one before again: `(30)` of `thirty (30)`."""
        start = quantity.place.start
        again = self._last == (start - 1, value) and tokens[start - 1].text == "("
        self._last = quantity.place.end, value
        self.numbers.append(Number(value, rule, quantity.text, _contexts(tokens, quantity.place), again))


def _contexts(tokens: Sequence[Token], place: Place) -> tuple[tuple[str, ...], ...]:
    before = [token for token in tokens[max(0, place.start - 4) : place.start] if token.kind is not Kind.MARK]
    behind = [token for token in tokens[place.end : place.end + 4] if token.kind is not Kind.MARK]
    return tuple(
        (side, *(token.word for token in near))
        for side, near in (("before", before[-2:]), ("behind", behind[:2]))
        if any(token.word not in FUNCTION_WORDS for token in near)
    )
