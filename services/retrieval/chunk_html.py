"""A chunk as HTML: its headings, paragraphs and tables, for people to look at.

It is made from the stored text alone, which keeps a line for each row of a table and a blank line between
blocks. There are twelve elements and no attribute, so that nothing in it links, loads, runs or styles; every
character of the document is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from corpus.chunks import Chunk

CELL_SEPARATOR = " | "
"""What stands between the cells of a row in the extracted text."""
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")


def html_of(chunk: Chunk) -> str:
    """Headings, paragraphs and tables in order. A line break in a paragraph is kept as it is.

    A table that begins before the chunk has the header row of `Chunk.table_header`, which is not in its text.
    """
    headers = {part.text for part in chunk.context_before}
    levels = _levels(chunk)
    elements = []
    missing = chunk.table_header
    for block in _BLANK_LINES.split(chunk.text.strip()):
        rows = block.split("\n")
        if all(CELL_SEPARATOR in row for row in rows):
            elements.append(_table(rows, headers, missing))
        elif level := levels.get(_folded(block)):
            elements.append(f"<h{level}>{escape(block)}</h{level}>")
        elif block:
            elements.append(f"<p>{escape(block)}</p>")
        missing = ""
    return "\n".join(elements)


def _levels(chunk: Chunk) -> dict[str, int]:
    """The element of each heading above the chunk or in it, 2 to 6, by its words."""
    chains = [chunk.heading_chain, *(section.heading_chain for section in chunk.sections)]
    return {
        _folded(heading): min(level, 6) for chain in chains for level, heading in enumerate(chain, start=2)
    }


def _folded(text: str) -> str:
    return " ".join(text.split())


def _table(rows: Sequence[str], headers: set[str], missing: str) -> str:
    """`missing` is a header row that stands before the chunk; a first row of `headers` is the table's own."""
    has_header = not missing and rows[0] in headers
    head = missing or (rows[0] if has_header else "")
    body = "".join(_row(row, "td") for row in rows[has_header:])
    return "".join(_parts(f"{_row(head, 'th')}" if head else "", body))


def _parts(head: str, body: str) -> Iterator[str]:
    yield "<table>"
    if head:
        yield f"<thead>{head}</thead>"
    if body:
        yield f"<tbody>{body}</tbody>"
    yield "</table>"


def _row(row: str, cell: str) -> str:
    return f"<tr>{''.join(f'<{cell}>{escape(text)}</{cell}>' for text in row.split(CELL_SEPARATOR))}</tr>"
