"""Joins the paragraphs of a PDF over its pages: a sentence goes on behind headers, footers and footnotes.

What stands between the two halves of a sentence is put before or after its paragraph, on its own page where
that can be.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from corpus.chunks import TextDoubt, TextDoubtKind
from corpus.layout import PlacedLine
from corpus.spans import Span
from services.ingest import markers
from services.ingest.documents import BlockKind, Page
from services.ingest.parsing.building import TextBuilder
from services.ingest.parsing.layout import ACROSS, FULL_ROW, MARGIN, Paragraph, Row, carries_on, is_wrapped
from services.ingest.parsing.placing import Words, place
from services.ingest.parsing.tables import Table
from services.ingest.sentences import reads_on
from services.ingest.vocabulary import VERBS

FOOTNOTE = 8
"""Tenths of a point by which a footnote is smaller than the text."""
LONGEST_ASIDE = 3
"""Rows of what stands apart at the top or bottom of a page."""
APART = 1.8
"""Font sizes between the baselines of such rows and the text."""
WIDEST_ASIDE = 90
"""Characters of such a row."""
ITEM_WORDS = 3
"""Words behind a mark that make an item of a row: `A. Smith` is a name."""
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph or table of one page."""

    page: int
    """From 1."""
    content: Paragraph | Table
    runs_down: bool = False
    """Whether the lines of its page run down the page as it is shown."""

    @property
    def is_margin(self) -> bool:
        """Whether it is a running head, or the like, that is kept."""
        return isinstance(self.content, Paragraph) and self.content.rows[0].column == MARGIN


def joined(pieces: Sequence[Piece], body_size: int) -> Iterator[list[Piece]]:
    """The pieces in reading order; those of one paragraph together."""
    flow = _Flow(pieces, body_size)
    position = 0
    while position < len(pieces):
        passage = [pieces[position]]
        before: list[Piece] = []
        after: list[Piece] = []
        while (following := flow.following(position, is_text=len(passage) > 1)) is not None:
            for aside in pieces[position + 1 : following]:
                (before if aside.page == passage[0].page else after).append(aside)
            passage.append(pieces[following])
            position = following
        yield from ([aside] for aside in before)
        yield passage
        yield from ([aside] for aside in after)
        position += 1


class _Flow:
    """Tells where the text goes on."""

    def __init__(self, pieces: Sequence[Piece], body_size: int) -> None:
        self._pieces = pieces
        self._body_size = body_size
        baselines: dict[int, list[int]] = defaultdict(list)
        for piece in pieces:
            if isinstance(piece.content, Paragraph):
                baselines[piece.page] += [row.baseline for row in piece.content.rows]
        self._baselines = {page: sorted(found) for page, found in baselines.items()}

    def following(self, position: int, *, is_text: bool) -> int | None:
        """Where the sentence goes on that the paragraph at `position` ends with; None when it ends there.

        `is_text`: the paragraph is known to be no header, since a sentence runs into it.
        """
        piece = self._pieces[position]
        if piece.is_margin or not isinstance(piece.content, Paragraph):
            return None
        near = self._next(position, self._is_surely_aside)
        far = self._next(position, self._may_be_aside)
        last = piece.content.rows[-1]
        if far is not None and far != near and (near is None or not self._first(near).text[0].islower()):
            # What stands between may be a header, unless it begins like the rest of a sentence.
            first = self._first(far)
            if not is_text and self._may_be_aside(piece) and not first.text[0].islower():
                return None
            if (inner := self._text_between(position, far)) is not None:
                return inner if reads_on(last.text, self._first(inner).text) else None
            if reads_on(last.text, first.text) or (
                (near is None or reads_on(last.text, self._first(near).text) is None)
                and carries_on(last, first, piece.content.right_edge)
            ):
                return far
        if near is None or not carries_on(last, self._first(near), piece.content.right_edge):
            return None
        if not is_text and self._may_be_aside(piece) and not self._first(near).text[0].islower():
            return None
        return near

    def _text_between(self, position: int, far: int) -> int | None:
        """What looks like a header but has a sentence run out of it, and into it unless the row above is
        short, as that of a heading: a printed page's end."""
        before, after = self._pieces[position].content, self._first(far)
        assert isinstance(before, Paragraph)
        for index in range(position + 1, far):
            content = self._pieces[index].content
            if (
                isinstance(content, Paragraph)
                and not self._is_surely_aside(self._pieces[index])
                and len(content.text) >= FULL_ROW
                and (content.text[0].islower() or not VERBS.isdisjoint(content.text.lower().split()))
                and self._leads_on(before, content)
                and carries_on(content.rows[-1], after, content.right_edge)
            ):
                return index
        return None

    def _leads_on(self, above: Paragraph, below: Paragraph) -> bool:
        last, first = above.rows[-1], below.rows[0]
        return bool(reads_on(last.text, first.text)) or not is_wrapped(last, first, above.right_edge)

    def _first(self, index: int) -> Row:
        content = self._pieces[index].content
        assert isinstance(content, Paragraph)
        return content.rows[0]

    def _next(self, position: int, is_aside: Callable[[Piece], bool]) -> int | None:
        """The next paragraph of text, in another column or on the next page; None where there is none."""
        piece = self._pieces[position]
        index = position + 1
        while index < len(self._pieces) and is_aside(self._pieces[index]):
            index += 1
        if index == len(self._pieces) or self._pieces[index].page > piece.page + 1:
            return None
        following = self._pieces[index]
        if not isinstance(following.content, Paragraph) or not isinstance(piece.content, Paragraph):
            return None
        is_apart = following.page > piece.page or index > position + 1
        same_column = following.content.rows[0].column == piece.content.rows[-1].column
        return None if not is_apart or (following.page == piece.page and same_column) else index

    def _is_surely_aside(self, piece: Piece) -> bool:
        """Whether a piece is a running head or a footnote."""
        if piece.is_margin:
            return True
        content = piece.content
        return isinstance(content, Paragraph) and all(
            row.size <= self._body_size - FOOTNOTE for row in content.rows
        )

    def _may_be_aside(self, piece: Piece) -> bool:
        """Whether a piece may be a header or footer: a few rows at the edge of a page, apart from text."""
        if self._is_surely_aside(piece):
            return True
        if not isinstance(piece.content, Paragraph):
            return False
        rows = piece.content.rows
        if (
            rows[0].column > ACROSS
            or len(rows) > LONGEST_ASIDE
            or any(len(row.text) > WIDEST_ASIDE for row in rows)
        ):
            return False
        if _is_item(rows[0].text):
            return False
        baselines = self._baselines[piece.page]
        above = bisect_left(baselines, rows[0].baseline)
        below = bisect_right(baselines, rows[-1].baseline)
        least = APART * max(row.size for row in rows)
        starts = above < LONGEST_ASIDE and (
            below == len(baselines) or baselines[below] - rows[-1].baseline >= least
        )
        ends = len(baselines) - below < LONGEST_ASIDE and (
            above == 0 or rows[0].baseline - baselines[above - 1] >= least
        )
        return starts or ends


def _is_item(text: str) -> bool:
    """Whether a row begins an item of a list: `9. transmit the Reports`, but not `- 3 -`."""
    marker = markers.read(text, 0, len(text), opens_line=True)
    return marker is not None and len(_WORD.findall(text, marker.end)) >= ITEM_WORDS


def write(builder: TextBuilder, passages: Iterator[list[Piece]], page_count: int) -> Written:
    """Write passages in order; the pages tile the text."""
    ends = [0] * (page_count + 1)
    doubts: list[TextDoubt] = []
    lines: list[PlacedLine] = []
    reached = 0
    for passage in passages:
        for index, piece in enumerate(passage):
            lines += _write_piece(builder, piece, goes_on=index > 0)
            reached = max(reached, piece.page)
            ends[reached] = builder.length
        if builder.blocks and any(map(_is_doubtful, passage)):
            doubts.append(TextDoubt(builder.blocks[-1].span, TextDoubtKind.READING_ORDER))
    pages: list[Page] = []
    start = 0
    for number in range(1, page_count + 1):
        end = max(start, ends[number])
        pages.append(Page(number, Span(start, end)))
        start = end
    return Written(tuple(pages), tuple(doubts), tuple(lines))


@dataclass(frozen=True, slots=True)
class Written:
    """What is known of a text besides its blocks."""

    pages: tuple[Page, ...]
    doubts: tuple[TextDoubt, ...]
    lines: tuple[PlacedLine, ...]


def _is_doubtful(piece: Piece) -> bool:
    return isinstance(piece.content, Paragraph) and any(row.doubtful for row in piece.content.rows)


def _write_piece(builder: TextBuilder, piece: Piece, *, goes_on: bool) -> Iterator[PlacedLine]:
    """Write a piece, and tell where its words stand."""
    content = piece.content
    if isinstance(content, Table):
        for index, row in enumerate(content.rows):
            is_header = index == 0 and content.has_header
            kind = BlockKind.TABLE_HEADER if is_header else BlockKind.TABLE_ROW
            yield from _placed(builder, piece, content.words[index], partial(builder.add, kind, row))
    elif goes_on:
        yield from _placed(builder, piece, content.words, partial(builder.extend, content.text))
    else:
        add = partial(builder.add, BlockKind.PARAGRAPH, content.text, style=content.style)
        yield from _placed(builder, piece, content.words, add)


def _placed(
    builder: TextBuilder, piece: Piece, words: Words, write: Callable[[], None]
) -> Iterator[PlacedLine]:
    before = builder.length
    write()
    if builder.length > before:
        text = builder.tail()
        yield from place(text, builder.length - len(text), words, piece.page, runs_down=piece.runs_down)
