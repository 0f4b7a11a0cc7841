"""Puts the words of a PDF page into reading order: spans → rows → columns → paragraphs.

Lengths are tenths of a point, y grows downwards. Pure geometry: nothing here knows PyMuPDF. Characters are
kept as they are; only white space, which a PDF page holds as distances, is made anew: one space between
words, `\\n` between rows of one paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.ingest.documents import Style
from services.ingest.parsing.raised import LOWERED, RAISED, label


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
    cells: int
    """How many fragments it is made of."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Rows that belong together, joined with `\\n`."""

    text: str
    style: Style


GUTTER_ROWS = 8
"""Fewer rows beside each other are a table or a signature block, not two columns of text."""
COLUMN_FILL = 0.6
"""Text fills its column: the median row of each side covers at least this share of it."""


def merge_spans(spans: Iterable[tuple[int, int, int, int, bool, str]]) -> list[Fragment]:
    """Join spans (left, right, baseline, size, bold, text), in drawing order, that touch on one baseline.

    Spans without a visible character only separate. A gap of more than 1.2 times the font size separates too.
    """
    fragments: list[Fragment] = []
    last: Fragment | None = None
    spaced = False
    for left, right, baseline, size, bold, text in spans:
        words = " ".join(text.split())
        if not words:
            spaced = True
            continue
        weight = len(words) if bold else 0
        if (
            last is not None
            and -size < left - last.right < size + size // 5
            and _on_one_row(baseline - last.baseline, size, last.size)
        ):
            apart = left - last.right > size // 7 or text[0] == " " or spaced
            last.text = f"{last.text} {words}" if apart else last.text + words
            last.right = right if right > last.right else last.right
            last.bold_characters += weight
            if size > last.size:
                last.size, last.baseline = size, baseline
        else:
            last = Fragment(left, right, baseline, size, words, weight)
            fragments.append(last)
        spaced = text[-1] == " "
    return fragments


def _on_one_row(step: int, size: int, other: int) -> bool:
    """Whether baselines `step` apart are one row's: less than half a line; more for a superscript."""
    smaller, larger = (size, other) if size < other else (other, size)
    return abs(step) < larger * (0.45 if smaller * 1.15 > larger else 0.7)


def read_page(fragments: list[Fragment]) -> list[Row]:
    """Return the rows of a page in reading order: down a column, then down the next."""
    gutter = _gutter(fragments)
    if gutter is None:
        return _rows(fragments, 0)
    rows: list[Row] = []
    column = 0
    for band in _bands(fragments, gutter):
        left = [piece for piece in band if piece.right <= gutter]
        right = [piece for piece in band if piece.left >= gutter]
        if len(left) + len(right) < len(band) or min(len(left), len(right)) < 3:
            rows += _rows(band, column)
        else:
            rows += _rows(left, column) + _rows(right, column + 1)
        column += 2
    return rows


def _gutter(fragments: Sequence[Fragment]) -> int | None:
    """The left edge of a second column of running text, or None."""
    if len(fragments) < 2 * GUTTER_ROWS:
        return None
    start = min(piece.left for piece in fragments)
    end = max(piece.right for piece in fragments)
    middle = [piece.left for piece in fragments if 0.35 < (piece.left - start) / (end - start + 1) < 0.65]
    if len(middle) < GUTTER_ROWS:
        return None
    edge = Counter(left // 20 for left in middle).most_common(1)[0][0] * 20
    left = [piece for piece in fragments if piece.right <= edge]
    right = [piece for piece in fragments if piece.left >= edge]
    if min(len(left), len(right)) < GUTTER_ROWS:
        return None
    fills_left = _median([piece.right - piece.left for piece in left]) > COLUMN_FILL * (edge - start)
    fills_right = _median([piece.right - piece.left for piece in right]) > COLUMN_FILL * (end - edge)
    return edge if fills_left and fills_right else None


def _bands(fragments: Sequence[Fragment], gutter: int) -> list[list[Fragment]]:
    """Cut a page with columns at everything that crosses the gutter, from top to bottom."""
    bands: list[list[Fragment]] = [[]]
    crossing = False
    for piece in sorted(fragments, key=_position):
        crosses = piece.left < gutter < piece.right
        if crosses is not crossing and bands[-1]:
            bands.append([])
        crossing = crosses
        bands[-1].append(piece)
    return bands


def _position(piece: Fragment) -> tuple[int, int]:
    return piece.baseline, piece.left


def _rows(fragments: Sequence[Fragment], column: int) -> list[Row]:
    """Group fragments by baseline; a superscript belongs to the row it stands beside."""
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
    return [_row(group, column) for group in groups]


def _row(group: list[Fragment], column: int) -> Row:
    if len(group) == 1:
        only = group[0]
        bold = only.bold_characters * 2 > len(only.text)
        return Row(only.left, only.right, only.baseline, only.size, only.text, bold, column, 1)
    group.sort(key=lambda piece: piece.left)
    text = _line(group)
    main = max(group, key=lambda piece: len(piece.text))
    bold = sum([piece.bold_characters for piece in group]) * 2 > len(text)
    right = max([piece.right for piece in group])
    return Row(group[0].left, right, main.baseline, main.size, text, bold, column, len(group))


def _line(pieces: Sequence[Fragment]) -> str:
    """The text of pieces from left to right; what is raised or lowered touches what stands before it."""
    text = pieces[0].text
    for before, piece in pairwise(pieces):
        touches = piece.left - before.right < before.size and piece.text.startswith((RAISED, LOWERED))
        text += piece.text if touches else f" {piece.text}"
    return text


_ITEM = re.compile(
    r"(?:[•●▪◦‣·–—*-]|\(?[A-Za-z0-9]{1,4}[.)]|\(?[ivxlcIVXLC]{1,6}[.)]|\d+(?:\.\d+)+\.?|§+ ?\d+"
    r"|(?:Section|Article|Schedule|SECTION|ARTICLE|SCHEDULE)\b.{1,8})(?:\s|$)|[“\"][A-Z]"
)
"""How a new item or definition begins."""
_CLOSED = tuple('.;:!?”")]')
_OPEN_END = re.compile(r"(?:[.;:!?][”\")\]]*|; (?:and|or))$")


def make_paragraphs(rows: Sequence[Row]) -> list[Paragraph]:
    """Group rows, in reading order, into paragraphs."""
    if not rows:
        return []
    pitch = _line_pitch(rows)
    right_edge = max([row.right for row in rows])
    groups: list[list[Row]] = [[rows[0]]]
    for above, row in pairwise(rows):
        if _starts_paragraph(above, row, pitch, right_edge):
            groups.append([row])
        else:
            groups[-1].append(row)
    return [Paragraph("\n".join([row.text for row in group]), _style(group)) for group in groups]


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
    if row.column != above.column or step < 0 or step > max(pitch, size) * 1.3:
        return True
    if row.bold is not above.bold or abs(row.size - above.size) >= 8:
        return not (row.cells == above.cells == 1 and _runs_on(above, row, right_edge))
    if label(row.text) is not None:
        return True
    ended = _OPEN_END.search(above.text) is not None
    if _ITEM.match(row.text) and (ended or above.right < right_edge - 4 * size):
        return True
    return ended and abs(row.left - above.left) > size


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


def _median(values: list[int]) -> int:
    return sorted(values)[len(values) // 2]
