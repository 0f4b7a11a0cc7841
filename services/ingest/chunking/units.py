"""Takes a document apart into what chunks are made of: whole sentences and table rows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from corpus.spans import Span
from services.ingest.chunking.tables import cells_above
from services.ingest.documents import Block, BlockKind, ExtractedDocument
from services.ingest.headings import Heading
from services.ingest.sentences import split, trimmed

CHARACTERS_PER_WORD = 20
"""Characters that count as a word at least: leaders, base64, scripts without spaces. English has 6."""

LONGEST_HEADER = 2_000
"""Characters of a header row that are repeated with each chunk of its table; a longer one stands in the first
alone."""

_ROWS = (BlockKind.TABLE_HEADER, BlockKind.TABLE_ROW)
_CAPTION_TAIL = re.compile(r"[\s.:,;)–—-]*")
_ITEM = re.compile(r"[a-z]{1,4}[.)]\s")
_WORD = re.compile(r"\S+")
_CLAUSE_ENDS = (";", ":", ",", ")", ".")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a table row, or a piece of one that is too long for any chunk."""

    span: Span
    weight: int
    """Its words, or more when they are long."""
    gap: int
    """Weight of the white space before it."""
    section: int
    """Index of the heading above it; -1 before the first."""
    opens_section: bool = False
    opens_block: bool = False
    continues: bool = False
    """Whether it reads on from the unit before: its heading, its table header, or its own beginning."""
    is_piece: bool = False
    """Whether its sentence begins in a unit before it."""
    opens_line: bool = False
    is_item: bool = False
    """Whether it stands in an item of a list, by markup."""
    is_heading: bool = False
    """Whether it is nothing but a heading."""
    by_markup: bool = False
    """Whether it stands in a heading by markup."""
    indent: int = 0
    """How far in its line begins: in lists by markup, else in spaces. Tells lists of one document apart."""
    is_row: bool = False
    header: Span | None = None
    """For a row: the header row of its table."""
    cells_above: tuple[Span, ...] = ()
    """For a row: cells above it that it belongs to, see `tables`."""


def dissect(document: ExtractedDocument, headings: Sequence[Heading], max_weight: int) -> tuple[Unit, ...]:
    """Return the units of `document` in order, none heavier than `max_weight`.

    Nothing but white space lies between them.
    """
    text = document.text
    starts = [heading.span.start for heading in headings]
    units: list[Unit] = []
    for unit in _whole_units(document, headings, starts):
        pieces = (
            _pieces(text, unit.span, max_weight) if _weight(text, unit.span) > max_weight else [unit.span]
        )
        for index, span in enumerate(pieces):
            before = units[-1].span.end if units else span.start
            units.append(
                replace(
                    unit,
                    span=span,
                    weight=_weight(text, span),
                    gap=(span.start - before) // CHARACTERS_PER_WORD,
                    opens_section=unit.opens_section and index == 0,
                    opens_block=unit.opens_block and index == 0,
                    opens_line=unit.opens_line and index == 0,
                    is_piece=index > 0,
                    continues=unit.continues or index > 0,
                )
            )
    return tuple(units)


def _whole_units(
    document: ExtractedDocument, headings: Sequence[Heading], starts: Sequence[int]
) -> Iterator[Unit]:
    header: Span | None = None
    above = Span(-1, -1)
    belonging = cells_above(document.text, document.blocks)
    for block in document.blocks:
        is_row = block.kind in _ROWS
        if not is_row or block.kind is BlockKind.TABLE_HEADER:
            header = None
        spans = [block.span] if is_row else _sentences(document.text, block, headings, starts)
        for index, span in enumerate(spans):
            section = bisect_right(starts, span.start) - 1
            opens = section >= 0 and headings[section].span.start == span.start
            yield Unit(
                span=span,
                weight=0,
                gap=0,
                section=section,
                opens_section=opens,
                opens_block=index == 0,
                opens_line=index == 0 or _line_start(document.text, span.start, block.span.start) is not None,
                is_item=block.kind is BlockKind.LIST_ITEM,
                is_heading=block.kind is BlockKind.HEADING
                or (opens and headings[section].span.end >= span.end - 1),
                by_markup=block.kind is BlockKind.HEADING,
                indent=block.depth or _indent(document.text, span.start),
                continues=not opens and _reads_on(document.text, headings, section, above, span, header),
                is_row=is_row,
                header=header,
                cells_above=belonging.get(span.start, ()) if is_row else (),
            )
            above = span
        if block.kind is BlockKind.TABLE_HEADER and block.span.end - block.span.start <= LONGEST_HEADER:
            header = block.span


def _line_start(text: str, position: int, least: int) -> int | None:
    """Where the line of `position` begins, when nothing but white space stands before it on that line."""
    start = position
    while start > least and text[start - 1].isspace() and text[start - 1] != "\n":
        start -= 1
    return start if start == least or text[start - 1] == "\n" else None


def _indent(text: str, position: int) -> int:
    start = _line_start(text, position, 0)
    return 0 if start is None else position - start


def _reads_on(
    text: str, headings: Sequence[Heading], section: int, above: Span, span: Span, header: Span | None
) -> bool:
    """Whether `span` must not be parted from `above`: its heading, its table header, or its own beginning."""
    if above == header or (section >= 0 and above.end <= headings[section].span.end + 1 and above.start >= 0):
        return True
    return text[span.start].islower() and _ITEM.match(text, span.start) is None


def _sentences(text: str, block: Block, headings: Sequence[Heading], starts: Sequence[int]) -> Iterator[Span]:
    """The sentences of a block; every heading in it begins one, and a run-in heading stays with its text."""
    first = bisect_right(starts, block.span.start - 1)
    start = block.span.start
    for heading in headings[first : bisect_right(starts, block.span.end - 1)]:
        yield from split(text, Span(start, heading.span.start))
        start = heading.span.start
        end = min(heading.span.end, block.span.end)
        following = headings[first + 1].span.start if first + 1 < len(headings) else block.span.end
        first += 1
        limit = min(following, block.span.end)
        tail = _CAPTION_TAIL.match(text, end, limit)
        body = split(text, Span(tail.end() if tail else end, limit))
        if not body or "\n" in text[end : body[0].start]:
            yield trimmed(text, Span(start, body[0].start if body else limit))
        else:
            body[0] = Span(start, body[0].end)
        yield from body
        start = limit
    yield from split(text, Span(start, block.span.end))


def _weight(text: str, span: Span) -> int:
    words = len(text[span.start : span.end].split())
    return max(words, -((span.start - span.end) // CHARACTERS_PER_WORD))


def _pieces(text: str, span: Span, max_weight: int) -> Iterator[Span]:
    """Cut a sentence that no chunk can hold, where a clause ends if it does, else between words."""
    start, reach = span.start, max_weight * CHARACTERS_PER_WORD
    while span.end - start > reach or _weight(text, Span(start, span.end)) > max_weight:
        end = _last_resort(text, start, min(span.end, start + reach), max_weight)
        yield trimmed(text, Span(start, end))
        start = trimmed(text, Span(end, span.end)).start
    yield Span(start, span.end)


def _last_resort(text: str, start: int, limit: int, max_weight: int) -> int:
    """The best end of a piece that starts at `start`; inside a word only when that fills the whole piece."""
    words = [
        word.end() for _, word in zip(range(max_weight), _WORD.finditer(text, start, limit), strict=False)
    ]
    whole = words[:-1] or words
    for end in reversed(whole[len(whole) // 2 :]):
        if text[end - 1] in _CLAUSE_ENDS:
            return end
    return whole[-1]
