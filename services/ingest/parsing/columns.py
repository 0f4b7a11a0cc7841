"""Finds the reading order of a PDF page: down a column and then down the next, where it is set in columns.

Columns are known by their gutter: a white band that consecutive rows share. What stands on both sides of it
reads down where sentences go on from row to row of one side. Where they do so in some cells alone, as in a
table without rules, the rows that such a cell spans are read cell by cell. Otherwise rows are read across.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

from services.ingest.parsing.layout import ACROSS, Fragment, Row, is_wrapped, lines_of, row_of
from services.ingest.parsing.placing import all_of
from services.ingest.sentences import reads_on

Line = list[Fragment]
"""What stands beside each other, from left to right."""
Gutter = tuple[int, int]
"""Left and right edge of a white band."""

LEAST_GUTTER = 0.6
"""In font sizes; words of one line stand closer."""
WIDE = 1.5
"""In font sizes; what stands behind such a gap may be the number of an item."""
LEAST_ROWS = 2
"""Rows with text on both sides of a gutter."""
BESIDE = 0.75
"""In font sizes: baselines closer than this stand beside each other, in columns of different leading."""
FARTHEST = 4
"""Font sizes between the baselines of rows of one region."""
SAME_COLUMN = 1.5
"""In usual steps between rows: what stands below one column alone, and farther off, stands below both."""
PROSE = 0.25
"""Share of the steps down a column that a sentence takes, for the column to read as prose."""
LEAST_WORDS = 3
"""Words of the usual row of prose."""
LONG_CELL = 4
"""Words of a cell that may be part of a sentence; shorter ones are names and amounts."""
ROW_GAP = 1.3
"""In usual steps: rows of a table are farther apart than the lines of a cell."""
MOST_COLUMNS = 3
"""More than these are a table."""
LONGEST_BULLET = 2
"""Characters; `þ` or `No` is no column."""

_LABEL = re.compile(r"[\[(]?[A-Za-z0-9]{0,4}(?:\.[A-Za-z0-9]{0,3})*[\])]?\.?|[•●▪◦‣·–—*-]")
"""The number before a clause; the gap behind it is no gutter."""
_FIELD = re.compile(
    r"(?:by|name|title|date|dated|its|signature|signed|address|attention|attn)\b|[\w ]{1,20}:", re.I
)
"""What a line of a signature block begins with."""


@dataclass(frozen=True, slots=True)
class _Region:
    """Lines `start` to `end` (exclusive) of a page, and the gutters that they share."""

    start: int
    end: int
    gutters: list[Gutter]


def read_page(fragments: Sequence[Fragment]) -> list[Row]:
    """Return the rows of a page in reading order."""
    lines = lines_of(fragments)
    beside = _beside(lines)
    if all(len(line) == 1 for line in beside):
        return [row_of(line, ACROSS) for line in lines]
    columns = count(ACROSS + 1)
    rows: list[Row] = []
    position = 0
    for region in _regions(beside):
        rows += _across(beside[position : region.start])
        rows += _read_region(beside[region.start : region.end], region.gutters, columns)
        position = region.end
    return rows + _across(beside[position:])


def _beside(lines: list[Line]) -> list[Line]:
    """Lines whose baselines differ too little for one to stand below the other, put together."""
    together: list[Line] = []
    top = 0
    for line in lines:
        first = line[0]
        if together and first.baseline - top < BESIDE * first.size and not _overlap(together[-1], line):
            together[-1] = together[-1] + line
        else:
            together.append(line)
            top = line[0].baseline
    return together


def _overlap(line: Line, other: Line) -> bool:
    return any(a.left < b.right and b.left < a.right for a in line for b in other)


def _across(lines: Sequence[Line]) -> list[Row]:
    """Lines that are read from left to right; in doubt where long cells stand beside each other."""
    rows = [row_of(line, ACROSS) for group in lines for line in lines_of(group)]
    for above, below in pairwise(rows):
        if above.cells == below.cells == 2 and above.long_cells and below.long_cells:
            above.doubtful = below.doubtful = True
    return rows


def _regions(lines: Sequence[Line]) -> Iterator[_Region]:
    """The runs of lines that share a gutter, from top to bottom; they never overlap."""
    start, taken = 0, 0
    while start < len(lines):
        gutters = _gaps(lines[start])
        end = start + 1
        while gutters and end < len(lines) and _is_near(lines[end - 1], lines[end]):
            shared = list(_shared(gutters, lines[end]))
            if not shared:
                break
            gutters = shared
            end += 1
        region = _trimmed(lines, _Region(start, end, gutters), taken) if end - start >= LEAST_ROWS else None
        if region:
            yield region
            start = taken = region.end
        else:
            start += 1


def _gaps(line: Line) -> list[Gutter]:
    """The white between the cells of a line."""
    ordered = sorted(line, key=lambda piece: piece.left)
    gaps: list[Gutter] = []
    opens_cell = True
    for piece, following in pairwise(ordered):
        white = following.left - piece.right
        if white >= LEAST_GUTTER * piece.size and not (opens_cell and _is_label(piece)):
            gaps.append((piece.right, following.left))
        opens_cell = white >= WIDE * piece.size
    return gaps


def _is_label(piece: Fragment) -> bool:
    return len(piece.text) <= LONGEST_BULLET or _LABEL.fullmatch(piece.text) is not None


def _shared(gutters: Sequence[Gutter], line: Line) -> Iterator[Gutter]:
    """What a line leaves white of the gutters above it."""
    least = LEAST_GUTTER * line[0].size
    ordered = sorted(line, key=lambda piece: piece.left)
    for left, right in gutters:
        for piece in ordered:
            if piece.right <= left or piece.left >= right:
                continue
            if piece.left - left >= least:
                yield left, piece.left
            left = piece.right
        if right - left >= least:
            yield left, right


def _is_near(above: Line, below: Line) -> bool:
    return below[0].baseline - above[0].baseline <= FARTHEST * below[0].size


def _trimmed(lines: Sequence[Line], region: _Region, earliest: int) -> _Region | None:
    """The region from its first to its last line with text on both sides, and what goes on beside it."""
    paired = {
        gutter: [
            index for index in range(region.start, region.end) if _stands_on_both_sides(lines[index], gutter)
        ]
        for gutter in region.gutters
    }
    gutters = [gutter for gutter, where in paired.items() if len(where) >= LEAST_ROWS]
    if not gutters:
        return None
    start = min(paired[gutter][0] for gutter in gutters)
    end = max(paired[gutter][-1] for gutter in gutters) + 1
    pitch = _pitch(lines[start:end])
    while end < region.end and _step(lines[end - 1], lines[end]) <= SAME_COLUMN * pitch:
        end += 1
    while (
        start > earliest
        and _step(lines[start - 1], lines[start]) <= SAME_COLUMN * pitch
        and len(list(_shared(gutters, lines[start - 1]))) == len(gutters)
    ):
        start -= 1
    return _Region(start, end, gutters)


def _stands_on_both_sides(line: Line, gutter: Gutter) -> bool:
    return any(piece.right <= gutter[0] for piece in line) and any(piece.left >= gutter[1] for piece in line)


def _pitch(lines: Sequence[Line]) -> int:
    """The usual step between lines; columns whose rows are not level have two lines for one."""
    steps = sorted(_step(above, below) for above, below in pairwise(lines))
    return max(steps[len(steps) // 2], lines[0][0].size)


def _step(above: Line, below: Line) -> int:
    return below[0].baseline - above[0].baseline


def _read_region(lines: Sequence[Line], gutters: Sequence[Gutter], columns: Iterator[int]) -> list[Row]:
    cells = [_cells(line, gutters) for line in lines]
    bands = _bands(lines, cells)
    if len(bands) == len(lines):
        return _across(lines)
    if bands:
        return [_table_row(cells[start:end]) for start, end in bands]
    rows: list[Row] = []
    for side in range(len(gutters) + 1):
        below = next(columns)
        pieces = [piece for line in cells for piece in line[side]]
        rows += [row_of(line, below) for line in lines_of(pieces)]
    return rows


def _table_row(cells: Sequence[list[Line]]) -> Row:
    """One row of a table without rules: its cells from left to right, however many lines each has."""
    pieces = [piece for line in cells for cell in line for piece in cell]
    row = row_of(pieces, ACROSS)
    sides = [[piece for cell in side for piece in cell] for side in zip(*cells, strict=True)]
    parts = [row_of(line, ACROSS) for side in sides for line in lines_of(side)]
    row.text = " ".join([part.text for part in parts])
    row.words = all_of(part.words for part in parts)
    row.doubtful = False
    return row


def _cells(line: Line, gutters: Sequence[Gutter]) -> list[Line]:
    """The pieces of a line by their column."""
    cells: list[Line] = [[] for _ in range(len(gutters) + 1)]
    for piece in line:
        cells[sum(piece.left >= right for _, right in gutters)].append(piece)
    return cells


def _bands(lines: Sequence[Line], cells: Sequence[list[Line]]) -> list[tuple[int, int]]:
    """The runs of lines that the rows of a table span; none when all lines are columns of text."""
    sides = [_Side(side) for side in zip(*cells, strict=True) if any(side)]
    prose = sum(side.is_prose for side in sides)
    if _is_signed(cells) or (prose and any(reads_on(*ends) for ends in _turns(sides))):
        return []
    glued = {index for side in sides for index in side.glued} if prose else set()
    rows = [index for index in _after_gaps(lines, cells) if index not in glued]
    if prose and len(rows) >= LEAST_ROWS:
        return list(pairwise([0, *rows, len(cells)]))
    if prose >= 2 and len(sides) <= MOST_COLUMNS:
        return []
    starts = [index for index in range(len(cells)) if index not in glued]
    return list(pairwise([*starts, len(cells)]))


def _after_gaps(lines: Sequence[Line], cells: Sequence[list[Line]]) -> list[int]:
    """The lines below a gap at which two cells begin: rows of a table stand apart, lines of a cell do not."""
    pitch = _pitch(lines)
    return [
        index
        for index, (above, below) in enumerate(pairwise(lines), start=1)
        if _step(above, below) > ROW_GAP * pitch and sum(map(bool, cells[index])) >= 2
    ]


def _turns(sides: Sequence[_Side]) -> Iterator[tuple[str, str]]:
    """The last row of each column and the first of the next."""
    return ((side.rows[-1].text, following.rows[0].text) for side, following in pairwise(sides))


def _is_signed(cells: Sequence[list[Line]]) -> bool:
    """Whether two lines at least have the same field in every column: `By:`, `Name:`."""
    fields = 0
    for line in cells:
        labels = [
            match and match.group().lower() for cell in line if cell for match in [_FIELD.match(cell[0].text)]
        ]
        fields += len(labels) == len(line) and None not in labels and len(set(labels)) == 1
    return fields >= LEAST_ROWS


class _Side:
    """One column of a region."""

    def __init__(self, cells: Sequence[Line]) -> None:
        filled = [(index, row_of(cell, 0)) for index, cell in enumerate(cells) if cell]
        self.rows = [row for _, row in filled]
        edge = max(row.right for row in self.rows)
        steps = [
            (index, above, row, reads_on(above.text, row.text))
            for (_, above), (index, row) in pairwise(filled)
        ]
        down = [index for index, _, _, goes_on in steps if goes_on]
        words = sorted(len(row.text.split()) for row in self.rows)
        self.is_prose = (
            len(down) > 0 and len(down) >= PROSE * len(steps) and words[len(words) // 2] >= LEAST_WORDS
        )
        likely = [
            index
            for index, above, row, goes_on in steps
            if goes_on is None and len(above.text.split()) >= LONG_CELL and is_wrapped(above, row, edge)
        ]
        starts = sorted({*down, *likely})
        before = {index: last for (last, _), (index, _) in pairwise(filled)}
        self.glued = {line for index in starts for line in range(before[index] + 1, index + 1)}
        """Lines that a sentence of this column reaches from the line above."""
