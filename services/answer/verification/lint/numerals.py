"""Reads numbers, in digits and in words, as values; what may mean two things keeps its own spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.answer.verification.lint.tokens import Kind, Token
from services.answer.verification.lint.vocabulary import (
    HUNDRED,
    NUMBER_WORDS,
    ORDINALS,
    SCALES,
    SMALL_NUMBERS,
    TENS,
)

_GROUPED = re.compile(r"\d{1,3}(?:(?P<mark>[,'\u00a0\u202f])\d{3})(?:(?P=mark)\d{3})*(?P<decimals>\.\d+)?")
_DIGIT_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_MAX_WORDS = 16
"""Words of one number; longer runs are several."""


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as read from tokens."""

    value: str
    """Decimal digits without separators, else the spelling of the text: `1.000` may be one or a thousand."""
    end: int
    """The token after it."""


def numeral_at(tokens: Sequence[Token], i: int) -> Numeral | None:
    """The cardinal number that begins at token `i`, with its minus sign and its scale (`5 million`)."""
    token = tokens[i]
    if token.kind is Kind.NUMBER:
        sign = "-" if _is_negative(tokens, i) else ""
        value, end = value_of(token.text), i + 1
        while end < len(tokens) and tokens[end].word in SCALES and value.isdigit():
            value, end = str(int(value) * SCALES[tokens[end].word]), end + 1
        return Numeral(sign + value, end)
    if token.word in NUMBER_WORDS and token.word not in ORDINALS:
        return _in_words(tokens, i)
    return None


def ordinal_of(token: Token) -> str | None:
    """The value of `15th` or `fifteenth`."""
    if token.kind is Kind.CODE and (digits := _DIGIT_ORDINAL.fullmatch(token.word)):
        return str(int(digits[1]))
    value = ORDINALS.get(token.word)
    return str(value) if value else None


def value_of(digits: str) -> str:
    """Digits as a value: thousands separators go where they can be nothing else, zeros in front stay."""
    grouped = _GROUPED.fullmatch(digits)
    if grouped:
        return re.sub(r"[,'\u00a0\u202f]", "", digits)
    return digits


def trimmed(value: str) -> str:
    """The same value without needless decimals: `5.00` is 5, `1.000` is left alone."""
    whole, dot, decimals = value.partition(".")
    if not dot or "." in decimals or len(decimals) == 3:
        return value
    return f"{whole}.{decimals.rstrip('0')}".rstrip(".")


def _is_negative(tokens: Sequence[Token], i: int) -> bool:
    """Whether a minus belongs to the number: it touches it, and no number or word before."""
    if i and tokens[i - 1].kind is Kind.CURRENCY and tokens[i].glued:
        i -= 1
    if not i or not tokens[i].glued or tokens[i - 1].text not in ("-", "−"):
        return False
    before = tokens[i - 2] if i > 1 and tokens[i - 1].glued else None
    return before is None or (before.kind is Kind.MARK and before.text not in ")]%")


def _in_words(tokens: Sequence[Token], i: int) -> Numeral:
    """`twenty-five`, `one hundred and twenty`, `two hundred fifty thousand`."""
    total = current = 0
    last, end, at = 10**15, i, i
    while at < min(len(tokens), i + _MAX_WORDS):
        word = tokens[at].word
        step = SMALL_NUMBERS.get(word, TENS.get(word))
        if step is not None and (last >= 100 or (last in range(20, 100) and 0 < step < 10)):
            current, last = current + step, step
        elif word == HUNDRED and last != 100:
            current, last = (current or 1) * 100, 100
        elif word in SCALES:
            total, current, last = total + (current or 1) * SCALES[word], 0, 10**3
        elif end == at and _joins(tokens, at, last):
            at += 1
            continue
        else:
            break
        at += 1
        end = at
    return Numeral(str(total + current), end)


def _joins(tokens: Sequence[Token], at: int, last: int) -> bool:
    """Whether the token links two parts of one number: the hyphen of `twenty-five`, `and` after a hundred."""
    token = tokens[at]
    following = tokens[at + 1].word if at + 1 < len(tokens) else ""
    if token.text == "-" and token.glued:
        return last in range(20, 100) and 0 < SMALL_NUMBERS.get(following, 0) < 10
    return token.word == "and" and last in (100, 1000) and (following in SMALL_NUMBERS or following in TENS)
