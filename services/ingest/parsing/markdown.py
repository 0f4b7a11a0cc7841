"""Markdown (CommonMark with tables and struck-out text) to text: what a reader of the rendered page sees.

The page is rendered and read as `html` reads pages, so that HTML within it means here what it means there.
Line breaks within paragraphs stay. Footnotes (`[^1]`) are read as such, and so is what some renderers raise
and lower (`^1^`, `~2~`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from corpus.documents import DocumentFormat
from services.ingest.documents import ExtractedDocument
from services.ingest.errors import DocumentEmpty
from services.ingest.parsing.building import TextBuilder
from services.ingest.parsing.encodings import decode
from services.ingest.parsing.html import parse_tree, read_tree
from services.ingest.parsing.html_text import SKIPPED
from services.ingest.parsing.limits import ParsingLimits

MAX_NESTING = 100
"""Levels; the parser drops what is nested deeper, and its default of 20 is within reach of real lists."""
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_NOTE = re.compile(r"\[\^([^\]\s]{1,40})\]")
_NOTE_BELOW = re.compile(rf"{_NOTE.pattern}:[ \t]*")
_RAISED = re.compile(r"\^([^\s^]{1,12})\^")
_LOWERED = re.compile(r"(?<=[A-Za-z])~(\d{1,2})~")
_PAIRED = frozenset("textarea select button svg math canvas object video audio noscript title".split())  # noqa: SIM905
"""Elements that are words of a sentence when they are closed in it, and otherwise name a blank."""
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)")
_SWALLOWING = re.compile(r"<(?=/?(?:title|textarea|xmp|iframe|noembed|noframes|plaintext)\b)", re.IGNORECASE)
"""Whatever follows such a tag is no text until it is closed; most who write one name a blank to fill in."""


def parse_markdown(path: Path, limits: ParsingLimits) -> ExtractedDocument:
    """Read a Markdown file in an encoding that `decode` reads.

    Raises `DocumentEmpty`, `DocumentEncoding`, `DocumentFormatMismatch`, `DocumentCorrupt` and
    `DocumentTooLarge`.
    """
    decoded = decode(path.read_bytes())
    source = decoded.text
    front = _FRONT_MATTER.match(source)
    named = _TITLE.search(front.group(1)) if front else None
    source = source[front.end() :] if front else source
    page = _renderer().render(source, {"notes": _numbered(source)})
    root = parse_tree(page) if page.strip() else None
    builder = TextBuilder(limits.max_characters)
    hidden = read_tree(root, builder) if root is not None else 0
    if not builder.blocks:
        raise DocumentEmpty("The file holds no text.", field="path")
    title = named.group(1).strip("\"'") if named else None
    return ExtractedDocument(
        format=DocumentFormat.MARKDOWN,
        title=title or None,
        text=builder.text,
        blocks=tuple(builder.blocks),
        hidden_characters=hidden + builder.hidden_characters,
        doubts=tuple(builder.doubts),
        reference_marks=builder.reference_marks,
        guessed_encoding=decoded.guessed,
    )


def _numbered(source: str) -> dict[str, int]:
    """The notes of a source by name, counted as they are called."""
    below = {match[1] for line in source.splitlines() if (match := _NOTE_BELOW.match(line.strip()))}
    called = [name for name in _NOTE.findall(_NOTE_BELOW.sub("", source)) if name in below]
    return {name: number for number, name in enumerate(dict.fromkeys([*called, *sorted(below)]), start=1)}


def _renderer() -> MarkdownIt:
    options = {"maxNesting": MAX_NESTING, "breaks": True}
    renderer = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    renderer.block.ruler.before("reference", "note", _note_below, {"alt": ["paragraph"]})
    renderer.inline.ruler.before("link", "note", _note)
    renderer.inline.ruler.before("link", "raised", _raised)
    renderer.add_render_rule("image", _image)
    renderer.add_render_rule("html_inline", _inline)
    renderer.add_render_rule("html_block", _block)
    renderer.add_render_rule("note", _call)
    return renderer


def _note_below(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """A note's own text, up to the next blank line: a paragraph behind its mark."""
    start = state.bMarks[first] + state.tShift[first]
    found = _NOTE_BELOW.match(state.src, start)
    if found is None or state.is_code_block(first) or found.end() > state.eMarks[first]:
        return False
    if silent:
        return True
    end = first + 1
    while end < last and not state.isEmpty(end) and not _NOTE_BELOW.match(state.src, state.bMarks[end]):
        end += 1
    words = state.getLines(first, end, state.blkIndent, False).strip()
    state.push("paragraph_open", "p", 1)
    token = state.push("inline", "", 0)
    token.content, token.children = _NOTE_BELOW.sub(f"[^{found[1]}] ", words, count=1), []
    state.push("paragraph_close", "p", -1)
    state.line = end
    return True


def _note(state: StateInline, silent: bool) -> bool:
    """The mark of a note; brackets that name none are words."""
    found = _NOTE.match(state.src, state.pos)
    if found is None or not (found[1] in state.env["notes"] or found[1].isdecimal()):
        return False
    if not silent:
        state.push("note", "", 0).content = str(state.env["notes"].get(found[1], found[1]))
    state.pos = found.end()
    return True


def _call(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    return f'<sup role="doc-noteref">{escape(tokens[index].content)}</sup>'


def _raised(state: StateInline, silent: bool) -> bool:
    """`50^1^` and `H~2~O`."""
    found = _RAISED.match(state.src, state.pos) or _LOWERED.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        tag = "sup" if state.src[state.pos] == "^" else "sub"
        state.push("html_inline", "", 0).content = f"<{tag}>{escape(found[1])}</{tag}>"
    state.pos = found.end()
    return True


def _image(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    """An image by its description; what it shows is not known."""
    return f"{escape(tokens[index].content)}<embed>"


def _inline(_renderer: object, tokens: Sequence[Token], index: int, *_: Any) -> str:
    """A tag within a line; one whose element is no text is words: nobody puts a script into a sentence."""
    content = tokens[index].content
    tag = _TAG.match(content)
    name = tag[1].lower() if tag else ""
    if name in _PAIRED and _is_closed(name, tokens):
        return content
    return escape(content) if name in SKIPPED or name in _PAIRED else _SWALLOWING.sub("&lt;", content)


def _is_closed(name: str, tokens: Sequence[Token]) -> bool:
    tags = [tag[0].lower() for token in tokens if (tag := _TAG.match(token.content))]
    return f"<{name}" in tags and tags.count(f"<{name}") == tags.count(f"</{name}")


def _block(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    return _SWALLOWING.sub("&lt;", tokens[index].content)
