"""HTML to text: what a browser would show, in document order, without scripts, navigation and hidden parts.

Blocks are separated by a blank line, rows of a table by a line break; `<br>` is a line break. List items
carry the number or bullet that a browser shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from corpus.documents import DocumentFormat
from services.ingest.documents import BlockKind, ExtractedDocument
from services.ingest.errors import DocumentCorrupt, DocumentEmpty
from services.ingest.parsing.building import TextBuilder
from services.ingest.parsing.css import Stylesheet
from services.ingest.parsing.encodings import Decoded, decode
from services.ingest.parsing.html_drawn import begins_line
from services.ingest.parsing.html_hidden import remove_hidden
from services.ingest.parsing.html_shown import show, without_lone_controls
from services.ingest.parsing.html_tables import Frame, read_table
from services.ingest.parsing.html_text import is_skipped, squeeze
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.numbering import BULLET, count_as
from services.ingest.parsing.raised import label

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CHARSET = re.compile(
    rb"""<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,100}?encoding)\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE
)
_LONGEST_ORDINAL = 10
"""Digits; browsers count in 32 bits, and Python refuses to read thousands of digits."""
_STYLES = {
    "decimal": "decimal",
    "decimal-leading-zero": "decimalZero",
    "lower-alpha": "lowerLetter",
    "lower-latin": "lowerLetter",
    "lower-roman": "lowerRoman",
    "upper-alpha": "upperLetter",
    "upper-latin": "upperLetter",
    "upper-roman": "upperRoman",
}
_COUNTS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}


def parse_html(path: Path, limits: ParsingLimits) -> ExtractedDocument:
    """Read an HTML page in an encoding that `decode` reads.

    Raises `DocumentEmpty`, `DocumentEncoding`, `DocumentFormatMismatch`, `DocumentCorrupt` and
    `DocumentTooLarge`.
    """
    decoded = _decoded(path.read_bytes())
    root = parse_tree(decoded.text)
    builder = TextBuilder(limits.max_characters)
    hidden = read_tree(root, builder) if root is not None else 0
    if root is None or not builder.blocks:
        raise DocumentEmpty("The file holds no text.", field="path")
    title = root.find(".//title")
    words = "" if title is None else squeeze(title.text or "")
    return ExtractedDocument(
        format=DocumentFormat.HTML,
        title=words or None,
        text=builder.text,
        blocks=tuple(builder.blocks),
        hidden_characters=hidden + builder.hidden_characters,
        doubts=tuple(builder.doubts),
        reference_marks=builder.reference_marks,
        guessed_encoding=decoded.guessed,
    )


def _decoded(data: bytes) -> Decoded:
    named = _CHARSET.search(data[:4096])
    return decode(data, named.group(1).decode("ascii") if named else "")


def parse_tree(text: str) -> etree._Element | None:
    """The element tree of a page or a fragment, however broken or deep; None when there is no element.

    libxml2's own trees end at a depth of 2,048; what is deeper is built from its events. Raises
    `DocumentCorrupt` when that fails too.
    """
    data = text.encode("utf-8", "replace")
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    root: etree._Element | None = etree.fromstring(data, parser)
    if not any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        return root
    builder = etree.TreeBuilder(insert_comments=False, insert_pis=False)
    try:
        root = etree.fromstring(data, etree.HTMLParser(encoding="utf-8", huge_tree=True, target=builder))
    except (etree.XMLSyntaxError, ValueError, AssertionError) as error:
        raise DocumentCorrupt("The HTML is nested too deep, or broken.", field="path") from error
    return root


def read_tree(root: etree._Element, builder: TextBuilder) -> int:
    """Write the visible blocks of a tree to a builder; how many characters are hidden from its readers."""
    sheet = Stylesheet(root)
    hidden = remove_hidden(root, sheet)
    show(root)
    blocks = _Reader(sheet).read(root)
    builder.known_marks = frozenset(mark for block in blocks if (mark := label(block.text)) is not None)
    for block in blocks:
        builder.add(block.kind, block.text, level=block.level, depth=block.depth)
    return hidden


@dataclass(frozen=True, slots=True)
class _ReadBlock:
    """A block before what is raised in it is told apart, see `Block`."""

    kind: BlockKind
    text: str
    level: int | None
    depth: int


class _Reader:
    """Collects the text between block elements; each block element begins and ends a block."""

    def __init__(self, sheet: Stylesheet) -> None:
        self._blocks: list[_ReadBlock] = []
        self._sheet = sheet
        self._pieces: list[str] = []
        self._level: int | None = None
        self._mark: str | None = None
        self._depth = 0
        self._preformatted = 0
        self._counted: dict[etree._Element, int] = {}

    def read(self, root: etree._Element) -> list[_ReadBlock]:
        """The blocks of a tree, in order; what is raised in them is between the signs of `raised`."""
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if event == "end":
                self._leave(element)
            elif is_skipped(element) or self._takes_table(element):
                walk.skip_subtree()
            else:
                self._enter(element)
        self._flush()
        return self._blocks

    def _takes_table(self, element: etree._Element) -> bool:
        """Write a table of data; a table that only frames text is read like any other element."""
        if element.tag != "table":
            return False
        table = read_table(element)
        if table is Frame.TEXT:
            return False
        self._flush()
        for kind, text in table:
            self._add_block(kind, text)
        return True

    def _add_block(self, kind: BlockKind, text: str, *, level: int | None = None, depth: int = 0) -> None:
        text = without_lone_controls(text)
        if text:
            self._blocks.append(_ReadBlock(kind, text, level, depth))

    def _enter(self, element: etree._Element) -> None:
        if begins_line(element, self._sheet.of(element)):
            self._flush()
        if element.tag == "br":
            self._pieces.append("\n")
        elif element.tag == "li":
            self._mark = self._number(element)
            self._depth += 1
        elif element.tag in _HEADINGS:
            self._level = _HEADINGS[element.tag]
        elif element.tag == "pre":
            self._preformatted += 1
        self._add(element.text)

    def _leave(self, element: etree._Element) -> None:
        if not is_skipped(element):
            if begins_line(element, self._sheet.of(element)):
                self._flush()
            if element.tag in _HEADINGS:
                self._level = None
            elif element.tag == "li":
                self._mark = None
                self._depth -= 1
            elif element.tag == "pre":
                self._preformatted -= 1
        self._add(element.tail)

    def _add(self, text: str | None) -> None:
        if text:
            self._pieces.append(text if self._preformatted else re.sub(r"\s", " ", text))

    def _flush(self) -> None:
        lines = (" ".join(line.split()) for line in "".join(self._pieces).split("\n"))
        text = "\n".join(line for line in lines if line)
        self._pieces.clear()
        if not text:
            return
        if self._level is not None:
            self._add_block(BlockKind.HEADING, " ".join(text.split()), level=self._level)
        elif self._mark is not None:
            self._add_block(BlockKind.LIST_ITEM, f"{self._mark} {text}".lstrip(), depth=self._depth)
            self._mark = None
        else:
            self._add_block(BlockKind.PARAGRAPH, text, depth=self._depth)

    def _number(self, item: etree._Element) -> str:
        """The number or bullet before a list item; empty where its style draws none."""
        parent = item.getparent()
        style = self._list_style(item) or ("" if parent is None else self._list_style(parent))
        if style == "none":
            return ""
        if parent is None or parent.tag != "ol":
            return BULLET
        own, first = _ordinal(item.get("value", "")), _ordinal(parent.get("start", ""))
        following = self._counted.get(parent, 0 if first is None else first - 1) + 1
        self._counted[parent] = following if own is None else own
        form = _STYLES.get(style) or _COUNTS.get(parent.get("type", ""), "decimal")
        return f"{count_as(self._counted[parent], form)}."

    def _list_style(self, element: etree._Element) -> str:
        declared = self._sheet.of(element)
        words = declared.get("list-style-type") or declared.get("list-style", "")
        return next((word for word in words.split() if word in _STYLES or word == "none"), "")


def _ordinal(value: str) -> int | None:
    """A number of a list; None for what no list counts to."""
    return int(value) if value.isdecimal() and len(value) < _LONGEST_ORDINAL else None
