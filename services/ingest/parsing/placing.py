"""Keeps where the words of a PDF page are drawn, and finds them in the text that is written of them.

MuPDF gives the box of every word with the spans that are read. Rows and paragraphs carry the words along.
What is written of a paragraph is its words with some characters left out (marks of notes, what nobody sees)
and few put in (`^`, brackets), so both are walked through side by side, once, while the text is written.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pymupdf

from corpus.layout import SCALE, PlacedLine, PlacedWord

Box = tuple[int, int, int, int]
"""Left, top, right and bottom in tenths of a point, as `corpus.layout` measures them."""
Corners = tuple[float, float, float, float]
"""The same in points."""
ALIKE = 3
"""Letters that agree where two texts go on alike."""
FARTHEST = 24
"""Letters that may be left out or put in at one place."""
WIDEST_GAP = 3
"""Heights of a line between two words of it; what is farther off has a rectangle of its own."""
_TOKEN = re.compile(r"\S+")


@dataclass(slots=True)
class Words:
    """Words of a page in the order in which they are read, each with its box."""

    texts: list[str] = field(default_factory=list)
    """Without white space."""
    boxes: array[int] = field(default_factory=lambda: array("i"))
    """Four numbers a word: a document has millions."""

    def add(self, text: str, box: Iterable[int]) -> None:
        """A further word."""
        self.texts.append(text)
        self.boxes.extend(box)

    def extend(self, other: Words) -> None:
        """Further words."""
        self.texts += other.texts
        self.boxes.extend(other.boxes)

    def box(self, index: int) -> Box:
        """Where a word is drawn."""
        left, top, right, bottom = self.boxes[4 * index : 4 * index + 4]
        return left, top, right, bottom


def all_of(parts: Iterable[Words]) -> Words:
    """The words of several places, one after the other."""
    words = Words()
    for part in parts:
        words.extend(part)
    return words


def words_within(words: Words, place: Corners) -> Words:
    """Those whose middle lies in a part of the page."""
    left, top, right, bottom = (2 * SCALE * edge for edge in place)
    boxes = words.boxes
    within = Words()
    for index, text in enumerate(words.texts):
        at = 4 * index
        if left <= boxes[at] + boxes[at + 2] <= right and top <= boxes[at + 1] + boxes[at + 3] <= bottom:
            within.add(text, boxes[at : at + 4])
    return within


class PageWords:
    """The words of a page by the lines of its text, in drawing order."""

    def __init__(self, page: pymupdf.Page, text: pymupdf.TextPage) -> None:
        # Words are found as on a page that is not turned.
        self._turn = page.rotation_matrix if page.rotation else None
        lines = groupby(text.extractWORDS(), key=lambda word: word[5:7])
        self._lines = [words for _, line in lines if (words := self._words(line)).texts]
        self._next = 0

    def of_line(self, spans: Sequence[dict[str, Any]]) -> list[Words]:
        """The words of each span of the next line; one box for all of a span that MuPDF reads otherwise."""
        letters = ["".join(span["text"].split()) for span in spans]
        if not any(letters) or self._next == len(self._lines):
            return [Words() for _ in spans]
        words = self._lines[self._next]
        self._next += 1
        if "".join(words.texts) != "".join(letters):
            boxed = [self._words([(*span["bbox"], span["text"])]) for span in spans]
            return [found if found.texts else Words() for found in boxed]
        return [words] if len(spans) == 1 else list(_shared_out(words, map(len, letters)))

    def _words(self, found: Iterable[tuple[Any, ...]]) -> Words:
        words = Words()
        for left, top, right, bottom, text, *_ in found:
            letters = text if text.isalnum() else "".join(text.split())
            if letters:
                words.texts.append(letters)
                edges = (left, top, right, bottom)
                if self._turn:
                    box = pymupdf.Rect(edges) * self._turn
                    edges = (box.x0, box.y0, box.x1, box.y1)
                words.boxes.extend([round(edge * SCALE) for edge in edges])
        return words


def _shared_out(words: Words, lengths: Iterable[int]) -> Iterator[Words]:
    """The words of a line by its spans, which have so many letters each; one that runs on is the first's."""
    index = taken = wanted = 0
    for length in lengths:
        wanted += length
        own = Words()
        while index < len(words.texts) and taken < wanted:
            own.add(words.texts[index], words.box(index))
            taken += len(words.texts[index])
            index += 1
        yield own


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the text that stands in one word."""

    start: int
    end: int
    box: Box


def place(text: str, start: int, words: Words, page: int, *, runs_down: bool) -> Iterator[PlacedLine]:
    """The lines of a text that begins at `start` of its document and is written of these words of a page."""
    line: list[_Piece] = []
    for piece in _pieces(text, start, words):
        if line and not _side_by_side(line[-1].box, piece.box, runs_down=runs_down):
            yield _line(line, page, runs_down=runs_down)
            line = []
        line.append(piece)
    if line:
        yield _line(line, page, runs_down=runs_down)


def _pieces(text: str, start: int, words: Words) -> Iterator[_Piece]:
    """The words of a text with their boxes; those that are drawn nowhere are left out."""
    tokens = list(_TOKEN.finditer(text))
    if [token.group() for token in tokens] == words.texts:
        for index, token in enumerate(tokens):
            yield _Piece(start + token.start(), start + token.end(), words.box(index))
        return
    owners = _owners("".join([token.group() for token in tokens]), words.texts)
    letter = 0
    for token in tokens:
        length = len(token.group())
        yield from _parts(token.start() + start, owners[letter : letter + length], words)
        letter += length


def _parts(start: int, owners: Sequence[tuple[int, int] | None], words: Words) -> Iterator[_Piece]:
    """One token, in as many pieces as words hold its letters; letters of none go with those beside."""
    known = [(place, owner) for place, owner in enumerate(owners) if owner is not None]
    begin = 0
    runs = [list(run) for _, run in groupby(known, key=lambda item: item[1][0])]
    for number, run in enumerate(runs):
        word, first = run[0][1]
        last = run[-1][1][1]
        end = len(owners) if number == len(runs) - 1 else runs[number + 1][0][0]
        yield _Piece(start + begin, start + end, _share(words, word, first, last + 1))
        begin = end


def _share(words: Words, word: int, first: int, end: int) -> Box:
    """The box of some letters of a word, as if all were as wide."""
    left, top, right, bottom = words.box(word)
    length = len(words.texts[word])
    if right - left >= bottom - top or length == 1:
        width = right - left
        return left + width * first // length, top, left + width * end // length, bottom
    return left, top, right, bottom


def _owners(text: str, texts: Sequence[str]) -> list[tuple[int, int] | None]:
    """For each letter of the text the word that it stands in, and which of its letters it is."""
    source = "".join(texts)
    places = [(word, letter) for word, letters in enumerate(texts) for letter in range(len(letters))]
    owners: list[tuple[int, int] | None] = [None] * len(text)
    here = there = 0
    while here < len(text) and there < len(source):
        if text[here] == source[there]:
            owners[here] = places[there]
            here, there = here + 1, there + 1
        else:
            put_in, left_out = _next_alike(text, here, source, there)
            here, there = here + put_in, there + left_out
    return owners


def _next_alike(text: str, here: int, source: str, there: int) -> tuple[int, int]:
    """How many letters to pass over in each text for both to go on alike; one in each where they do not."""
    for steps in range(1, FARTHEST + 1):
        for put_in in range(steps + 1):
            ahead = text[here + put_in : here + put_in + ALIKE]
            behind = source[there + steps - put_in : there + steps - put_in + ALIKE]
            if ahead and ahead == behind:
                return put_in, steps - put_in
    return 1, 1


def _side_by_side(before: Box, after: Box, *, runs_down: bool) -> bool:
    """Whether two words stand on one line, near each other."""
    if runs_down:
        before, after = _turned(before), _turned(after)
    least = min(before[3] - before[1], after[3] - after[1])
    shared = min(before[3], after[3]) - max(before[1], after[1])
    gap = max(after[0] - before[2], before[0] - after[2])
    return 2 * shared > least and gap <= WIDEST_GAP * max(before[3] - before[1], after[3] - after[1])


def _turned(box: Box) -> Box:
    return box[1], box[0], box[3], box[2]


def _line(pieces: Sequence[_Piece], page: int, *, runs_down: bool) -> PlacedLine:
    boxes = [_turned(piece.box) if runs_down else piece.box for piece in pieces]
    words = [
        PlacedWord(piece.start, piece.end, box[0], max(box[0], box[2]))
        for piece, box in zip(pieces, boxes, strict=True)
    ]
    top, bottom = min(box[1] for box in boxes), max(box[3] for box in boxes)
    return PlacedLine(page, top, bottom, words, runs_down)
