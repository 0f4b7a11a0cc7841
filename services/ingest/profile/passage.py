"""A part of a text with its white space evened out, so that patterns need not think of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from corpus.spans import Span

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Passage:
    """Words one white space apart: a new line where the text has any, else a space."""

    text: str
    offsets: tuple[int, ...]
    """For each character of `text` the code point of the document that it is, or that its gap starts at."""

    def span(self, start: int, end: int) -> Span:
        """Where characters `start` to `end` (exclusive, not empty) stand in the document."""
        return Span(self.offsets[start], self.offsets[end - 1] + 1)


def passage(text: str, start: int, end: int) -> Passage:
    """The code points `start` to `end` (exclusive) of `text`, without white space at either end."""
    pieces: list[str] = []
    offsets: list[int] = []
    behind = start
    for word in _WORD.finditer(text, start, min(end, len(text))):
        if pieces:
            pieces.append("\n" if "\n" in text[behind : word.start()] else " ")
            offsets.append(behind)
        pieces.append(word[0])
        offsets.extend(range(word.start(), word.end()))
        behind = word.end()
    return Passage("".join(pieces), tuple(offsets))


def one_line(words: str) -> str:
    """The words one space apart."""
    return " ".join(words.split())
