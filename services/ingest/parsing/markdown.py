"""Markdown (CommonMark with tables) to text: what a reader of the rendered page sees, without the markup.

Blocks are separated by a blank line, rows of a table by a line break. List items carry their number or a
bullet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from services.ingest.documents import BlockKind, DocumentFormat, ExtractedDocument
from services.ingest.errors import DocumentEmpty
from services.ingest.parsing.building import TextBuilder, join_cells
from services.ingest.parsing.html import parse_tree, read_tree
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.numbering import BULLET
from services.ingest.parsing.text import decode

MAX_NESTING = 100
"""Levels; the parser drops what is nested deeper, and its default of 20 is within reach of real lists."""
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_LINE_BREAK = re.compile(r"<br\b", re.IGNORECASE)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)


def parse_markdown(path: Path, limits: ParsingLimits) -> ExtractedDocument:
    """Read a Markdown file in UTF-8.

    Raises `DocumentEmpty`, `DocumentEncoding`, `DocumentFormatMismatch` and `DocumentTooLarge`.
    """
    source = decode(path.read_bytes())
    front = _FRONT_MATTER.match(source)
    named = _TITLE.search(front.group(1)) if front else None
    reader = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    builder = TextBuilder(limits.max_characters)
    writer = _Writer(builder)
    writer.write(reader.parse(source[front.end() :] if front else source))
    if not builder.blocks:
        raise DocumentEmpty("holds no text", field="path")
    title = named.group(1).strip("\"'") if named else None
    return ExtractedDocument(
        format=DocumentFormat.MARKDOWN,
        title=title or None,
        text=builder.text,
        blocks=tuple(builder.blocks),
        hidden_characters=writer.hidden_characters + builder.hidden_characters,
    )


class _Writer:
    """Turns the parser's tokens, a flat list of openings, closings and content, into blocks."""

    def __init__(self, builder: TextBuilder) -> None:
        self.hidden_characters = 0
        self._builder = builder
        self._level: int | None = None
        self._mark: str | None = None
        self._cells: list[str] | None = None
        self._row_kind = BlockKind.TABLE_ROW

    def write(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            if token.type == "inline":
                self._write_inline(token)
            elif token.type in ("fence", "code_block"):
                self._add(token.content)
            elif token.type == "html_block":
                self._write_html(token.content)
            else:
                self._note(token)

    def _note(self, token: Token) -> None:
        """Remember what the next content is."""
        if token.tag in _HEADINGS:
            self._level = _HEADINGS[token.tag] if token.nesting > 0 else None
        elif token.tag == "li":
            number = f"{token.info}{token.markup}" if token.info else BULLET
            self._mark = number if token.nesting > 0 else None
        elif token.tag == "thead":
            self._row_kind = BlockKind.TABLE_HEADER if token.nesting > 0 else BlockKind.TABLE_ROW
        elif token.tag == "tr":
            self._write_row(opens=token.nesting > 0)

    def _write_row(self, *, opens: bool) -> None:
        if self._cells is not None:
            self._builder.add(self._row_kind, join_cells(self._cells))
        self._cells = [] if opens else None

    def _write_inline(self, token: Token) -> None:
        text = _plain(token.children or [])
        if self._cells is not None:
            self._cells.append(text)
        elif self._level is not None:
            self._builder.add(BlockKind.HEADING, " ".join(text.split()), level=self._level)
        else:
            self._add(text)

    def _add(self, text: str) -> None:
        text = re.sub(r"\n\s*\n", "\n", text.strip())
        if self._mark is not None and text:
            self._builder.add(BlockKind.LIST_ITEM, f"{self._mark} {text}")
            self._mark = None
        else:
            self._builder.add(BlockKind.PARAGRAPH, text)

    def _write_html(self, content: str) -> None:
        root = parse_tree(content) if content.strip() else None
        if root is not None:
            self.hidden_characters += read_tree(root, self._builder)


def _plain(children: Sequence[Token]) -> str:
    """The words of a paragraph: link texts without targets, images by their description."""
    pieces = []
    for child in children:
        if child.type in ("text", "code_inline", "image"):
            pieces.append(child.content)
        elif child.type in ("softbreak", "hardbreak") or _LINE_BREAK.match(child.content):
            pieces.append("\n")
    return "".join(pieces)
