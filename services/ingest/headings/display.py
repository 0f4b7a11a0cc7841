"""Tells headings without a number by how they stand: in capitals, alone, bold or large."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from services.ingest.documents import Block, Style
from services.ingest.headings.captions import is_party
from services.ingest.vocabulary import CAPTION_SMALL_WORDS, NOT_HEADING_LINES, NOT_HEADINGS

_MAX_CAPITAL_WORDS = 9
"""A line of ten words in capitals is text that shouts."""
_MAX_TITLE_WORDS = 8
MAX_CHARACTERS = 90
"""No longer line is a heading by its looks."""
_REPEATS_OF_RUNNING_HEADS = 3
_LONGER = 60
"""Characters of the line below a short heading, at least."""
_FORBIDDEN = re.compile(r"[_$@|<>=\[\]{}\t]|\.\.|--|\S\s{3,}\S|/s/")
_DATE_OR_ADDRESS = re.compile(
    r"\d{5}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d", re.IGNORECASE
)
_QUOTES = "\"“‘'"
_LETTERS = re.compile(r"[^\W\d_]+")

CAPITALS = 8
"""Prominence of a heading in capitals, below any that is larger than the body."""
SHORT_LINE = 9
"""Prominence of a short line in title case."""


class DisplayRules:
    """What stands out in one document: needs all lines first, for its body's style and its running heads."""

    def __init__(self, lines: Sequence[str], blocks: Sequence[Block]) -> None:
        self._repeats = Counter(_shape(line) for line in lines if len(line) <= MAX_CHARACTERS)
        characters: Counter[Style] = Counter()
        for block in blocks:
            if block.style:
                characters[block.style] += block.span.end - block.span.start
        self._body = characters.most_common(1)[0][0] if characters else None
        sizes = {
            style.font_size for style in characters if self._body and style.font_size > self._body.font_size
        }
        self._larger = sorted(sizes, reverse=True)

    def prominence(self, line: str, following: str, style: Style | None) -> int | None:
        """Return how far out `line` is as a heading, 0 the furthest; None when it heads nothing.

        `following` is the next line of text, empty at the end of the document.
        """
        words = line.split()
        if not following or not self._may_head(line, words):
            return None
        styled = self._styled(words, style)
        if styled is not None:
            return styled
        if line.isupper():
            return CAPITALS if len(words) <= _MAX_CAPITAL_WORDS else None
        return SHORT_LINE if _is_title(words) and _is_text(following) else None

    def _may_head(self, line: str, words: list[str]) -> bool:
        if not words or len(line) > MAX_CHARACTERS or self.is_running(line):
            return False
        if not any(len(word) > 2 for word in _LETTERS.findall(line)):
            return False
        if line[0] in _QUOTES or line[-1] in ".,;" or words[-1] in CAPTION_SMALL_WORDS:
            return False
        if _FORBIDDEN.search(line) or _DATE_OR_ADDRESS.search(line) or is_party(words):
            return False
        first = words[0].strip("([\"'“.,:").lower()
        return first not in NOT_HEADINGS and line.lower().strip(" :") not in NOT_HEADING_LINES

    def is_running(self, line: str) -> bool:
        """Tell whether `line` is a running head or foot: the same, but for its numbers, on several pages."""
        return self._repeats[_shape(line)] >= _REPEATS_OF_RUNNING_HEADS

    def _styled(self, words: list[str], style: Style | None) -> int | None:
        if style is None or self._body is None or len(words) > _MAX_CAPITAL_WORDS + _MAX_TITLE_WORDS:
            return None
        if style.font_size in self._larger:
            return min(self._larger.index(style.font_size), CAPITALS - 2)
        return (
            CAPITALS - 1
            if style.bold and not self._body.bold and style.font_size >= self._body.font_size
            else None
        )


def _shape(line: str) -> str:
    """The line with its numbers masked: running heads count pages."""
    return re.sub(r"\d+", "#", " ".join(line.split()).lower())


def _is_title(words: list[str]) -> bool:
    if len(words) > _MAX_TITLE_WORDS or words[-1].endswith(":") or any(map(_has_digit, words)):
        return False
    return words[0][0].isupper() and all(word[0].isupper() or word in CAPTION_SMALL_WORDS for word in words)


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _is_text(line: str) -> bool:
    """A line that a heading can stand above: long, and the beginning of something."""
    return len(line) >= _LONGER and not line[0].islower()
