"""Finds ruled tables on a PDF page, and takes their words out of the running text.

PyMuPDF's table finder reads about 14 pages a second, so a page is shown to it only after two cheap tests:
words aligned in columns, then ruled lines in both directions.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pymupdf

from services.ingest.parsing.building import join_cells, looks_like_header, without_empty_columns
from services.ingest.parsing.layout import Fragment, lines_of
from services.ingest.parsing.pdf_covered import Shape
from services.ingest.parsing.placing import Corners, Words, all_of, words_within
from services.ingest.parsing.raised import without_signs

ALIGNED_ROWS = 2
"""Rows that share the left edge of a cell; a header and one row are the smallest table."""
RULES = 3
"""Distinct positions of ruled lines in each direction; two rows of two cells have as many."""
SHORTEST_RULE = 6.0
"""Points; shorter strokes are ticks, and the thickness of an underline."""
_LABEL = re.compile(r"[\[(]?[A-Za-z0-9]{0,4}(?:\.[A-Za-z0-9]{0,3})*[\])]?\.?|[•●▪◦‣·–—*-]")
"""The number before a clause is no cell."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, its rows as text."""

    top: int
    """Its upper edge, in the unit of fragments."""
    rows: tuple[str, ...]
    has_header: bool
    """Whether the first row names the columns."""
    words: tuple[Words, ...]
    """Of each row, as they are drawn."""


def may_hold_table(fragments: Sequence[Fragment], shapes: Sequence[Shape]) -> bool:
    """Whether the finder is worth its time: words stand in columns, and lines are ruled both ways."""
    return _in_columns(fragments) and _is_ruled(shapes)


def _in_columns(fragments: Sequence[Fragment]) -> bool:
    """Whether some left edge is shared by the second cells of several rows."""
    by_baseline: dict[int, list[Fragment]] = defaultdict(list)
    for piece in fragments:
        by_baseline[piece.baseline // 15].append(piece)
    edges: Counter[int] = Counter()
    for cells in by_baseline.values():
        if len(cells) < 2:
            continue
        cells.sort(key=lambda piece: piece.left)
        begin = 1 if not _LABEL.fullmatch(cells[0].text) else 2
        edges.update([piece.left // 30 for piece in cells[begin:]])
    return any(count >= ALIGNED_ROWS for count in edges.values())


def find_tables(
    page: pymupdf.Page, fragments: list[Fragment], scale: int
) -> tuple[list[Table], list[Fragment]]:
    """Return the ruled tables of a page and the fragments outside them.

    A table whose cells do not hold all the words inside its border is left as text, so that no word is lost.
    """
    tables: list[Table] = []
    for found in page.find_tables(strategy="lines").tables:
        box = pymupdf.Rect(found.bbox) * scale
        inside = [piece for piece in fragments if _is_inside(piece, box)]
        rows = _set_apart(_unmerge(found.extract()), inside)
        if _is_table(rows) and _letters(cell for row in rows for cell in row) == _letters(
            piece.text for piece in inside
        ):
            rows = without_empty_columns(rows)
            is_header = looks_like_header(rows[0]) or _is_bold(inside, found.rows[0].bbox[3] * scale)
            written = [
                (text, words)
                for text, words in zip(map(join_cells, rows), _words_of(page, found, inside), strict=True)
                if text
            ]
            texts, drawn = zip(*written, strict=True)
            tables.append(Table(int(box.y0), texts, is_header, drawn))
            fragments = [piece for piece in fragments if not _is_inside(piece, box)]
    return tables, fragments


def _words_of(page: pymupdf.Page, found: Any, inside: Sequence[Fragment]) -> list[Words]:
    """The words of each row of a table, cell by cell, as its text has them."""
    lines = (sorted(line, key=lambda piece: piece.left) for line in lines_of(inside))
    words = all_of(piece.words for line in lines for piece in line)
    return [
        all_of(words_within(words, _shown(page, cell)) for cell in row.cells if cell) for row in found.rows
    ]


def _shown(page: pymupdf.Page, cell: Corners) -> Corners:
    """A cell as it stands on the page that is shown."""
    if not page.rotation:
        return cell
    box = pymupdf.Rect(cell) * page.rotation_matrix
    return box.x0, box.y0, box.x1, box.y1


def _is_ruled(shapes: Sequence[Shape]) -> bool:
    across: set[int] = set()
    down: set[int] = set()
    for shape in shapes:
        if shape.right - shape.left > SHORTEST_RULE:
            across.update((int(shape.top) // 3, int(shape.bottom) // 3))
        if shape.bottom - shape.top > SHORTEST_RULE:
            down.update((int(shape.left) // 3, int(shape.right) // 3))
    return len(across) >= RULES and len(down) >= RULES


def _is_inside(piece: Fragment, box: pymupdf.Rect) -> bool:
    middle = (piece.left + piece.right) / 2
    return bool(box.x0 <= middle <= box.x1 and box.y0 <= piece.baseline - piece.size * 0.3 <= box.y1)


def _unmerge(rows: Sequence[Sequence[str | None]]) -> list[list[str]]:
    """Cells as text; a cell merged into another is empty."""
    return [[cell or "" for cell in row] for row in rows]


def _set_apart(rows: list[list[str]], inside: Sequence[Fragment]) -> list[list[str]]:
    """Cells in which what is raised or lowered stands between the same signs as in the page's fragments."""
    signed = [piece.text for piece in inside if piece.text != without_signs(piece.text)]
    for text in signed:
        plain = "".join(without_signs(text).split())
        for row in rows:
            changed = [_replaced(cell, plain, text) for cell in row]
            at = next((index for index, cell in enumerate(changed) if cell is not None), None)
            if at is not None:
                row[at] = changed[at] or ""
                break
    return rows


def _replaced(cell: str, plain: str, text: str) -> str | None:
    """The cell with `text` in the place of `plain`, however that is spaced; None where it lacks it."""
    places = [place for place, character in enumerate(cell) if not character.isspace()]
    first = "".join([cell[place] for place in places]).find(plain)
    if first < 0 or not plain:
        return None
    return cell[: places[first]] + text + cell[places[first + len(plain) - 1] + 1 :]


def _is_table(rows: list[list[str]]) -> bool:
    """Two rows of two filled cells at least: less is a box around text."""
    return sum(1 for row in rows if sum(1 for cell in row if cell.strip()) >= 2) >= 2


def _letters(texts: Iterable[str]) -> Counter[str]:
    return Counter("".join("".join(texts).split()))


def _is_bold(inside: Sequence[Fragment], bottom: float) -> bool:
    """Whether all that stands above `bottom` is bold."""
    first = [piece for piece in inside if piece.baseline <= bottom]
    return bool(first) and all(piece.bold_characters * 2 > len(piece.text) for piece in first)
