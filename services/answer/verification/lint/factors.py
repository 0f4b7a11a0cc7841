"""Finds what multiplies or divides an amount: `twice the fee`, `half of USD 50`, `three times`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.answer.verification.lint.numerals import numeral_at, trimmed
from services.answer.verification.lint.quantities import written
from services.answer.verification.lint.tokens import Kind, Token
from services.answer.verification.lint.vocabulary import FACTORS, PARTS, SMALL_NUMBERS
from services.answer.verification.lint.wording import is_content, stem_of

_REACH = 5
"""Tokens between a factor and what it is of."""
_ENDS = frozenset(".!?;,")


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor and what it is of."""

    value: str
    """`2`, or a fraction such as `1/3`."""
    of: str
    """The number behind it, else the stem of the content word behind it; empty where there is none."""
    text: str


def factors_of(tokens: Sequence[Token]) -> Iterator[Factor]:
    """Every factor, in order."""
    for i, token in enumerate(tokens):
        value = FACTORS.get(token.word) or _fraction(tokens, i) or _times(tokens, i)
        following = tokens[i + 1].word if i + 1 < len(tokens) else ""
        # `One and one-half percent` is a number of its own, which stands in digits behind as well.
        if value and following not in ("percent", "%", "per"):
            yield Factor(value, _of(tokens, i + 1), written(tokens[max(0, i - 1) : i + 3]))


def values_in(tokens: Sequence[Token]) -> Iterator[str]:
    """What a factor may be of, wherever it stands: numbers, and stems of content words, in order."""
    for i, token in enumerate(tokens):
        value = _number(tokens, i) or (stem_of(token.word) if is_content(token) else "")
        if value:
            yield value


def _fraction(tokens: Sequence[Token], i: int) -> str:
    """`one third`, `two-thirds`; `a quarter` only before `of`, as it is a time as well."""
    part = PARTS.get(tokens[i].word)
    before = [token.word for token in tokens[max(0, i - 2) : i] if token.text != "-"][-1:]
    following = tokens[i + 1].word if i + 1 < len(tokens) else ""
    if part is None or not before:
        return ""
    count = 1 if before[0] in ("a", "one") else SMALL_NUMBERS.get(before[0], 0)
    if not count or (part == 4 and following != "of") or (before[0] == "a" and following != "of"):
        return ""
    return f"{count}/{part}"


def _times(tokens: Sequence[Token], i: int) -> str:
    """`three times`."""
    if tokens[i].word != "times" or not i:
        return ""
    at = i - 2 if tokens[i - 1].text == ")" else i - 1
    return _number(tokens, at) if at >= 0 else ""


def _of(tokens: Sequence[Token], i: int) -> str:
    for at in range(i, min(len(tokens), i + _REACH)):
        if tokens[at].text in _ENDS:
            break
        value = _number(tokens, at) or (stem_of(tokens[at].word) if _names_thing(tokens[at]) else "")
        if value:
            return value
    return ""


def _names_thing(token: Token) -> bool:
    return is_content(token) and token.kind is Kind.WORD and token.word not in ("usd", "eur", "gbp", "amount")


def _number(tokens: Sequence[Token], i: int) -> str:
    numeral = numeral_at(tokens, i)
    return trimmed(numeral.value) if numeral else ""
