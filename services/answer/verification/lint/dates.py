"""Reads dates; one whose order of day and month is open keeps its own spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.answer.verification.lint.numerals import ordinal_of
from services.answer.verification.lint.tokens import Kind, Token
from services.answer.verification.lint.vocabulary import MONTHS, SHORT_MONTHS

_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_DIGITS = re.compile(r"(?P<a>\d{1,4})(?P<mark>[-/.])(?P<b>\d\d?)(?P=mark)(?P<c>\d{2,4})")
_FILLERS = frozenset(("of", "day", ",", "."))


@dataclass(frozen=True, slots=True)
class Date:
    """A date; parts that the text does not give are None. `spelling` stands where the order is open."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    spelling: str = ""

    def holds(self, other: Date) -> bool:
        """Whether every part of `other` is the same here."""
        return self.spelling == other.spelling and all(
            theirs is None or theirs == ours
            for ours, theirs in (
                (self.year, other.year),
                (self.month, other.month),
                (self.day, other.day),
            )
        )


def date_at(tokens: Sequence[Token], i: int) -> tuple[Date, int] | None:
    """The date that begins at token `i`, and the token after it."""
    if tokens[i].kind is Kind.DATE:
        return _in_digits(tokens[i].text), i + 1
    day = _day(tokens[i])
    if day is not None:
        at = _skip(tokens, i + 1)
        month = _month(tokens, at) if at < len(tokens) else None
        if month is None:
            return None
        year, end = _year_from(tokens, at + 1)
        return Date(year, month, day), end
    return _from_month(tokens, i)


def _from_month(tokens: Sequence[Token], i: int) -> tuple[Date, int] | None:
    month = _month(tokens, i)
    if month is None:
        return None
    at = _skip(tokens, i + 1)
    day = _day(tokens[at]) if at < len(tokens) else None
    year, end = _year_from(tokens, at + 1 if day is not None else i + 1)
    if day is None and year is None and tokens[i].word not in MONTHS:
        return None
    if tokens[i].word == "may" and day is None and year is None and tokens[i].starts:
        return None
    return Date(year, month, day), end if year is not None or day is None else at + 1


def _month(tokens: Sequence[Token], i: int) -> int | None:
    """Months are written with a capital; `may` and `march` without one are other words."""
    token = tokens[i]
    if token.kind is not Kind.WORD or not token.text[0].isupper():
        return None
    return MONTHS.get(token.word) or SHORT_MONTHS.get(token.word)


def _day(token: Token) -> int | None:
    text = token.text if token.kind is Kind.NUMBER else ordinal_of(token)
    if text is None or not text.isdigit() or len(text) > 2:
        return None
    return int(text) if 1 <= int(text) <= 31 else None


def _year_from(tokens: Sequence[Token], i: int) -> tuple[int | None, int]:
    """The year at or after token `i`, and the token after it; without one, `i`."""
    at = _skip(tokens, i)
    if at < len(tokens) and tokens[at].kind is Kind.NUMBER and _YEAR.fullmatch(tokens[at].text):
        return int(tokens[at].text), at + 1
    return None, i


def _skip(tokens: Sequence[Token], i: int) -> int:
    limit = min(len(tokens), i + 3)
    while i < limit and tokens[i].word in _FILLERS:
        i += 1
    return i


def _in_digits(text: str) -> Date:
    parts = _DIGITS.fullmatch(text)
    assert parts is not None
    a, b, c = parts["a"], parts["b"], parts["c"]
    if len(a) == 4:
        return _checked(int(a), int(b), int(c), text)
    if len(c) != 4:
        return Date(spelling=text)
    first, second = int(a), int(b)
    if parts["mark"] == "." or first > 12:
        # Dots are used with the day in front only.
        return _checked(int(c), second, first, text)
    if second > 12 or first == second:
        return _checked(int(c), first, second, text)
    return Date(spelling=text)


def _checked(year: int, month: int, day: int, text: str) -> Date:
    return Date(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else Date(spelling=text)
