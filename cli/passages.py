"""Turns verbatim passages into terminal text: reflowed, excerpted around the quotes, quotes highlighted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from clausegate.answer.v1.answer_pb2 import SupportingClause
from clausegate.corpus.v1.citation_pb2 import Citation

CONTEXT_CHARACTERS = 140
"""Shown on either side of a quote in an excerpt."""
HEAD_CHARACTERS = 200
"""Shown of a passage without quotes."""
QUOTE_STYLE = "bold"
CONTEXT_STYLE = "dim"


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters `start` (from 0) to `end` (exclusive) of a passage."""

    start: int
    end: int
    quoted: bool


def highlighted(clause: SupportingClause, full: bool) -> Text:
    """The passage with its quotes in bold; unless `full`, only what stands around them."""
    offset = clause.span.start
    quotes = [(span.start - offset, span.end - offset) for span in clause.quoted]
    pieces = list(cut(len(clause.text), quotes))
    shown = pieces if full else list(excerpt(clause.text, pieces))
    text, words, reached = Text(), _joined_lines(clause.text), 0
    for piece in shown:
        if piece.start > reached:
            text.append(" … " if text else "… ", CONTEXT_STYLE)
        style = QUOTE_STYLE if piece.quoted else CONTEXT_STYLE
        text.append(_squeeze(words[piece.start : piece.end]), style)
        reached = piece.end
    if reached < len(clause.text.rstrip()):
        text.append(" …", CONTEXT_STYLE)
    return text


def cut(length: int, quotes: Iterable[tuple[int, int]]) -> Iterator[Piece]:
    """Cut `length` characters at the quotes; the pieces tile them. Overlapping quotes are joined."""
    reached = 0
    for start, end in sorted(quotes):
        start, end = max(start, reached), min(end, length)
        if start >= end:
            continue
        if start > reached:
            yield Piece(reached, start, quoted=False)
        yield Piece(start, end, quoted=True)
        reached = end
    if reached < length:
        yield Piece(reached, length, quoted=False)


def excerpt(text: str, pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Quotes whole, and of everything between them only what is next to one, cut at white space."""
    if not any(piece.quoted for piece in pieces):
        yield Piece(0, _word_end(text, HEAD_CHARACTERS), quoted=False)
        return
    for number, piece in enumerate(pieces):
        first, last = number == 0, number == len(pieces) - 1
        head_end = piece.start if first else _word_end(text, piece.start + CONTEXT_CHARACTERS)
        tail_start = piece.end if last else _word_start(text, piece.end - CONTEXT_CHARACTERS)
        if piece.quoted or head_end >= tail_start:
            yield piece
            continue
        if not first:
            yield Piece(piece.start, head_end, quoted=False)
        if not last:
            yield Piece(tail_start, piece.end, quoted=False)


def _word_end(text: str, position: int) -> int:
    """The first end of a word at or after `position`."""
    found = re.compile(r"\s|\Z").search(text, min(position, len(text)))
    return found.start() if found else len(text)


def _word_start(text: str, position: int) -> int:
    """The last start of a word at or before `position`."""
    return max(text.rfind(space, 0, max(0, position)) for space in " \n") + 1


def reflow(text: str) -> str:
    """Join the lines of paragraphs, keep those of tables, and squeeze white space."""
    return _squeeze(_joined_lines(text))


def _joined_lines(text: str) -> str:
    """Every line break inside a paragraph becomes a space; the length stays, so positions do."""
    lines = text.split("\n")
    joined = lines[0]
    for before, line in pairwise(lines):
        keeps = " | " in before or " | " in line or not before.strip() or not line.strip()
        joined += ("\n" if keeps else " ") + line
    return joined


def _squeeze(text: str) -> str:
    """No document may steer the terminal: what control characters are left is shown as such."""
    return visible(re.sub(r" ?\n[\n ]*", "\n", re.sub(r"[^\S\n]+", " ", text)))


def visible(text: str) -> str:
    """`text` with its control characters shown as such, line breaks and tabs excepted.

    So are the bidirectional controls, which turn round what is read.
    """
    return re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", "\ufffd", text
    )


def name_of(cited: Citation | SupportingClause) -> str:
    """What people call its document; what was cited before documents had labels has its title."""
    return cited.document_label or cited.title


@dataclass(frozen=True, slots=True)
class Barred:
    """Text with a bar on its left, as long as the text is."""

    text: Text
    style: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the bar beside every line."""
        bar = Segment("▌ ", Style.parse(self.style))
        for line in console.render_lines(self.text, options.update(width=options.max_width - 2), pad=False):
            yield bar
            yield from line
            yield Segment.line()
