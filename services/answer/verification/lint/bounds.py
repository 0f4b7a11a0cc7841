"""Finds bounds (`at least`, `no later than`) and rates (`monthly`, `per year`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.answer.verification.lint.numerals import numeral_at, trimmed
from services.answer.verification.lint.quantities import RATES, time_of, written
from services.answer.verification.lint.tokens import Kind, Token
from services.answer.verification.lint.wording import is_content, stem_of

_PHRASES: dict[str, str] = {
    "at least": ">=",
    "minimum of": ">=",
    "or more": ">=",
    "or longer": ">=",
    "or later": ">=",
    "or greater": ">=",
    "at most": "<=",
    "up to": "<=",
    "maximum of": "<=",
    "not exceed": "<=",
    "not to exceed": "<=",
    "not exceeding": "<=",
    "or less": "<=",
    "or fewer": "<=",
    "or earlier": "<=",
    "in excess of": ">",
    "exceed": ">",
    "exceeds": ">",
    "exceeding": ">",
    "exceeded": ">",
    "≥": ">=",
    "≤": "<=",
    ">": ">",
    "<": "<",
    **{f"{word} than": ">" for word in ("more", "greater", "longer", "later", "higher")},
    **{f"{word} than": "<" for word in ("less", "fewer", "shorter", "earlier", "sooner", "lower")},
    **{f"{no} {word} than": "<=" for no in ("no", "not") for word in ("more", "greater", "longer", "later")},
    **{f"{no} {word} than": ">=" for no in ("no", "not") for word in ("less", "fewer", "earlier", "sooner")},
}
_SUPPORTING = {
    "within": "<=",
    "maximum": "<=",
    "minimum": ">=",
    "limited to": "<=",
    "capped at": "<=",
}
"""Say a bound, but too loosely to ask for it: a statement may say `within` of whatever has a date."""
_LONGEST = 3
_REACH = 6
"""Tokens between a bound and its number."""
_RATE_REACH = 4
"""Tokens between a number and the `a` of its rate."""
_DENIAL_REACH = 12
"""Tokens between `exceed` and what denies it."""
_BEHIND = frozenset(("or more", "or longer", "or later", "or greater", "or less", "or fewer", "or earlier"))
_RATE_WORDS = {
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "annual": "year",
    "annually": "year",
    "yearly": "year",
    "annum": "year",
}
_NO_RATE = frozenset((*_RATE_WORDS, "cent", "diem", "se"))


@dataclass(frozen=True, slots=True)
class Bound:
    """`>=`, `<=`, `>` or `<`, and the number it bounds, else the word after it."""

    relation: str
    of: str
    text: str
    asked: bool
    """Whether a statement that says it must have it from its quotes."""
    start: int
    end: int
    """The place of its tokens."""
    denial: int | None = None
    """The token that turns it round from further away: `no` of `in no event shall the fee exceed`."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How often or for each of what, by the unit of time or the stem of the word."""

    unit: str
    text: str
    asked: bool


def bounds_of(tokens: Sequence[Token]) -> list[Bound]:
    """Every bound, in order, the longest phrase first."""
    found, i = [], 0
    while i < len(tokens):
        bound = _bound_at(tokens, i)
        if bound:
            found.append(bound)
        i = bound.end if bound else i + 1
    return found


def rates_of(tokens: Sequence[Token]) -> Iterator[Rate]:
    """Every rate, in order."""
    for i, token in enumerate(tokens):
        if token.word in _RATE_WORDS:
            yield Rate(_RATE_WORDS[token.word], token.text, asked=True)
        unit = time_of(token.word)
        if unit and i:
            before = i - 2 if tokens[i - 1].word in ("calendar", "full") and i > 1 else i - 1
            word = tokens[before].word
            if word in RATES or word in ("single", "one"):
                asked = word in ("per", "each", "every", "/") or _goes_with_number(tokens, before)
                yield Rate(unit, written(tokens[before : i + 1]), asked)
            elif word == "and" and any(token.word == "per" for token in tokens[max(0, before - 3) : before]):
                # `Per user and month`.
                yield Rate(unit, written(tokens[before - 1 : i + 1]), asked=True)
        elif i and is_content(token) and tokens[i - 1].word in RATES and token.word not in _NO_RATE:
            yield Rate(stem_of(token.word), written(tokens[i - 1 : i + 1]), tokens[i - 1].word == "per")


def _goes_with_number(tokens: Sequence[Token], i: int) -> bool:
    """Whether the `a` at token `i` is a rate, as in `58.00 a month` and `58.00 for each user a month`."""
    near = tokens[max(0, i - _RATE_REACH) : i]
    return any(token.kind is Kind.NUMBER for token in near) and not any(token.text in ".;" for token in near)


def _bound_at(tokens: Sequence[Token], i: int) -> Bound | None:
    for length in range(_LONGEST, 0, -1):
        phrase = " ".join(token.word for token in tokens[i : i + length])
        relation = _PHRASES.get(phrase) or _SUPPORTING.get(phrase)
        if relation and i + length <= len(tokens):
            of = _number_before(tokens, i) if phrase in _BEHIND else _number_after(tokens, i + length)
            if of is None and phrase in _BEHIND:
                return None
            text = written(tokens[i : i + length])
            denial = _denial_before(tokens, i) if phrase == "exceed" else None
            if denial is not None:
                relation = "<="
            of = of or _word_after(tokens, i + length)
            return Bound(relation, of, text, phrase in _PHRASES, i, i + length, denial)
    return None


def _denial_before(tokens: Sequence[Token], i: int) -> int | None:
    """The last `no` or `not` before token `i` in its sentence and within reach."""
    for at in range(i - 1, max(-1, i - 1 - _DENIAL_REACH), -1):
        if tokens[at].text in (".", ";"):
            return None
        if tokens[at].word in ("no", "not"):
            return at
    return None


def _number_after(tokens: Sequence[Token], i: int) -> str | None:
    for at in range(i, min(len(tokens), i + _REACH)):
        if tokens[at].text in (".", ";", ","):
            return None
        numeral = numeral_at(tokens, at)
        if numeral:
            return trimmed(numeral.value)
        if tokens[at].kind in (Kind.CODE, Kind.DATE):
            return tokens[at].word
    return None


def _number_before(tokens: Sequence[Token], i: int) -> str | None:
    for at in range(i - 1, max(-1, i - _REACH), -1):
        numeral = numeral_at(tokens, at)
        if numeral and tokens[at].kind is Kind.NUMBER:
            return trimmed(numeral.value)
    for at in range(max(0, i - _REACH), i):
        numeral = numeral_at(tokens, at)
        if numeral:
            return trimmed(numeral.value)
    return None


def _word_after(tokens: Sequence[Token], i: int) -> str:
    words = (token.word for token in tokens[i : i + _REACH] if token.kind is Kind.WORD)
    return next((word for word in words if word not in ("the", "a", "an", "any", "such", "its")), "")
