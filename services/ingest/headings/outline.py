"""Nests headings as they are met, and tells the numbers of clauses from numbers in the text.

A number is believed when it counts on, 4.3 after 4.2, (b) after (a), or when it is the first of its kind.
Counting on also says where a clause belongs: beside the one before it, whatever stands between the two.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.ingest.headings.numbering import Mark, Reading, Series
from services.ingest.vocabulary import PREAMBLES

_RANK = {
    Series.EXHIBIT: 0,
    Series.ARTICLE: 10,
    Series.ROMAN: 24,
    Series.UPPER: 26,
    Series.DECIMAL: 30,
    Series.LETTER: 45,
    Series.LOWER_ROMAN: 46,
}
_UNNUMBERED = 20
"""Rank of a heading without a number: inside articles, around sections that count anew below it."""
_MARKUP = -10
"""Rank of a heading of level 0 by markup: outside everything else."""
_MOST_SKIPPED = 3
"""Numbers that may be missing between two clauses of a series: reserved, lost at a page break, or cut out."""
_ALPHABETIC = frozenset({Series.ROMAN, Series.UPPER, Series.LETTER, Series.LOWER_ROMAN})


@dataclass(frozen=True, slots=True)
class _Open:
    """A heading whose section is not over."""

    rank: int
    text: str
    reading: Reading | None = None
    shown: bool = True
    """Whether the chain names it; items of a list count on, but head nothing."""


class Outline:
    """The headings above the place reached so far."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._asides: list[_Open] = []
        self._numbered = False

    @property
    def chain(self) -> tuple[str, ...]:
        """The headings above, outermost first."""
        outer = [entry for entry in self._open if not self._asides or entry.rank < _UNNUMBERED]
        return tuple(entry.text for entry in [*outer, *self._asides] if entry.shown)

    def enter_level(self, level: int, text: str) -> None:
        """Open a heading that markup gives the level 1 to 6."""
        self._open = [entry for entry in self._open if entry.rank < _MARKUP + level]
        self._open.append(_Open(_MARKUP + level, text))
        self._asides = []

    def enter_unnumbered(self, prominence: int, text: str) -> None:
        """Open a heading that only looks like one; the lower `prominence`, from 0, the further out."""
        rank = _UNNUMBERED + prominence
        self._asides = [aside for aside in self._asides if aside.rank < rank]
        self._asides.append(_Open(rank, text))

    def enter_mark(self, mark: Mark, text: str) -> bool:
        """Open the clause that `mark` begins; return whether it heads anything, as items of lists do not."""
        if mark.readings[0].series is Series.EXHIBIT:
            return self._enter_exhibit(mark, text)
        if not mark.captioned and mark.readings[0].series in _ALPHABETIC:
            return False
        for reading in mark.readings:
            depth = self._depth_of_predecessor(mark, reading)
            if depth is not None:
                self._place(self._open[:depth], reading, text, shown=self._open[depth].shown)
                return self._open[-1].shown
        return any(self._enter_first(mark, reading, text) for reading in mark.readings)

    def _enter_exhibit(self, mark: Mark, text: str) -> bool:
        if not mark.opens_line:
            return False
        outer = [entry for entry in self._open if entry.rank < _RANK[Series.EXHIBIT]]
        self._place(outer, mark.readings[0], text)
        return True

    def _depth_of_predecessor(self, mark: Mark, reading: Reading) -> int | None:
        """Where the clause before this one stands among the open headings."""
        most = _MOST_SKIPPED if mark.captioned and mark.separated else 1
        if not mark.separated and not mark.captioned:
            return None
        for step in range(1, most + 1):
            for depth in range(len(self._open) - 1, -1, -1):
                if _follows(reading, self._open[depth].reading, step):
                    return depth
        return None

    def _enter_first(self, mark: Mark, reading: Reading, text: str) -> bool:
        """Open the first clause of a series, or one whose predecessors were not seen."""
        if not mark.separated or not self._may_begin(mark, reading):
            return False
        restarts = any(entry.reading and _same_series(entry.reading, reading) for entry in self._open)
        if restarts and not self._asides and not mark.captioned and len(reading.path) == 1:
            shown = [entry for entry in self._open if entry.shown]
            self._open = [*shown, _Open(_rank(reading), text, reading, shown=False)]
            return False
        self._place(self._above(reading, restarts), reading, text)
        return True

    def _may_begin(self, mark: Mark, reading: Reading) -> bool:
        likely = (
            mark.opens_line or mark.captioned or len(reading.path) > 1 or reading.series is Series.ARTICLE
        )
        if reading.path[-1] <= 1 and likely:
            return len(reading.path) == 1 or self._is_near(reading)
        unmistakable = len(reading.path) > 1 or reading.series is Series.ARTICLE
        return mark.opens_line and mark.captioned and unmistakable

    def _is_near(self, reading: Reading) -> bool:
        """Whether `4.1` comes where it can: under 4, after 3.9, or before any clause."""
        last = [entry.reading.path for entry in self._open if entry.reading and entry.shown]
        return not last or any(reading.path[0] - path[0] in (0, 1) for path in last)

    def _above(self, reading: Reading, restarts: bool) -> list[_Open]:
        """The open headings that the first clause of a series belongs to."""
        if reading.series in _ALPHABETIC and not restarts:
            return [entry for entry in self._open if _may_hold(entry, reading)]
        above = [entry for entry in self._open if entry.rank < _rank(reading)]
        if not self._numbered or reading.series is Series.ARTICLE:
            return above
        asides = [aside for aside in self._asides if aside.text.lower().strip(" :") not in PREAMBLES]
        return [entry for entry in above if entry.rank < _UNNUMBERED] + asides if asides else above

    def _place(self, above: list[_Open], reading: Reading, text: str, *, shown: bool = True) -> None:
        self._open = [*above, _Open(_rank(reading), text, reading, shown)]
        self._asides = []
        self._numbered = True


def _rank(reading: Reading) -> int:
    return _RANK[reading.series] + (len(reading.path) - 1 if reading.series is Series.DECIMAL else 0)


def _same_series(left: Reading, right: Reading) -> bool:
    return left.series is right.series and left.path[:-1] == right.path[:-1]


def _follows(reading: Reading, last: Reading | None, step: int) -> bool:
    return last is not None and _same_series(reading, last) and reading.path[-1] - last.path[-1] == step


def _may_hold(entry: _Open, reading: Reading) -> bool:
    """A list of letters hangs under whatever is open, but for other letters of the same kind or below."""
    if entry.reading is None or entry.reading.series not in _ALPHABETIC:
        return True
    return entry.rank < _rank(reading)
