"""Tells tables of data from tables that only place text on a page, as exhibits of filings are full of."""

from __future__ import annotations

import re
from enum import Enum
from typing import Literal

from lxml import etree

from services.ingest.documents import BlockKind
from services.ingest.parsing.building import join_cells, looks_like_header, without_empty_columns
from services.ingest.parsing.html_text import is_skipped, visible_text

LONGEST_CELL = 2_000
"""Characters; a cell that holds more is a part of the page, not a value."""
MOST_COLUMNS = 100
"""Columns that cells may span, and rows."""
_LABEL = re.compile(r"[\[(]?(?:[A-Za-z]{1,4}|\d{0,3}(?:\.\d{1,3})*)[\])]?\.?|[•●▪◦‣·–—*-]")

Rows = list[tuple[BlockKind, str]]


class Frame(Enum):
    """What a table is when it is no table of data."""

    TEXT = "text"


def read_table(table: etree._Element) -> Rows | Literal[Frame.TEXT]:
    """The rows of a table, or `Frame.TEXT` when its cells are to be read as running text.

    Rows that consist of a label and one text (`(a)`, `•`) are list items, not table rows.
    """
    if next(table.iterdescendants("table"), None) is not None:
        return Frame.TEXT
    elements = [row for row in table.iterdescendants("tr") if not is_skipped(row)]
    rows = _grid(elements)
    longest = max((len(cell) for row in rows for cell in row), default=0)
    if longest > LONGEST_CELL or all(sum(map(bool, row)) <= 1 for row in rows):
        return Frame.TEXT
    caption = table.find("caption")
    named: Rows = [] if caption is None else [(BlockKind.PARAGRAPH, visible_text(caption))]
    if all(_is_item(row) for row in rows):
        return named + [(BlockKind.LIST_ITEM, " ".join(filter(None, row))) for row in rows]
    return named + _data_rows(elements, without_empty_columns(rows))


def _data_rows(elements: list[etree._Element], rows: list[list[str]]) -> Rows:
    is_header = all(cell.tag == "th" for cell in _cells(elements[0])) or looks_like_header(rows[0])
    return [
        (BlockKind.TABLE_HEADER if index == 0 and is_header else BlockKind.TABLE_ROW, join_cells(row))
        for index, row in enumerate(rows)
    ]


def _grid(rows: list[etree._Element]) -> list[list[str]]:
    """The texts of cells in their columns; empty ones stand where a cell spans columns or rows."""
    grid: list[list[str]] = []
    covered: dict[int, int] = {}
    for row in rows:
        line: list[str] = []
        for cell in _cells(row):
            _skip_covered(line, covered)
            wide = _span(cell, "colspan") if len(line) < MOST_COLUMNS else 1
            covered.update(dict.fromkeys(range(len(line), len(line) + wide), _span(cell, "rowspan") - 1))
            line += [visible_text(cell), *[""] * (wide - 1)]
        _skip_covered(line, covered)
        grid.append(line)
    return grid


def _skip_covered(line: list[str], covered: dict[int, int]) -> None:
    """Add empty cells where cells of rows above reach down into a row, as far as it has come."""
    while covered.get(len(line), 0) > 0:
        covered[len(line)] -= 1
        line.append("")


def _span(cell: etree._Element, name: str) -> int:
    value = cell.get(name, "")
    return max(1, min(int(value), MOST_COLUMNS)) if value.isdecimal() and len(value) < 6 else 1


def _cells(row: etree._Element) -> list[etree._Element]:
    return [cell for cell in row if cell.tag in ("td", "th") and not is_skipped(cell)]


def _is_item(row: list[str]) -> bool:
    filled = [cell for cell in row if cell]
    return len(filled) <= 1 or (len(filled) == 2 and _LABEL.fullmatch(filled[0]) is not None)
