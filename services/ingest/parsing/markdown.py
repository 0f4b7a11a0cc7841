"""Markdown (CommonMark with tables and struck-out text) to text: what a reader of the rendered page sees.

The page is rendered and read as `html` reads pages, so that HTML within it means here what it means there.
Line breaks within paragraphs stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from services.ingest.documents import DocumentFormat, ExtractedDocument
from services.ingest.errors import DocumentEmpty
from services.ingest.parsing.building import TextBuilder
from services.ingest.parsing.html import parse_tree, read_tree
from services.ingest.parsing.html_text import SKIPPED
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.text import decode

MAX_NESTING = 100
"""Levels; the parser drops what is nested deeper, and its default of 20 is within reach of real lists."""
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)")
_SWALLOWING = re.compile(r"<(?=/?(?:title|textarea|xmp|iframe|noembed|noframes|plaintext)\b)", re.IGNORECASE)
"""Whatever follows such a tag is no text until it is closed; most who write one name a blank to fill in."""


def parse_markdown(path: Path, limits: ParsingLimits) -> ExtractedDocument:
    """Read a Markdown file in UTF-8.

    Raises `DocumentEmpty`, `DocumentEncoding`, `DocumentFormatMismatch`, `DocumentCorrupt` and
    `DocumentTooLarge`.
    """
    source = decode(path.read_bytes())
    front = _FRONT_MATTER.match(source)
    named = _TITLE.search(front.group(1)) if front else None
    page = _renderer().render(source[front.end() :] if front else source)
    root = parse_tree(page) if page.strip() else None
    builder = TextBuilder(limits.max_characters)
    hidden = read_tree(root, builder) if root is not None else 0
    if not builder.blocks:
        raise DocumentEmpty("holds no text", field="path")
    title = named.group(1).strip("\"'") if named else None
    return ExtractedDocument(
        format=DocumentFormat.MARKDOWN,
        title=title or None,
        text=builder.text,
        blocks=tuple(builder.blocks),
        hidden_characters=hidden + builder.hidden_characters,
    )


def _renderer() -> MarkdownIt:
    options = {"maxNesting": MAX_NESTING, "breaks": True}
    renderer = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    renderer.add_render_rule("image", _image)
    renderer.add_render_rule("html_inline", _inline)
    renderer.add_render_rule("html_block", _block)
    return renderer


def _image(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    """An image by its description."""
    return escape(tokens[index].content)


def _inline(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    """A tag within a line; one whose element is no text is words: nobody puts a script into a sentence."""
    content = tokens[index].content
    tag = _TAG.match(content)
    return escape(content) if tag and tag[1].lower() in SKIPPED else _SWALLOWING.sub("&lt;", content)


def _block(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    return _SWALLOWING.sub("&lt;", tokens[index].content)
