"""Tells running headers, footers and page numbers from text, without losing a word of text.

Only the outermost rows of a page are looked at. What repeats word for word is kept where it stands first, and
wherever it may be text: see `_is_certain`. Of what varies, only a number that counts the pages is ever
dropped. The lead-in of a list that is repeated as the list goes on is never dropped.
"""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from statistics import median_low

from services.ingest.parsing.layout import MARGIN, Row
from services.ingest.sentences import is_open
from services.ingest.vocabulary import VERBS

EDGE_ROWS = 6
"""Rows from the top and from the bottom of a page that may be running."""
SHARE = 0.4
"""A running row stands on at least this share of the pages with text: books alternate two of them."""
SENTENCE_SHARE = 0.2
"""The same for a row of at least `SENTENCE_CHARACTERS`: it does not come about by chance."""
SENTENCE_CHARACTERS = 25
LEAST_PAGES = 3
EDGE_PAGES = 5
"""Pages at least at whose edge a row stands that is running wherever it stands."""
EDGE_SHARE = 0.9
"""Share of its pages at whose edge such a row stands, with nothing but running rows farther out."""
SAME_HEIGHT = 60
"""Tenths of a point by which a running row may stand higher or lower than on most pages."""
APART = 1.4
"""In usual steps between rows: what is farther from the text is not part of it."""
WIDEST_STEP = 2.4
"""Font sizes between rows of text at most: pages of a few words are not set wider."""
OTHER_SIZE = 5
"""Tenths of a point by which the type of a running row differs from that of the text."""

_NUMBER = re.compile(r"\d{1,5}")
_BARE = re.compile(
    r"[\s\-–—.|/()\[\]]*(?:(?:page|pg\.?|p\.)\s*)?(?:#)(?:\s*(?:of|/)\s*\d+)?[\s\-–—.|/()\[\]]*", re.I
)
_ROMAN = re.compile(r"[\s\-–—.]*([ivxl]{1,8})[\s\-–—.]*")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}
_COUNTS = re.compile(
    r"(?:.{0,80}\W)?(?:page|pg\.)\s*\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?\W*|[\s\-–—|\[(]*\d{1,4}[\s\-–—|\])]*",
    re.I,
)
"""A row that counts the pages of a document too short for its numbers to be recognised by counting on."""

Place = tuple[str, bool]
"""The words of a row, and whether it stands in the upper half of its page."""
Counter = tuple[str, int]
"""A row with its page number as `#`, and that number minus the page's."""


@dataclass(frozen=True, slots=True)
class _Running:
    """What runs through the pages of a document."""

    heights: dict[Place, int]
    """Repeated rows, and the height at which they stand."""
    counters: set[Counter]
    body_size: int
    at_edge: frozenset[str] = frozenset()
    """Repeated rows that stand at the edge of many pages and hardly elsewhere, wherever the text ends."""


def drop_running_rows(pages: Sequence[list[Row]]) -> tuple[list[list[Row]], int]:
    """Return the rows of each page without page numbers and what only repeats an earlier page.

    Also returns how many rows were dropped. Running rows that are kept are put in the column `MARGIN`.
    """
    running = _find_running(pages)
    running = replace(running, at_edge=_at_edge(pages, running))
    seen: set[str] = set()
    kept = [_keep(rows, number, running, seen) for number, rows in enumerate(pages, start=1)]
    return kept, sum(map(len, pages)) - sum(map(len, kept))


def body_size(pages: Sequence[Sequence[Row]]) -> int:
    """The size of most characters of a document."""
    sizes: Tally[int] = Tally()
    for rows in pages:
        for row in rows:
            sizes[row.size] += len(row.text)
    return sizes.most_common(1)[0][0] if sizes else 0


def _find_running(pages: Sequence[list[Row]]) -> _Running:
    baselines: dict[Place, dict[int, int]] = defaultdict(dict)
    counters: dict[Counter, set[int]] = defaultdict(set)
    for number, rows in enumerate(pages, start=1):
        edges = _edges(rows)
        middle = _middle(rows)
        for row in edges:
            baselines[row.text, row.baseline < middle][number] = row.baseline
            for counter in _counters(row.text, number):
                counters[counter].add(number)
    count = sum(1 for rows in pages if rows)
    least = max(LEAST_PAGES, SHARE * count)
    least_sentence = max(LEAST_PAGES, SENTENCE_SHARE * count)
    heights: dict[Place, int] = {}
    for place, where in baselines.items():
        height = median_low(where.values())
        level = sum(abs(baseline - height) <= SAME_HEIGHT for baseline in where.values())
        is_long = len(place[0]) >= SENTENCE_CHARACTERS
        if level >= least or (is_long and len(where) >= least_sentence):
            heights[place] = height
    return _Running(
        heights,
        {
            counter
            for counter, where in counters.items()
            if len(where) >= (LEAST_PAGES if _BARE.fullmatch(counter[0]) else least)
        },
        body_size(pages),
    )


def _at_edge(pages: Sequence[list[Row]], running: _Running) -> frozenset[str]:
    """See `_Running.at_edge`."""
    everywhere: Tally[str] = Tally()
    outer: Tally[str] = Tally()
    for number, rows in enumerate(pages, start=1):
        ordered = sorted(rows, key=lambda row: row.baseline)
        middle = _middle(rows)
        names = [_running_name(row, row.baseline < middle, number, running) for row in ordered]
        first = next((index for index, name in enumerate(names) if name is None), len(names))
        last = next((index for index, name in enumerate(reversed(names)) if name is None), len(names))
        everywhere.update({row.text for row in ordered})
        outer.update({row.text for row in (*ordered[:first], *ordered[len(ordered) - last :])})
    least = max(EDGE_PAGES, SHARE * sum(1 for rows in pages if rows))
    return frozenset(
        text for text, count in outer.items() if count >= max(least, EDGE_SHARE * everywhere[text])
    )


def _middle(rows: Sequence[Row]) -> int:
    return sum([row.baseline for row in rows]) // (len(rows) or 1)


def _edges(rows: Sequence[Row]) -> list[Row]:
    """The first and last rows by position, outermost first; none twice."""
    ordered = sorted(rows, key=lambda row: row.baseline)
    if len(ordered) <= 2 * EDGE_ROWS:
        return ordered
    return ordered[:EDGE_ROWS] + ordered[-EDGE_ROWS:]


def _counters(text: str, page: int) -> list[Counter]:
    found = [
        (f"{text[: match.start()]}#{text[match.end() :]}", int(match.group()) - page)
        for match in _NUMBER.finditer(text[:200])
    ]
    roman = _ROMAN.fullmatch(text)
    if roman:
        found.append(("#", _roman(roman.group(1)) - page))
    return found


def _roman(numeral: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))


def _keep(rows: list[Row], page: int, running: _Running, seen: set[str]) -> list[Row]:
    edges = {id(row) for row in _edges(rows)}
    middle = _middle(rows)
    names = {
        id(row): _running_name(row, row.baseline < middle, page, running) for row in rows if id(row) in edges
    }
    repeated = {row for row, name in names.items() if name is not None}
    apart = _apart(rows, repeated, running.body_size)
    leading = _leading(rows, repeated)
    kept = []
    for row in rows:
        name = names.get(id(row))
        if name is not None:
            row.column = MARGIN
            dropped = name in seen or _BARE.fullmatch(name) is not None
            seen.add(name)
            if dropped and id(row) not in leading and _is_certain(row, running, id(row) in apart):
                continue
        elif id(row) in edges and _COUNTS.fullmatch(row.text) and _is_outermost(row, rows):
            row.column = MARGIN
        kept.append(row)
    return kept


def _running_name(row: Row, is_upper: bool, page: int, running: _Running) -> str | None:
    """What the row is on every page, with its page number as `#`; None when it is not running."""
    height = running.heights.get((row.text, is_upper))
    if height is not None and (
        len(row.text) >= SENTENCE_CHARACTERS or abs(row.baseline - height) <= SAME_HEIGHT
    ):
        return row.text
    return next((counter[0] for counter in _counters(row.text, page) if counter in running.counters), None)


def _is_certain(row: Row, running: _Running, is_apart: bool) -> bool:
    """Whether a row that runs through the pages is no part of the text: two signs of three say so.

    It stands at the height of most of its kind; apart from the text or in other type; and states nothing. One
    that stands nowhere but at the edge of pages needs neither of the first two.
    """
    heights = [running.heights.get((row.text, is_upper), row.baseline) for is_upper in (False, True)]
    level = min(abs(row.baseline - height) for height in heights) <= SAME_HEIGHT
    states = not VERBS.isdisjoint(row.text.lower().split())
    return level + is_apart + (not states) >= 2 or (row.text in running.at_edge and not states)


def _leading(rows: list[Row], repeated: set[int]) -> set[int]:
    """The ids of repeated rows that may be the lead-in of a list: something that is not is to follow them."""
    leading: set[int] = set()
    ordered = sorted(rows, key=lambda row: row.baseline, reverse=True)
    for below, row in pairwise([None, *ordered]):
        if row is None or id(row) not in repeated:
            continue
        if below and id(below) in repeated and below.baseline - row.baseline < 2 * row.size:
            leads = id(below) in leading
        else:
            leads = row.text.endswith(":") or is_open(row.text.split()[-1])
        if leads:
            leading.add(id(row))
    return leading


def _apart(rows: list[Row], repeated: set[int], size: int) -> set[int]:
    """The ids of repeated rows between which and the text there is a gap, or that are of other type."""
    ordered = sorted(rows, key=lambda row: row.baseline)
    steps = sorted(below.baseline - above.baseline for above, below in pairwise(ordered))
    least = APART * min(steps[len(steps) // 2], WIDEST_STEP * size) if steps else 0
    apart = {id(row) for row in ordered if abs(row.size - size) >= OTHER_SIZE}
    for side in (ordered, ordered[::-1]):
        outer = list(takewhile(lambda row: id(row) in repeated, side))
        if outer and (len(outer) == len(side) or abs(side[len(outer)].baseline - outer[-1].baseline) > least):
            apart.update(map(id, outer))
    return apart


def _is_outermost(row: Row, rows: Sequence[Row]) -> bool:
    """Whether no row, or none but one, stands above or below."""
    above = sum(other.baseline < row.baseline for other in rows)
    below = sum(other.baseline > row.baseline for other in rows)
    return min(above, below) <= 1
