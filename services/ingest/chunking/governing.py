"""Words that govern sentences, and which of them govern those of a chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from corpus.spans import Span

WORDS_A_PART = 40
"""A lead-in of more than three parts keeps so many of its first words, and twice as many of its last."""
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Governing:
    """Words that govern sentences."""

    span: Span
    is_condition: bool
    """Whether they stand after the list."""
    governs: tuple[int, ...]
    """Indices of the governed units, ascending."""


class Contexts:
    """What governs sentences, by the sentences."""

    def __init__(self, found: Sequence[Governing], unit_count: int) -> None:
        self._found = found
        self._by_unit: list[list[int]] = [[] for _ in range(unit_count)]
        for number, governing in enumerate(found):
            for index in governing.governs:
                self._by_unit[index].append(number)

    def within(self, first: int, end: int) -> Iterator[tuple[Governing, int, int]]:
        """What governs units `first` to `end` (exclusive), with first and last unit of each run of them."""
        governed: dict[int, list[int]] = {}
        for index in range(first, end):
            for number in self._by_unit[index]:
                governed.setdefault(number, []).append(index)
        for number in sorted(governed):
            for _, run in groupby(enumerate(governed[number]), key=lambda pair: pair[1] - pair[0]):
                indices = [index for _, index in run]
                yield self._found[number], indices[0], indices[-1]


def bounded(text: str, span: Span, only_beginning: bool) -> Iterator[Span]:
    """The span, or of a longer one its first words, and its last."""
    words = list(_WORD.finditer(text, span.start, span.end))
    if len(words) <= 3 * WORDS_A_PART and not only_beginning:
        yield span
        return
    yield Span(words[0].start(), words[min(len(words), WORDS_A_PART) - 1].end())
    if not only_beginning:
        yield Span(words[-2 * WORDS_A_PART].start(), words[-1].end())
