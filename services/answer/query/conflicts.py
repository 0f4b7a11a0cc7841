"""Finds kept clauses that give different values for what looks like the same matter. Conservative.

Two sentences disagree when all of this holds: they stand in different documents; without their values and the
commonest words they share at least six stems and 70 % of all their stems (Jaccard); both hold values of one
kind (an amount in one currency, a percentage, a duration in one unit); and they have none of them in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from corpus.stems import stems_of
from services.answer.sentences import Sentence

MIN_SHARED_STEMS = 6
MIN_SHARE = 0.7
MAX_CONFLICTS = 3
_COMMON = frozenset(
    stems_of("the of and or to in for by on at be is are shall will may any such this that with from as it")
)
_VALUE = re.compile(
    r"(?P<currency>USD|EUR|GBP|CHF|JPY|US\$|[$€£¥])\s?(?P<amount>\d[\d,]*(?:\.\d+)?)"
    r"|(?P<percent>\d+(?:\.\d+)?)\s?(?:%|percent\b|per cent\b)"
    r"|(?P<duration>\d+)\)?\s+(?:\w+\s+)?(?P<unit>day|week|month|year|hour|minute)s?\b",
    re.IGNORECASE,
)
_CURRENCIES = {"us$": "usd", "$": "usd", "€": "eur", "£": "gbp", "¥": "jpy"}


@dataclass(frozen=True, slots=True)
class ValueConflict:
    """Two sentences of different documents that give different values."""

    left: Sentence
    right: Sentence
    values: tuple[str, str]
    """The values in dispute as written in each."""


@dataclass(frozen=True, slots=True)
class _Reading:
    sentence: Sentence
    stems: frozenset[str]
    values: Mapping[str, Mapping[float, str]]


def find_conflicts(sentences: Iterable[Sentence]) -> tuple[ValueConflict, ...]:
    """At most three conflicts among `sentences`, in order of the first of both."""
    readings = [reading for sentence in sentences if (reading := _read(sentence))]
    found = (_conflict(left, right) for left, right in combinations(readings, 2))
    return tuple(conflict for conflict in found if conflict)[:MAX_CONFLICTS]


def _read(sentence: Sentence) -> _Reading | None:
    """The values of a sentence and its other words; None for a sentence without values, as most are."""
    values: dict[str, dict[float, str]] = {}
    for kind, value, written in _values(sentence.text):
        values.setdefault(kind, {})[value] = written
    if not values:
        return None
    words = frozenset(stems_of(_VALUE.sub(" ", sentence.text))) - _COMMON
    return _Reading(sentence, words, values)


def _values(text: str) -> Iterator[tuple[str, float, str]]:
    for match in _VALUE.finditer(text):
        if match["amount"]:
            currency = match["currency"].lower()
            kind = _CURRENCIES.get(currency, currency)
            yield kind, float(match["amount"].replace(",", "")), match.group()
        elif match["percent"]:
            yield "percent", float(match["percent"]), match.group()
        else:
            yield match["unit"].lower(), float(match["duration"]), match.group()


def _conflict(left: _Reading, right: _Reading) -> ValueConflict | None:
    if left.sentence.chunk.document_id == right.sentence.chunk.document_id:
        return None
    shared = left.stems & right.stems
    if len(shared) < MIN_SHARED_STEMS or len(shared) < MIN_SHARE * len(left.stems | right.stems):
        return None
    for kind in sorted(left.values.keys() & right.values.keys()):
        if not left.values[kind].keys() & right.values[kind].keys():
            first = next(iter(left.values[kind].values())), next(iter(right.values[kind].values()))
            return ValueConflict(left.sentence, right.sentence, first)
    return None
