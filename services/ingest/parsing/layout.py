"""Puts the words of a PDF page together: spans → rows → paragraphs; `columns` orders the rows.

Lengths are tenths of a point, y grows downwards. Pure geometry: nothing here knows PyMuPDF. Characters are
kept as they are; only white space, which a PDF page holds as distances, is made anew: one space between
words, `\\n` between rows of one paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from services.ingest.documents import Style
from services.ingest.parsing.placing import Words, all_of
from services.ingest.parsing.raised import LOWERED, RAISED, SMALL, label
from services.ingest.sentences import reads_on


@dataclass(slots=True)
class Fragment:
    """Words of one row that stand side by side, of whatever fonts."""

    left: int
    right: int
    baseline: int
    size: int
    """Font size of its first span."""
    text: str
    bold_characters: int
    words: Words = field(default_factory=Words)
    """The same words as they are drawn."""


@dataclass(slots=True)
class Row:
    """What stands on one baseline of one column."""

    left: int
    right: int
    baseline: int
    size: int
    text: str
    bold: bool
    column: int
    """Rows of another column never join its paragraphs."""
    cells: int = 1
    """How many fragments it is made of."""
    long_cells: bool = False
    """Whether each of several cells holds enough words to be part of a sentence."""
    doubtful: bool = False
    """Whether it may have to be read in another order."""
    words: Words = field(default_factory=Words)
    """What its text is made of, as it is drawn."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Rows that belong together, joined with `\\n`."""

    rows: list[Row]
    style: Style
    right_edge: int
    """How far the column of its last row reaches."""

    @property
    def text(self) -> str:
        """Its rows, a line each."""
        return "\n".join([row.text for row in self.rows])

    @property
    def words(self) -> Words:
        """What its text is made of, as it is drawn."""
        return all_of(row.words for row in self.rows)


MARGIN = -1
"""The column of running heads and the like; they belong to no paragraph of the text."""
ACROSS = 0
"""The column of rows that stand in none."""
FULL_ROW = 12
"""Characters at least of a row that may be full; a page of short rows has none."""
LONG_CELL = 5
"""Spaces in each of two cells that may be parts of two sentences; shorter cells are names and amounts."""


def merge_spans(
    spans: Iterable[tuple[int, int, int, int, bool, str]], drawn: Iterable[Words]
) -> list[Fragment]:
    """Join spans (left, right, baseline, size, bold, text), in drawing order, that touch on one baseline.

    `drawn` are the words of each.

    Spans without a visible character only separate. A gap of more than .8 of the font size separates too.
    """
    fragments: list[Fragment] = []
    last: Fragment | None = None
    spaced = False
    for (left, right, baseline, size, bold, text), boxes in zip(spans, drawn, strict=True):
        words = " ".join(text.split())
        if not words:
            spaced = True
            continue
        weight = len(words) if bold else 0
        if (
            last is not None
            and -size < left - last.right < size - size // 5
            and _on_one_row(baseline - last.baseline, size, last.size)
        ):
            apart = left - last.right > size // 7 or text[0] == " " or spaced
            last.text = f"{last.text} {words}" if apart else last.text + words
            last.right = right if right > last.right else last.right
            last.bold_characters += weight
            last.words.extend(boxes)
            if size > last.size:
                last.size, last.baseline = size, baseline
        else:
            last = Fragment(left, right, baseline, size, words, weight, boxes)
            fragments.append(last)
        spaced = text[-1] == " "
    return fragments


def _on_one_row(step: int, size: int, other: int) -> bool:
    """Whether baselines `step` apart are one row's: less than half a line; more for a superscript."""
    smaller, larger = (size, other) if size < other else (other, size)
    return abs(step) < larger * (0.45 if smaller * 1.15 > larger else 0.7)


def lines_of(fragments: Iterable[Fragment]) -> list[list[Fragment]]:
    """Group fragments by baseline; a superscript belongs to the line it stands beside."""
    groups: list[list[Fragment]] = []
    baseline = size = 0
    for piece in sorted(fragments, key=_position):
        if groups and _on_one_row(piece.baseline - baseline, piece.size, size):
            groups[-1].append(piece)
            size = piece.size if piece.size > size else size
        else:
            groups.append([piece])
            size = piece.size
        baseline = piece.baseline
    return groups


def _position(piece: Fragment) -> tuple[int, int]:
    return piece.baseline, piece.left


def row_of(line: list[Fragment], column: int) -> Row:
    """The row that fragments of one line make, from left to right."""
    if len(line) == 1:
        only = line[0]
        bold = only.bold_characters * 2 > len(only.text)
        row = Row(only.left, only.right, only.baseline, only.size, only.text, bold, column)
        row.words = only.words
        return row
    line = sorted(line, key=lambda piece: piece.left)
    text = _line(line)
    main = max(line, key=lambda piece: len(piece.text))
    bold = sum([piece.bold_characters for piece in line]) * 2 > len(text)
    right = max([piece.right for piece in line])
    row = Row(line[0].left, right, main.baseline, main.size, text, bold, column, len(line))
    row.words = all_of(piece.words for piece in line)
    row.long_cells = min([piece.text.count(" ") for piece in line]) >= LONG_CELL
    words = [piece for piece in line if not piece.text.startswith((RAISED, LOWERED, SMALL))]
    row.doubtful = any(after.left < piece.right - after.size for piece, after in pairwise(words))
    return row


def _line(pieces: Sequence[Fragment]) -> str:
    """The text of pieces from left to right; what is raised or lowered touches what stands before it."""
    text = pieces[0].text
    for before, piece in pairwise(pieces):
        touches = piece.left - before.right < before.size and piece.text.startswith((RAISED, LOWERED))
        text += piece.text if touches else f" {piece.text}"
    return text


_ITEM = re.compile(
    r"(?:[•●▪◦‣·–—*-]|\(?(?:[A-Za-z]{1,2}|\d{1,3}[a-z]?|[ivxlc]{1,6}|[IVXLC]{1,6})[.)]|\d+(?:\.\d+)+\.?"
    r"|§+ ?\d+"
    r"|(?:Section|Article|Schedule|SECTION|ARTICLE|SCHEDULE)\b.{1,8})(?:\s|$)|[“\"][A-Z]"
)
"""How a new item or definition begins."""
EDGE = 3
"""Rows at the top and bottom of a page that may be headers and footers."""
WITHIN = 1.3
"""Usual steps between two rows of one paragraph at most."""
FARTHEST = 2.2
"""Usual steps between two rows of one sentence, where the words say that it goes on."""
_CLOSED = tuple('.;:!?”")]')
_OPEN_END = re.compile(r"(?:[.;:!?][”\")\]]*|; (?:and|or))$")


def make_paragraphs(rows: Sequence[Row]) -> list[Paragraph]:
    """Group rows, in reading order, into paragraphs."""
    if not rows:
        return []
    pitch = _line_pitch(rows)
    edges = right_edges(rows)
    groups: list[list[Row]] = [[rows[0]]]
    for index, (above, row) in enumerate(pairwise(rows), start=1):
        # Headers and footers are not part of the sentences that begin and end a page.
        at_edge = index <= EDGE or index >= len(rows) - EDGE
        is_apart = row.baseline - above.baseline > max(pitch, row.size) * WITHIN
        if (at_edge and is_apart) or _starts_paragraph(above, row, pitch, edges[above.column]):
            groups.append([row])
        else:
            groups[-1].append(row)
    return [Paragraph(group, _style(group), edges[group[-1].column]) for group in groups]


def right_edges(rows: Iterable[Row]) -> dict[int, int]:
    """How far the rows of each column reach."""
    edges: dict[int, int] = {}
    for row in rows:
        edges[row.column] = max(edges.get(row.column, row.right), row.right)
    return edges


def _line_pitch(rows: Sequence[Row]) -> float:
    """The distance of baselines inside paragraphs: the first quartile of what the page shows."""
    steps = sorted(
        row.baseline - above.baseline
        for above, row in pairwise(rows)
        if row.column == above.column and row.baseline > above.baseline
    )
    return steps[len(steps) // 4] if steps else rows[0].size * 1.2


def _starts_paragraph(above: Row, row: Row, pitch: float, right_edge: int) -> bool:
    step = row.baseline - above.baseline
    size = above.size if above.size > row.size else row.size
    if row.column != above.column or step < 0:
        return _starts_elsewhere(above, row, right_edge)
    if step > max(pitch, size) * WITHIN:
        return step > max(pitch, size) * FARTHEST or reads_on(above.text, row.text) is not True
    if row.bold is not above.bold or abs(row.size - above.size) >= 8:
        return not (row.cells == above.cells == 1 and _runs_on(above, row, right_edge))
    if label(row.text) is not None:
        return True
    if _ITEM.match(row.text) and not is_wrapped(above, row, right_edge):
        return reads_on(above.text, row.text) is not True
    if _OPEN_END.search(above.text) is None:
        return False
    if _ITEM.match(row.text) is None and abs(row.left - above.left) <= size:
        return False
    goes_on = reads_on(above.text, row.text)
    return goes_on is False or (goes_on is None and above.text[-1].isalpha())


def _starts_elsewhere(above: Row, row: Row, right_edge: int) -> bool:
    """Whether a row at the top of another column, or outside the columns, begins a paragraph."""
    if min(row.column, above.column) <= ACROSS:
        return MARGIN in (row.column, above.column) or reads_on(above.text, row.text) is not True
    return not carries_on(above, row, right_edge)


def carries_on(above: Row, row: Row, right_edge: int) -> bool:
    """Whether a sentence goes on from the last row of a place to the first row of the next.

    The words decide; where they do not tell, whether the row `above` is full.
    """
    if abs(above.size - row.size) >= 8 or not above.text or not row.text:
        return False
    goes_on = reads_on(above.text, row.text)
    if goes_on is not None:
        return goes_on
    # Words of a justified column stand as far apart as cells do.
    in_line = above.cells == row.cells == 1 or min(above.column, row.column) > ACROSS
    same_type = above.bold is row.bold and in_line and len(above.text) >= FULL_ROW
    return same_type and _ITEM.match(row.text) is None and is_wrapped(above, row, right_edge)


def is_wrapped(above: Row, row: Row, right_edge: int) -> bool:
    """Whether the first word of `row` found no room in the row above it."""
    first = (row.right - row.left) * (len(row.text.split(" ", 1)[0]) + 1) // len(row.text)
    return above.right + first > right_edge - above.size // 2


def _runs_on(above: Row, row: Row, right_edge: int) -> bool:
    """Whether a sentence goes on in other type: the row above is full, and nothing ends there."""
    full = above.right > right_edge - 8 * above.size
    return full and abs(row.size - above.size) < 8 and not above.text.endswith(_CLOSED)


def _style(rows: Sequence[Row]) -> Style:
    sizes: Counter[int] = Counter()
    bold = 0
    total = 0
    for row in rows:
        length = len(row.text)
        sizes[row.size] += length
        total += length
        if row.bold:
            bold += length
    size = sizes.most_common(1)[0][0]
    return Style(round(size / 5) / 2, bold * 2 > total)
