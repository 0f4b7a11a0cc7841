"""Finds what a text counts: numbers with their units, amounts, percentages, dates, clause numbers, bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.answer.verification.lint.dates import Date, date_at
from services.answer.verification.lint.findings import LintRule
from services.answer.verification.lint.numerals import numeral_at, ordinal_of, trimmed
from services.answer.verification.lint.tokens import Kind, Token
from services.answer.verification.lint.vocabulary import (
    CLAUSES,
    CURRENCIES,
    NUMBER_WORDS,
    TIME_ADJECTIVES,
    TIME_QUALIFIERS,
    TIMES,
)

PERCENT = "%"
_ROMAN = re.compile(r"[IVXLC]+|[A-Z]{1,2}")
_LABEL_LINKS = frozenset(("and", "or", ",", "to", "through", "-", "–"))
_RANGES = frozenset(("(", ")", "-", "–", "to", "or", "and"))
_UNIT_REACH = 8


@dataclass(frozen=True, slots=True)
class Place:
    """The tokens `start` to `end` (exclusive) of the number itself."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unit:
    """What is counted: a time, percent, or a currency; `code` is empty where the sign leaves it open."""

    name: str
    code: str = ""
    currency: bool = False

    def holds(self, other: Unit) -> bool:
        """Whether this is `other`, or says more precisely what it is."""
        return self.name == other.name and other.code in ("", self.code)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number and what it counts, if that is a unit we know."""

    value: str
    unit: Unit | None
    text: str
    place: Place

    @property
    def rule(self) -> LintRule:
        """The rule that an unsupported amount breaks."""
        if self.unit and self.unit.currency:
            return LintRule.CURRENCY
        return LintRule.PERCENTAGE if self.unit and self.unit.name == PERCENT else LintRule.NUMBER


@dataclass(frozen=True, slots=True)
class DateFound:
    """A date in a text."""

    date: Date
    text: str


@dataclass(frozen=True, slots=True)
class Label:
    """A number of a clause that a text refers to: `4.2(a)` of `Section 4.2(a)`."""

    label: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Code:
    """A name with digits, an ordinal or a time of day; `value` compares."""

    value: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class FreeUnit:
    """A unit that counts nothing beside it, as in the header of a table column."""

    unit: Unit


Quantity = Amount | DateFound | Label | Code | FreeUnit


def quantities_of(tokens: Sequence[Token]) -> list[Quantity]:
    """Every quantity, in order."""
    return list(_Reader(tokens).read())


class _Reader:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._bound: set[int] = set()
        """Tokens that are the unit of an amount."""
        self._last: tuple[int, Unit] | None = None
        """Where the last amount with a currency ended."""

    def read(self) -> Iterator[Quantity]:
        i = 0
        while i < len(self._tokens):
            labels, end = self._labels(i)
            yield from labels
            if end == i:
                found, end = self._one(i)
                if found:
                    yield found
            i = end
        yield from self._free_units()

    def _one(self, i: int) -> tuple[Quantity | None, int]:
        tokens = self._tokens
        dated = date_at(tokens, i)
        if dated:
            return DateFound(dated[0], self._text(i, dated[1])), dated[1]
        ordinal = ordinal_of(tokens[i])
        if ordinal:
            following = tokens[i + 1].word if i + 1 < len(tokens) else ""
            third_party = tokens[i].word == "third" and following.startswith("part")
            return (None if third_party else Code(f"{ordinal}th", tokens[i].text, Place(i, i + 1))), i + 1
        amount = self._amount(i)
        if amount:
            return amount
        if tokens[i].kind in (Kind.CODE, Kind.TIME):
            return self._code(i)
        return None, i + 1

    def _code(self, i: int) -> tuple[Code, int]:
        """A time of day is another one before than after noon."""
        tokens, end = self._tokens, i + 1
        if tokens[i].kind is Kind.TIME and end < len(tokens) and tokens[end].word in ("am", "pm"):
            end += 1
        return Code("".join(token.word for token in tokens[i:end]), self._text(i, end), Place(i, end)), end

    def _amount(self, i: int) -> tuple[Amount, int] | None:
        tokens = self._tokens
        before = _currency(tokens[i])
        first = i + 1 if before else i
        while before and first < len(tokens) and tokens[first].text in ("-", "−"):
            first += 1
        numeral = numeral_at(tokens, first) if first < len(tokens) else None
        if numeral is None:
            return None
        unit, value, end = before, numeral.value, numeral.end
        if before:
            self._bound.add(i)
            named = _currency(tokens[end]) if end < len(tokens) else None
            if named and named.holds(before):
                # `$50 USD`
                self._bound.add(end)
                unit = named
        else:
            unit, end = self._unit_after(numeral.end)
        unit = unit or self._carried(i)
        if unit and unit.currency:
            self._last = end, unit
        if unit and (unit.currency or unit.name == PERCENT):
            value = trimmed(value)
        place = Place(first, numeral.end)
        return Amount(value, unit, self._text(i, max(end, numeral.end)), place), numeral.end

    def _unit_after(self, i: int) -> tuple[Unit | None, int]:
        """The unit behind a number: of `30 (thirty) business days`, `5 to 10 %` and `2 million dollars`."""
        tokens, qualifier = self._tokens, ""
        for at in range(i, min(len(tokens), i + _UNIT_REACH)):
            token = tokens[at]
            unit = _unit_at(tokens, at, qualifier)
            if unit:
                self._bound.add(at)
                return unit, at + 1
            if token.word in TIME_QUALIFIERS:
                qualifier = token.word
            elif not (token.word in TIME_ADJECTIVES or token.text in _RANGES or _is_number(token)):
                break
        return None, i

    def _carried(self, i: int) -> Unit | None:
        """The currency of `USD 5 to 10` belongs to both."""
        if self._last and self._last[0] == i - 1 and self._tokens[i - 1].word in _RANGES - {"(", ")"}:
            return self._last[1]
        return None

    def _labels(self, i: int) -> tuple[list[Label], int]:
        """The clause numbers after `Section` and the like, all of a list."""
        tokens = self._tokens
        found: list[Label] = []
        if tokens[i].word not in CLAUSES:
            return found, i
        at = i + 2 if i + 1 < len(tokens) and tokens[i + 1].text == "." and tokens[i + 1].glued else i + 1
        end = i
        while at < len(tokens) and _is_label(tokens[at]):
            label, end = self._label(at)
            found.append(Label(label, f"{tokens[i].text} {label}", Place(at, end)))
            at = end
            while at < len(tokens) and at < end + 2 and tokens[at].word in _LABEL_LINKS:
                at += 1
            if at == end:
                break
        return found, end

    def _label(self, i: int) -> tuple[str, int]:
        """A label with its parts in parentheses, however they are spaced: `4.2 (a)(ii)`."""
        tokens, parts, at = self._tokens, [self._tokens[i].word], i + 1
        while at + 2 < len(tokens) and tokens[at].text == "(" and tokens[at + 2].text == ")":
            if len(tokens[at + 1].text) > 4:
                break
            parts.append(f"({tokens[at + 1].word})")
            at += 3
        return "".join(parts), at

    def _free_units(self) -> Iterator[FreeUnit]:
        for at, token in enumerate(self._tokens):
            before = self._tokens[at - 1].word if at else ""
            unit = _unit_at(self._tokens, at, "") or _currency(token)
            if unit and at not in self._bound and before not in RATES:
                yield FreeUnit(unit)

    def _text(self, start: int, end: int) -> str:
        return written(self._tokens[start:end])


RATES = frozenset(("per", "each", "every", "a", "an", "any", "/"))


def written(tokens: Sequence[Token]) -> str:
    """Tokens as they were written, with single spaces."""
    return "".join(token.text if token.glued else f" {token.text}" for token in tokens).strip()


def time_of(word: str) -> str | None:
    """The unit of time that a word names."""
    return TIMES.get(word)


def _unit_at(tokens: Sequence[Token], i: int, qualifier: str) -> Unit | None:
    word, following = tokens[i].word, tokens[i + 1].word if i + 1 < len(tokens) else ""
    if word in ("%", "percent", "percentage") or (word == "per" and following == "cent"):
        return Unit(PERCENT)
    if word in TIMES:
        return Unit(f"{qualifier} {TIMES[word]}".strip())
    if word == "us" and following.startswith("dollar"):
        return Unit("$", "USD", currency=True)
    # A sign belongs to the number behind it, unless none is there.
    sign = tokens[i].kind is Kind.CURRENCY and i + 1 < len(tokens) and tokens[i + 1].kind is Kind.NUMBER
    return None if sign else _currency(tokens[i])


def _currency(token: Token) -> Unit | None:
    known = CURRENCIES.get(token.text.casefold())
    return Unit(*known, currency=True) if known else None


def _is_number(token: Token) -> bool:
    return token.kind is Kind.NUMBER or token.word in NUMBER_WORDS


def _is_label(token: Token) -> bool:
    if token.kind in (Kind.NUMBER, Kind.CODE):
        return True
    return token.kind is Kind.WORD and _ROMAN.fullmatch(token.text) is not None
