"""Where the words of a text stand on the pages of its file, in few bytes, and the rectangles of a part of it.

Lengths are tenths of a point, measured from the upper left corner of a page as it is shown: cut to its crop
box and turned as the file says, y downwards. What is stored is a run of numbers (`encode`), about four bytes
a word, which nobody reads but this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpus.spans import Span

SCALE = 10
"""Units of a point."""


class PlacedWord(NamedTuple):
    """Characters that stand side by side on one line of a page."""

    start: int
    """First code point of the document's extracted text; so is `end`, exclusive."""
    end: int
    near: int
    """Where it begins along its line: its left edge, or its upper edge where the line runs down the page."""
    far: int
    """Where it ends along its line."""


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """Words that stand side by side, in the order of the text."""

    page: int
    """From 1."""
    top: int
    """The upper edge of all its words; the left edge where the line runs down the page."""
    bottom: int
    words: Sequence[PlacedWord]
    runs_down: bool = False
    """Whether its words stand above each other: the page is shown turned."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A part of a page."""

    page: int
    left: int
    top: int
    right: int
    bottom: int


def encode(lines: Iterable[PlacedLine]) -> bytes:
    """The lines, in the order of the text, as bytes; none for no lines."""
    return bytes(_bytes_of(_numbers(lines)))


def decode(layout: bytes) -> Iterator[PlacedLine]:
    """The lines of what `encode` gave."""
    numbers = _numbers_of(layout)
    page = top = start = near = 0
    for turn in numbers:
        page += _signed(turn >> 1)
        top += _signed(next(numbers))
        bottom = top + next(numbers)
        words: list[PlacedWord] = []
        far = near
        for _ in range(next(numbers)):
            length = next(numbers)
            start += next(numbers) if length & 1 else 1
            end = start + (length >> 1)
            left = far + _signed(next(numbers))
            far = left + next(numbers)
            words.append(PlacedWord(start, end, left, far))
            start = end
        near = words[0].near
        yield PlacedLine(page, top, bottom, tuple(words), bool(turn & 1))


def rectangles(layouts: Iterable[bytes], spans: Sequence[Span]) -> tuple[Rectangle, ...]:
    """Where the words at these spans stand, a rectangle for each line, in the order of the text.

    Each of `layouts` is of a part of one document; parts may overlap, and one line may be known from two.
    """
    held: dict[int, tuple[PlacedLine, PlacedWord]] = {}
    for layout in layouts:
        for line in decode(layout):
            for word in line.words:
                if any(_touches(word, span) for span in spans):
                    held.setdefault(word.start, (line, word))
    found: list[tuple[PlacedLine, list[PlacedWord]]] = []
    for _, (line, word) in sorted(held.items(), key=lambda item: item[0]):
        if found and _goes_on(found[-1][0], found[-1][1][-1], line, word):
            found[-1][1].append(word)
        else:
            found.append((line, [word]))
    return tuple(_around(line, words) for line, words in found)


def cut_lines(lines: Iterable[PlacedLine], span: Span) -> Iterator[PlacedLine]:
    """The lines with those words alone that stand in the span."""
    for line in lines:
        words = [word for word in line.words if _touches(word, span)]
        if words:
            yield PlacedLine(line.page, line.top, line.bottom, words, line.runs_down)


def _touches(word: PlacedWord, span: Span) -> bool:
    return word.start < span.end and word.end > span.start


def _goes_on(line: PlacedLine, last: PlacedWord, other: PlacedLine, word: PlacedWord) -> bool:
    """Whether a word follows on the same line, which two layouts may each know a part of."""
    same = (line.page, line.top, line.bottom) == (other.page, other.top, other.bottom)
    return line is other or (same and word.start - last.end <= 1)


def _around(line: PlacedLine, words: Sequence[PlacedWord]) -> Rectangle:
    near, far = min(word.near for word in words), max(word.far for word in words)
    if line.runs_down:
        return Rectangle(line.page, line.top, near, line.bottom, far)
    return Rectangle(line.page, near, line.top, far, line.bottom)


def _numbers(lines: Iterable[PlacedLine]) -> Iterator[int]:
    """What is stored: by how much each line, and each word, differs from the one before.

    A word begins one character behind the one before it, but where its length has its lowest bit set.
    """
    page = top = start = near = 0
    for line in lines:
        yield _unsigned(line.page - page) << 1 | line.runs_down
        yield _unsigned(line.top - top)
        yield line.bottom - line.top
        yield len(line.words)
        far = near
        for word in line.words:
            yield (word.end - word.start) << 1 | (word.start - start != 1)
            if word.start - start != 1:
                yield word.start - start
            yield _unsigned(word.near - far)
            yield word.far - word.near
            start, far = word.end, word.far
        page, top, near = line.page, line.top, line.words[0].near


def _unsigned(number: int) -> int:
    """Small numbers of either sign as small numbers without one: 0, -1, 1, -2 as 0, 1, 2, 3."""
    return number << 1 if number >= 0 else (-number << 1) - 1


def _signed(number: int) -> int:
    return -((number + 1) >> 1) if number & 1 else number >> 1


def _bytes_of(numbers: Iterable[int]) -> Iterator[int]:
    """Seven bits a byte, the lowest first; all but the last byte of a number have the eighth bit set."""
    for number in numbers:
        rest = number
        while rest > 0x7F:
            yield rest & 0x7F | 0x80
            rest >>= 7
        yield rest


def _numbers_of(layout: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in layout:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number = shift = 0
