"""Walks the XML of a Word document.

What python-docx leaves out (inserted text, content controls, text boxes, notes) is read here as well: a
clause in a content control is a clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lxml import etree

from services.ingest.documents import BlockKind
from services.ingest.parsing.building import TextBuilder, join_cells, looks_like_header
from services.ingest.parsing.docx_styles import Structure, Styles
from services.ingest.parsing.docx_text import FALLBACK, paragraph_text
from services.ingest.parsing.numbering import Numbering, W
from services.ingest.parsing.raised import CALL, END

_CONTAINERS = {
    f"{W}{name}" for name in ("body", "sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag")
}
_NOTES = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote"}

Notes = Mapping[tuple[str, str], etree._Element]
Called = dict[etree._Element, int]
"""References to notes, and the numbers of the notes."""


class BodyReader:
    """Writes the blocks of a body to a builder."""

    def __init__(self, builder: TextBuilder, styles: Styles, numbering: Numbering, notes: Notes) -> None:
        self._builder = builder
        self._styles = styles
        self._numbering = numbering
        self._notes = notes
        self._noted = 0

    def read(self, body: etree._Element) -> None:
        """Read everything below `body`, in document order."""
        waiting = [body]
        while waiting:
            element = waiting.pop()
            if element.tag == f"{W}p":
                self._read_paragraph(element)
                waiting.extend(reversed(list(_text_boxes(element))))
            elif element.tag == f"{W}tbl":
                waiting.extend(reversed(self._read_table(element)))
            elif element.tag in _CONTAINERS or element.tag in (f"{W}txbxContent", f"{W}tc"):
                waiting.extend(reversed(element))

    def _read_paragraph(self, paragraph: etree._Element) -> None:
        structure = self._styles.structure(paragraph)
        called = self._called(paragraph)
        text = self._numbered(structure, paragraph_text(paragraph, _marks(called)).strip())
        if structure.level:
            self._builder.add(BlockKind.HEADING, " ".join(text.split()), level=structure.level)
        else:
            listed = structure.number_id not in (None, "0")
            kind, depth = (
                (BlockKind.LIST_ITEM, 1 + (structure.depth or 0)) if listed else (BlockKind.PARAGRAPH, 0)
            )
            self._builder.add(kind, text, depth=depth)
        self._read_notes(called)

    def _called(self, element: etree._Element) -> Called:
        """The references to notes in an element, with the numbers of the notes."""
        calls = element.iter(*_NOTES)
        called = {reference: number for number, reference in enumerate(calls, start=self._noted + 1)}
        self._noted += len(called)
        return called

    def _numbered(self, structure: Structure, text: str) -> str:
        """The text behind its number; an empty paragraph shows a number too, but nobody means it."""
        if not text or structure.number_id in (None, "0"):
            return text
        number = self._numbering.next(structure.number_id or "", structure.depth or 0)
        return f"{number} {text}" if number else text

    def _read_notes(self, called: Called) -> None:
        for reference, number in called.items():
            note = self._notes.get((_NOTES[reference.tag], reference.get(f"{W}id", "")))
            if note is not None:
                words = " ".join(paragraph_text(paragraph) for paragraph in note.iter(f"{W}p"))
                self._builder.add(BlockKind.PARAGRAPH, f"[{number}] {words.strip()}")

    def _read_table(self, table: etree._Element) -> list[etree._Element]:
        """Write a table's rows; one column only frames text: then its cells are returned, to be read."""
        kept = (row for row in _within(table, f"{W}tr") if row.find(f"{W}trPr/{W}del") is None)
        rows = [list(_within(row, f"{W}tc")) for row in kept]
        if all(len(row) <= 1 for row in rows):
            return [cell for row in rows for cell in row]
        called: Called = {}
        for index, row in enumerate(rows):
            called |= {key: value for cell in row for key, value in self._called(cell).items()}
            cells = [self._cell_text(cell, _marks(called)) for cell in row]
            text = join_cells(cells)
            is_header = index == 0 and looks_like_header(cells)
            self._builder.add(BlockKind.TABLE_HEADER if is_header else BlockKind.TABLE_ROW, text)
        self._read_notes(called)
        return []

    def _cell_text(self, cell: etree._Element, marks: Mapping[etree._Element, str]) -> str:
        merged = cell.find(f"{W}tcPr/{W}vMerge")
        if merged is not None and merged.get(f"{W}val", "continue") == "continue":
            return ""
        return " ".join(
            self._numbered(self._styles.structure(paragraph), paragraph_text(paragraph, marks).strip())
            for paragraph in cell.iter(f"{W}p")
        )


def _within(parent: etree._Element, tag: str) -> Iterator[etree._Element]:
    """Rows of a table or cells of a row, also in content controls; not those of a table inside."""
    waiting = list(reversed(parent))
    while waiting:
        element = waiting.pop()
        if element.tag == tag:
            yield element
        elif element.tag in _CONTAINERS:
            waiting.extend(reversed(element))


def _marks(called: Called) -> dict[etree._Element, str]:
    return {reference: f"{CALL}{number}{END}" for reference, number in called.items()}


def _text_boxes(paragraph: etree._Element) -> Iterator[etree._Element]:
    """Outermost text boxes anchored in a paragraph; a fallback for old readers only repeats them."""
    waiting = list(reversed(paragraph))
    while waiting:
        element = waiting.pop()
        if element.tag == f"{W}txbxContent":
            yield element
        elif element.tag != FALLBACK:
            waiting.extend(reversed(element))
