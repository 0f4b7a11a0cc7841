"""Parts a document into its sections of the first level: no chunk runs over the beginning of one.

Plain text is not parted: what is a heading there is guessed from numbers and capitals, and sections of
contracts are so small that their chunks would be found less often (decision 24).

How much a heading holds tells which level is the first: one without a number over most of the document is
its title, and the headings below it open the sections. A title is not parted from what follows it, and nor
are headings without text between them, as in a table of contents. Paragraphs that have numbers alone are no
sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from corpus.documents import DocumentFormat
from corpus.spans import has_words
from services.ingest.chunking.units import Unit
from services.ingest.documents import ExtractedDocument
from services.ingest.headings import Heading
from services.ingest.headings.numbering import Series, marks

TITLE_SHARE = 0.5
"""Of the characters of a document: a heading over more of them is not one section among others."""


def divide(
    document: ExtractedDocument, units: Sequence[Unit], headings: Sequence[Heading], least: int
) -> list[range]:
    """The units of each section of the first level, in order: together all units, each once.

    Fewer words than `least` before the first section are part of it: `Exhibit 10.3`.
    """
    if document.format is DocumentFormat.TEXT:
        return [range(len(units))]
    opening = {headings[index].span.start for index in first_level(document.text, headings)}
    starts = [index for index, unit in enumerate(units) if unit.opens_section and unit.span.start in opening]
    if starts and sum(unit.weight for unit in units[: starts[0]]) < least:
        del starts[0]
    starts = sorted({0, *starts})
    edges = [0, *_parting(units, headings, starts), len(units)]
    return [range(start, end) for start, end in pairwise(edges) if start < end]


def first_level(text: str, headings: Sequence[Heading]) -> list[int]:
    """The indices of the headings of `text` that open its sections of the first level."""
    title_ends: list[int] = []
    found: list[int] = []
    for index, (heading, section_end) in enumerate(
        zip(headings, _section_ends(headings, len(text)), strict=True)
    ):
        while title_ends and heading.span.start >= title_ends[-1]:
            title_ends.pop()
        if len(heading.chain) > len(title_ends) + 1 or not has_words(heading.chain[-1]):
            continue
        found.append(index)
        if section_end - heading.span.start > TITLE_SHARE * len(text) and not _is_numbered(text, heading):
            title_ends.append(section_end)
    return found


def _is_numbered(text: str, heading: Heading) -> bool:
    """Whether a heading counts on from others; an exhibit may be all that a file holds."""
    mark = next(marks(text, heading.span), None)
    return mark is not None and mark.opens_line and mark.readings[0].series is not Series.EXHIBIT


def _section_ends(headings: Sequence[Heading], end: int) -> list[int]:
    """Where the section of each heading ends, the sections below it included."""
    ends = [end] * len(headings)
    following: list[int] = []
    for index in range(len(headings) - 1, -1, -1):
        while following and len(headings[following[-1]].chain) > len(headings[index].chain):
            following.pop()
        if following:
            ends[index] = headings[following[-1]].span.start
        following.append(index)
    return ends


def _parting(units: Sequence[Unit], headings: Sequence[Heading], starts: Sequence[int]) -> Iterator[int]:
    """Those of `starts`, from the second, before which a chunk ends."""
    for above, start, after in zip(starts, starts[1:], [*starts[2:], len(units)], strict=False):
        bare = all(unit.is_heading for unit in units[above:start])
        title = units[start - 1].section
        entitled = title < 0 or headings[units[start].section].chain[:-1] == headings[title].chain
        if not bare or not (entitled or all(unit.is_heading for unit in units[start:after])):
            yield start
