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
    rows = [[visible_text(cell) for cell in _cells(row)] for row in elements]
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


def _cells(row: etree._Element) -> list[etree._Element]:
    return [cell for cell in row if cell.tag in ("td", "th") and not is_skipped(cell)]


def _is_item(row: list[str]) -> bool:
    filled = [cell for cell in row if cell]
    return len(filled) <= 1 or (len(filled) == 2 and _LABEL.fullmatch(filled[0]) is not None)
