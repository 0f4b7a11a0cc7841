"""Decides where chunks begin and end.

Units are taken in order, and each chunk ends where that reads best: before a section rather than in one,
before a paragraph rather than in one, and near the target. Small sections share a chunk, but for those of the
first level, each of which is packed alone. Looking ahead no
further than one chunk keeps this linear, and never costs more than a slightly short last chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.ingest.chunking.units import Unit
from services.ingest.headings import Heading

_NEW_SECTION = 0.45
_PER_LEVEL = 0.08
"""A section further out is a better place to end before it."""
_NEW_ENTRY = 0.3
_NEW_BLOCK = 0.2
_END = 1.0
_WITHIN_ENTRY = -0.1
_WITHIN_SENTENCE = -0.5
_SHORT = -2.0
_OVERLAP_SHARE = 3
"""The repeated sentences are at most this part of the target: more would be a chunk of their own."""


@dataclass(frozen=True, slots=True)
class Range:
    """The units of one chunk: `first` to `end` (exclusive), of which those before `own` are repeated."""

    first: int
    own: int
    end: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """Weights that chunks keep to; see `ChunkLimits`."""

    target: int
    most: int
    least: int
    overlap: int


def appeals(
    units: Sequence[Unit], headings: Sequence[Heading], entries: set[int], inside: set[int]
) -> list[float]:
    """How well a chunk ends before each unit, 0 for an ordinary sentence, more is better.

    `entries` are the indices of units that begin a definition, `inside` of those that continue one.
    """
    return [_appeal(unit, index, headings, entries, inside) for index, unit in enumerate(units)]


def _appeal(
    unit: Unit, index: int, headings: Sequence[Heading], entries: set[int], inside: set[int]
) -> float:
    if unit.continues:
        return _WITHIN_SENTENCE
    if unit.opens_section:
        return _NEW_SECTION - _PER_LEVEL * min(len(headings[unit.section].chain) - 1, 4)
    if index in entries:
        return _NEW_ENTRY
    return (_NEW_BLOCK if unit.opens_block else 0.0) + (_WITHIN_ENTRY if index in inside else 0.0)


def pack_divisions(
    units: Sequence[Unit], appeal: Sequence[float], divisions: Sequence[range], sizes: Sizes
) -> list[Range]:
    """Return the chunks of all divisions, none of which shares a chunk with another."""
    return [
        Range(division.start + place.first, division.start + place.own, division.start + place.end)
        for division in divisions
        for place in pack(
            units[division.start : division.stop], appeal[division.start : division.stop], sizes
        )
    ]


def pack(units: Sequence[Unit], appeal: Sequence[float], sizes: Sizes) -> list[Range]:
    """Return the chunks of `units` in order: together they own every unit once, and none outweighs `most`."""
    rest = [0] * (len(units) + 1)
    for index in range(len(units) - 1, -1, -1):
        rest[index] = rest[index + 1] + units[index].weight
    ranges: list[Range] = []
    own = 0
    while own < len(units):
        first = _overlap(units, own, ranges[-1].own + 1 if ranges else 0, sizes)
        end = _best_end(units, appeal, rest, Range(first, own, own), sizes)
        ranges.append(Range(first, own, end))
        own = end
    return ranges


def _overlap(units: Sequence[Unit], own: int, earliest: int, sizes: Sizes) -> int:
    """The first sentence that the chunk owning `own` repeats: `earliest` or later, of its section, no row."""
    first = own
    weight = units[own].weight + units[own].gap
    most = min(sizes.most, units[own].weight + sizes.target // _OVERLAP_SHARE)
    while first > earliest and own - first < sizes.overlap and not units[first].opens_section:
        before = units[first - 1]
        weight += before.weight
        if weight > most or before.is_row or units[own].is_row:
            break
        first -= 1
        weight += before.gap
    return first


def _best_end(
    units: Sequence[Unit], appeal: Sequence[float], rest: Sequence[int], begun: Range, sizes: Sizes
) -> int:
    total = sum(unit.weight for unit in units[begun.first : begun.own])
    total += sum(unit.gap for unit in units[begun.first + 1 : begun.own + 1])
    best, best_score = begun.own + 1, float("-inf")
    for index in range(begun.own, len(units)):
        total += units[index].weight + (units[index].gap if index > begun.own else 0)
        if total > sizes.most:
            break
        score = _score(total, appeal, rest, index + 1, sizes)
        if score >= best_score:
            best, best_score = index + 1, score
    return best


def _score(total: int, appeal: Sequence[float], rest: Sequence[int], end: int, sizes: Sizes) -> float:
    """How well a chunk of weight `total` ends before unit `end`."""
    appealing = appeal[end] if end < len(appeal) else _END
    score = appealing - abs(total - sizes.target) / sizes.target
    if total < sizes.least or 0 < rest[end] < sizes.least:
        score += _SHORT
    return score
