"""Tells running headers, footers and page numbers from text, without losing a word of text.

Only the outermost rows of a page are looked at. What repeats word for word is kept where it stands first; of
what varies, only a number that counts the pages is ever dropped.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from services.ingest.parsing.layout import Row

EDGE_ROWS = 5
"""Rows from the top and from the bottom of a page that may be running."""
SHARE = 0.4
"""A running row stands on at least this share of the pages with text: books alternate two of them."""
SENTENCE_SHARE = 0.2
"""The same for a row of at least `SENTENCE_CHARACTERS`: it does not come about by chance."""
SENTENCE_CHARACTERS = 25
LEAST_PAGES = 3

_NUMBER = re.compile(r"\d{1,5}")
_BARE = re.compile(
    r"[\s\-–—.|/()\[\]]*(?:(?:page|pg\.?|p\.)\s*)?(?:#)(?:\s*(?:of|/)\s*\d+)?[\s\-–—.|/()\[\]]*", re.I
)
_ROMAN = re.compile(r"[\s\-–—.]*([ivxl]{1,8})[\s\-–—.]*")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}


def drop_running_rows(pages: Sequence[list[Row]]) -> list[list[Row]]:
    """Return the rows of each page without page numbers and what only repeats an earlier page."""
    repeated, counters = _find_running(pages)
    seen: set[str] = set()
    return [_keep(rows, number, repeated, counters, seen) for number, rows in enumerate(pages, start=1)]


Counter = tuple[str, int]
"""A row with its page number as `#`, and that number minus the page's."""


def _find_running(pages: Sequence[list[Row]]) -> tuple[set[str], set[Counter]]:
    texts: dict[str, set[int]] = defaultdict(set)
    counters: dict[Counter, set[int]] = defaultdict(set)
    for number, rows in enumerate(pages, start=1):
        for row in _edges(rows):
            texts[row.text].add(number)
            for counter in _counters(row.text, number):
                counters[counter].add(number)
    count = sum(1 for rows in pages if rows)
    least = max(LEAST_PAGES, SHARE * count)
    least_sentence = max(LEAST_PAGES, SENTENCE_SHARE * count)
    return (
        {
            text
            for text, where in texts.items()
            if len(where) >= (least if len(text) < SENTENCE_CHARACTERS else least_sentence)
        },
        {
            counter
            for counter, where in counters.items()
            if len(where) >= (LEAST_PAGES if _BARE.fullmatch(counter[0]) else least)
        },
    )


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


def _keep(
    rows: list[Row], page: int, repeated: set[str], counters: set[Counter], seen: set[str]
) -> list[Row]:
    edges = {id(row) for row in _edges(rows)}
    kept = []
    for row in rows:
        if id(row) in edges:
            name = _running_name(row.text, page, repeated, counters)
            if name is not None and (name in seen or _BARE.fullmatch(name)):
                continue
            if name is not None:
                seen.add(name)
        kept.append(row)
    return kept


def _running_name(text: str, page: int, repeated: set[str], counters: set[Counter]) -> str | None:
    """What the row is on every page, with its page number as `#`; None when it is not running."""
    if text in repeated:
        return text
    return next((counter[0] for counter in _counters(text, page) if counter in counters), None)
