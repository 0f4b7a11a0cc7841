"""What a parser makes of a file: its extracted text, and the blocks and pages that the text is made of.

Every later coordinate (chunks, definitions, quotes) counts code points of `ExtractedDocument.text`. The text
is therefore final once parsed: nothing downstream edits it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from corpus.chunks import TextDoubt
from corpus.documents import DocumentFormat
from corpus.layout import PlacedLine
from corpus.spans import Span


class BlockKind(StrEnum):
    """What a block is in its document."""

    HEADING = "heading"
    """A heading by markup (DOCX style, HTML h1 to h6, Markdown #). Flat formats never say so."""
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_HEADER = "table_header"
    """The header row of a table: cells in order, joined with ` | `."""
    TABLE_ROW = "table_row"
    """One row of a table, never split: cells in order, joined with ` | `."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a block of a PDF looks, for telling headings from text."""

    font_size: float
    """Points, rounded to .5; the size of most of its characters."""
    bold: bool
    """Whether most of its characters are bold."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, list item or table row, in reading order. Blocks never overlap."""

    kind: BlockKind
    span: Span
    """The block's text without surrounding white space; lines of one paragraph are joined by `\\n`."""
    level: int | None = None
    """1 (outermost) to 6 for a HEADING, None otherwise."""
    style: Style | None = None
    """Set for PDF only."""
    depth: int = 0
    """How many lists it stands in, by markup; 0 outside lists, and in formats that do not say."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a PDF."""

    number: int
    """From 1."""
    span: Span
    """The page's part of the text; pages tile the text in order."""


@dataclass(frozen=True, slots=True)
class ExtractedDocument:
    """A whole parsed file."""

    format: DocumentFormat
    title: str | None
    """From the file's metadata or markup; None when it has none."""
    text: str
    blocks: tuple[Block, ...]
    pages: tuple[Page, ...] = ()
    """All pages of a PDF, the unreadable ones with an empty span; empty for other formats."""
    unreadable_pages: tuple[int, ...] = ()
    """Numbers of pages that show something but have no text layer, ascending."""
    scanned_pages: tuple[int, ...] = ()
    """Numbers of pages of a PDF whose words stand invisibly over an image of them, ascending."""
    hidden_characters: int = 0
    """Characters besides white space that no reader of the file sees. None is part of `text`."""
    doubts: tuple[TextDoubt, ...] = ()
    """In order; they do not overlap."""
    reference_marks: int = 0
    """Marks of footnotes and references that were left out of `text`."""
    running_lines: int = 0
    """Lines of running headers and footers that were left out of `text`."""
    lines: tuple[PlacedLine, ...] = ()
    """Where the words of a PDF stand on its pages, in the order of the text; empty for other formats."""
    guessed_encoding: str = ""
    """The encoding of a text file that does not say it and is not UTF-8; the name is the WHATWG's."""
