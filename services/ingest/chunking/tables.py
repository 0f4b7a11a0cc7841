"""What the rows of a table say together with cells above them.

A row with an empty first cell belongs to the row above that has one: `| Year | USD 10` below `Level 1 | Month
| USD 1` is the fee for level 1. Numbers alone, and totals, are of all rows. A row that has its first cell
alone heads those below it, such as `Domestic`, in tables that begin with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from corpus.spans import Span
from services.ingest.documents import Block, BlockKind
from services.ingest.parsing.building import TABLE_KINDS
from services.ingest.sentences import trimmed

_LEAST_COLUMNS = 3
"""Of a table with groups: in a form of two columns a name alone is a value that is missing."""
_LONGEST = 500
"""Characters of a cell that is repeated with rows below it; a longer one is text."""
_VALUE = re.compile(r"\W*(?:[A-Z]{3}\s?)?[^\w\s]?\s?\d|[^\W\d_]{0,2}\Z")
_TOTAL = re.compile(r"\b(?:sub-?)?total|\bsum\b", re.IGNORECASE)

_Cells = Sequence[Span]


def cells_above(text: str, blocks: Sequence[Block]) -> Mapping[int, tuple[Span, ...]]:
    """The cells that a row belongs to, outermost first, by where it starts; rows without any are left out.

    They stand above it in its table, and below the header.
    """
    return {start: cells for table in _tables(blocks) for start, cells in _of_table(text, table) if cells}


def _tables(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    for is_table, run in groupby(blocks, key=lambda block: block.kind in TABLE_KINDS):
        table: list[Block] = []
        for block in run if is_table else ():
            if block.kind is BlockKind.TABLE_HEADER and table:
                yield table
                table = []
            table.append(block)
        if table:
            yield table


def _of_table(text: str, table: Sequence[Block]) -> Iterator[tuple[int, tuple[Span, ...]]]:
    headed = table[0].kind is BlockKind.TABLE_HEADER
    rows = [_cells(text, block.span) for block in table[headed:]]
    grouped = headed and len(_cells(text, table[0].span)) >= _LEAST_COLUMNS and any(map(_is_group, rows[:1]))
    group: tuple[Span, ...] = ()
    above: dict[int, Span] = {}
    for block, cells in zip(table[headed:], rows, strict=True):
        if grouped and _is_group(cells) and _is_short(cells[0]):
            group, above = (cells[0],), {}
            continue
        filled = [column for column, cell in enumerate(cells) if _holds_words(cell)]
        first = filled[0] if filled else len(cells)
        missing = range(first) if _says_what(text, cells) else range(0)
        yield block.span.start, (*group, *(above[column] for column in missing if column in above))
        above = {column: cell for column, cell in above.items() if column < first}
        above |= {column: cells[column] for column in filled if _is_short(cells[column])}


def _says_what(text: str, cells: _Cells) -> bool:
    """Whether a row names what its values are, and they are no total."""
    words = [text[cell.start : cell.end] for cell in cells]
    return not _TOTAL.search(" ".join(words)) and any(not _VALUE.match(cell) for cell in words)


def _holds_words(cell: Span) -> bool:
    return cell.start < cell.end


def _is_short(cell: Span) -> bool:
    return cell.end - cell.start <= _LONGEST


def _is_group(cells: _Cells) -> bool:
    """Whether the first cell is the only one with words."""
    return list(map(_holds_words, cells)) == [True, *[False] * (len(cells) - 1)]


def _cells(text: str, row: Span) -> _Cells:
    """Where the words of each cell stand; an empty cell has an empty span."""
    spans, start = [], row.start
    for cell in text[row.start : row.end].split("|"):
        spans.append(trimmed(text, Span(start, start + len(cell))) if cell.strip() else Span(start, start))
        start += len(cell) + 1
    return spans
