"""Builds the extracted text and its blocks together, so that every span slices back by construction.

Blocks are separated by a blank line (`\\n\\n`), rows of one table by a single line break, lines inside a
block by a single line break.
"""

from __future__ import annotations

import re
from dataclasses import replace

from corpus.chunks import TextDoubt, TextDoubtKind
from corpus.spans import Span
from services.ingest.documents import Block, BlockKind, Style
from services.ingest.errors import DocumentTooLarge
from services.ingest.parsing.invisible import readable
from services.ingest.parsing.raised import GAP, NOTHING_KNOWN, tell_apart

TABLE_KINDS = (BlockKind.TABLE_HEADER, BlockKind.TABLE_ROW)
CELL_SEPARATOR = " | "
_AMOUNT = re.compile(r"[\s$€£¥(+-]*\d")


class TextBuilder:
    """Collects blocks in reading order; `text` and `blocks` are the result."""

    def __init__(self, max_characters: int, known_marks: frozenset[str] = NOTHING_KNOWN) -> None:
        """Raise `DocumentTooLarge` as soon as the text passes `max_characters` code points.

        `known_marks` stand before the document's own notes (see `raised`).
        """
        self.blocks: list[Block] = []
        self.known_marks = known_marks
        self.reference_marks = 0
        """Marks of notes, left out of what was added."""
        self.doubts: list[TextDoubt] = []
        """Where words are missing, in order."""
        self.length = 0
        self.hidden_characters = 0
        """Characters that nobody sees, left out of what was added (see `invisible`)."""
        self._parts: list[str] = []
        self._max_characters = max_characters

    @property
    def text(self) -> str:
        """The whole text so far."""
        return "".join(self._parts)

    def tail(self) -> str:
        """The last characters written, at least one when there are any."""
        return self._parts[-1] if self._parts else ""

    def write(self, text: str) -> None:
        """Append characters that belong to no block."""
        self._parts.append(text)
        self.length += len(text)
        if self.length > self._max_characters:
            raise DocumentTooLarge(
                f"The file has more than {self._max_characters:,} characters of text.", field="path"
            )

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int | None = None,
        style: Style | None = None,
        depth: int = 0,
    ) -> None:
        """Append a block; white space around `text` is dropped, a block without text is ignored."""
        text, gaps = self._readable(text)
        if not text:
            return
        if self.blocks:
            rows = kind is BlockKind.TABLE_ROW and self.blocks[-1].kind in TABLE_KINDS
            self.write("\n" if rows else "\n\n")
        start = self.length
        self.write(text)
        self._doubt(start, gaps)
        self.blocks.append(Block(kind, Span(start, self.length), level, style, depth))

    def extend(self, text: str, separator: str = "\n") -> None:
        """Append further lines to the last block; none when nobody sees them."""
        text, gaps = self._readable(text)
        if not text:
            return
        last = self.blocks[-1]
        self.write(separator + text)
        self._doubt(self.length - len(text), gaps)
        self.blocks[-1] = replace(last, span=Span(last.span.start, self.length))

    def _readable(self, text: str) -> tuple[str, list[int]]:
        """The text to write, and the places in it where something that is no text stands."""
        text, unseen = readable(text)
        self.hidden_characters += unseen
        text, marks = tell_apart(text.strip(), self.known_marks)
        self.reference_marks += marks
        return _without_gaps(text) if GAP in text else (text.strip(), [])

    def _doubt(self, start: int, gaps: list[int]) -> None:
        """Doubt the characters on either side of each gap, as far as the text goes."""
        for gap in gaps:
            span = Span(max(start, start + gap - 1), min(self.length, start + gap + 1))
            if self.doubts and self.doubts[-1].span.end > span.start:
                span = Span(self.doubts.pop().span.start, span.end)
            self.doubts.append(TextDoubt(span, TextDoubtKind.MISSING_WORDS))


def _without_gaps(text: str) -> tuple[str, list[int]]:
    """A text without the signs of gaps, and where they stood; no words, no gaps."""
    pieces = [" ".join(piece.split(" ")) for piece in text.split(GAP)]
    written = pieces[0].lstrip()
    gaps: list[int] = []
    for piece in pieces[1:]:
        if written[-1:].isalnum() and piece[:1].isalnum():
            piece = " " + piece
        gaps.append(len(written))
        written += piece.lstrip(" ") if written[-1:] in ("", " ", "\n") else piece
    written = written.rstrip()
    return written, [min(gap, len(written)) for gap in gaps] if any(map(str.isalnum, written)) else []


def join_cells(cells: list[str]) -> str:
    """One table row as text: cells with their white space collapsed, joined with ` | `; empty if all are."""
    collapsed = [" ".join(cell.split()) for cell in cells]
    return CELL_SEPARATOR.join(collapsed) if any(collapsed) else ""


def without_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    """Rows of equal length, without columns that no row fills: many tables use them as margins."""
    width = max(map(len, rows))
    padded = [row + [""] * (width - len(row)) for row in rows]
    used = [index for index in range(width) if any(row[index].strip() for row in padded)]
    return [[row[index] for index in used] for row in padded]


def looks_like_header(cells: list[str]) -> bool:
    """Whether a first row names the columns: it fills every one, and not with an amount."""
    return len(cells) > 1 and all(cell.strip() and not _AMOUNT.match(cell) for cell in cells)
