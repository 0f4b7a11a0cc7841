"""Finds the headings of a document and what they head.

Markup says it outright (DOCX styles, HTML, Markdown). Elsewhere numbered clauses come first, on a line of
their own or in running text, then what looks like a heading. A missed heading costs a label, a false one
misleads: when in doubt there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from corpus.spans import Span
from services.ingest.documents import Block, BlockKind, ExtractedDocument
from services.ingest.headings.captions import caption_end
from services.ingest.headings.display import MAX_CHARACTERS, DisplayRules
from services.ingest.headings.numbering import Mark, Series, marks
from services.ingest.headings.outline import Outline
from services.ingest.sentences import goes_on

LONGEST = 500
"""Characters of a heading by markup. A longer one is a paragraph that somebody has marked as a heading, and
would be repeated with every chunk below it."""

_PUNCTUATION = " .:,;–—-\t"
_CAPTIONED_BELOW = (Series.ARTICLE, Series.EXHIBIT)
_TABLE = (BlockKind.TABLE_HEADER, BlockKind.TABLE_ROW)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading where it stands. Its section runs to the next heading."""

    span: Span
    """Number and caption; the caption of a run-in heading, not the text behind it."""
    chain: tuple[str, ...]
    """The headings above, outermost first, and last this one; white space collapsed, otherwise verbatim."""


@dataclass(frozen=True, slots=True)
class _Line:
    span: Span
    block: Block


def find(document: ExtractedDocument) -> tuple[Heading, ...]:
    """Return the headings of `document` in reading order; they never overlap."""
    lines = list(_lines(document))
    texts = [document.text[line.span.start : line.span.end] for line in lines]
    structured = any(map(is_heading, document.blocks))
    rules = None if structured else DisplayRules(texts, document.blocks)
    search = _Search(document.text, lines, texts, rules)
    return tuple(search.headings())


def is_heading(block: Block) -> bool:
    """Whether markup says that a block is a heading, and its length does not speak against it."""
    return block.kind is BlockKind.HEADING and block.span.end - block.span.start <= LONGEST


def _lines(document: ExtractedDocument) -> Iterator[_Line]:
    """The lines that may be or hold a heading; a heading by markup is one, however it is broken."""
    text = document.text
    for block in document.blocks:
        if is_heading(block):
            yield _Line(block.span, block)
        elif block.kind not in _TABLE:
            start = block.span.start
            for piece in text[block.span.start : block.span.end].split("\n"):
                stripped = piece.strip()
                if stripped:
                    offset = start + piece.index(stripped[0])
                    yield _Line(Span(offset, offset + len(stripped)), block)
                start += len(piece) + 1


class _Search:
    """One pass over the lines of a document."""

    def __init__(self, text: str, lines: list[_Line], texts: list[str], rules: DisplayRules | None) -> None:
        self._text = text
        self._lines = lines
        self._texts = texts
        self._rules = rules
        self._outline = Outline()

    def headings(self) -> Iterator[Heading]:
        taken = -1
        for index, line in enumerate(self._lines):
            if index == taken:
                continue
            if is_heading(line.block):
                yield self._by_markup(line)
            elif (heading := self._by_display(index)) is not None:
                yield heading
            else:
                for heading in self._by_number(index):
                    if heading.span.end > line.span.end:
                        taken = index + 1
                    yield heading

    def _by_markup(self, line: _Line) -> Heading:
        self._outline.enter_level(line.block.level or 1, self._collapsed(line.span))
        return Heading(line.span, self._outline.chain)

    def _by_display(self, index: int) -> Heading | None:
        line = self._lines[index]
        if self._rules is None or not self._may_be_caption(line.span):
            return None
        following = self._texts[index + 1] if index + 1 < len(self._texts) else ""
        prominence = self._rules.prominence(self._texts[index], following, line.block.style)
        if prominence is None:
            return None
        self._outline.enter_unnumbered(prominence, self._collapsed(line.span))
        return Heading(line.span, self._outline.chain)

    def _by_number(self, index: int) -> Iterator[Heading]:
        end = -1
        for mark in marks(self._text, self._lines[index].span):
            if mark.span.start < end or self._is_page_number(mark, index) or self._goes_on(mark, index):
                continue
            if end >= 0 and not self._text[end : mark.span.start].strip(_PUNCTUATION):
                mark = replace(mark, separated=True)
            mark = self._with_caption_below(mark, index)
            if self._outline.enter_mark(mark, self._collapsed(mark.span)):
                end = mark.span.end
                yield Heading(mark.span, self._outline.chain)

    def _goes_on(self, mark: Mark, index: int) -> bool:
        """Whether the number belongs to the sentence of the line above: `under Section⏎4.2 Fees`."""
        above, line = self._lines[index - 1].span, self._lines[index]
        return (
            mark.opens_line
            and above.start >= line.block.span.start
            and above.end <= line.span.start
            and goes_on(self._text, above.start, above.end, line.span.start)
        )

    def _is_page_number(self, mark: Mark, index: int) -> bool:
        line = self._texts[index]
        if self._rules is None or len(line) > MAX_CHARACTERS:
            return False
        return mark.plain and self._rules.is_running(line)

    def _with_caption_below(self, mark: Mark, index: int) -> Mark:
        """`ARTICLE V` alone on its line has its caption on the next."""
        line = self._lines[index].span
        alone = mark.opens_line and not mark.captioned and line.end - mark.span.end <= 1
        if not alone or mark.readings[0].series not in _CAPTIONED_BELOW or index + 1 == len(self._lines):
            return mark
        below = self._lines[index + 1]
        if is_heading(below.block) or not self._may_be_caption(below.span):
            return mark
        end = caption_end(self._text, below.span, whole_line=True)
        whole = end is not None and below.span.end - end <= 1
        return replace(mark, span=Span(mark.span.start, end), captioned=True) if end and whole else mark

    def _may_be_caption(self, line: Span) -> bool:
        """Whether a line is short enough for a heading and has no number of its own."""
        return line.end - line.start <= MAX_CHARACTERS and next(marks(self._text, line), None) is None

    def _collapsed(self, span: Span) -> str:
        return " ".join(self._text[span.start : span.end].split())
