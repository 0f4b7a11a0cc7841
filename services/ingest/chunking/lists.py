"""Finds what governs the items of lists: the lead-in above them, of every level, and conditions below them.

`The Licensee shall not:` stands above `(a) copy the Data;` and `(b) share the Data;`, and `in each case only
with prior written consent` below them. Quoted without, an item says something else. Lists nest: an item may
lead into a list of its own. The clauses of a contract, `1. Term. …`, are counted like items, and are none.

One pass over the sentences with a stack of open lists. What a sentence costs depends on its length and on the
depth of the lists around it, which is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from corpus.spans import Span
from services.ingest import markers
from services.ingest.chunking.governing import Governing, bounded
from services.ingest.chunking.units import Unit
from services.ingest.chunking.wording import (
    Lead,
    begins_small,
    breaks_off,
    completes,
    condition_within,
    ends_open,
    has_verb,
    is_caption,
    is_condition,
    is_formula,
    is_fragment,
    lead_of,
    says_nothing,
    stands_alone,
)
from services.ingest.markers import ROWS, UNMARKED, Marker, Series
from services.ingest.sentences import trimmed

_DEEPEST = 8
_FURNITURE = 3
"""Sentences between a lead-in and its first item, or two items, that may be a footer and a header."""
_LARGEST_GAP = 3
"""Items that may be missing where a list goes on: in a picture, or taken for text."""
_MOST_GOVERNED = 500
"""Units that a condition below them governs: no list of a contract is as long, and it bounds the work."""
_CAPTION_WORDS = 5
_MOST_FURTHER = 3
"""Whole sentences behind the words of an item; more are no longer the item's."""
_MOST_PIECES = 3
"""Of a sentence that no chunk can hold, these are searched for a condition."""
_ITEM_ENDS = ".;,:"
_UNFINISHED = (";", ",", " and", " or")
_ENDS = (".", ":", *_UNFINISHED)


@dataclass(slots=True)
class _List:
    """A list that may go on."""

    series: Series
    last: int
    """The number of its last item."""
    indent: int
    lead: Span | None
    """What leads into it; None for clauses, and where nothing does."""
    needed: Lead
    """OPEN when every item needs `lead`, WEAK when only those do that are no sentences."""
    item: int
    """The first unit of its last item."""
    governs: bool = True
    """Whether its lead-in governs its last item."""
    alone: bool = False
    """Whether its last item is a sentence with a subject of its own."""
    interrupted: bool = False
    """Whether a paragraph stands below its last item."""
    apart: bool = False
    """Whether its lead-in is a sentence in an item that needs none itself: its items need none either."""
    further: int = 0
    """Whole sentences in its last item that need no lead-in."""
    members: list[int] = field(default_factory=list)
    """The units of its items."""
    governed: list[int] = field(default_factory=list)


def find(text: str, units: Sequence[Unit]) -> tuple[Governing, ...]:
    """What governs sentences of a document, outer lists before the lists in them."""
    search = _Search(text, units)
    for index in range(len(units)):
        search.take(index)
    search.close(0)
    found = sorted(search.found.items(), key=lambda item: (item[0][0].start, item[0][0].end))
    return tuple(Governing(span, is_condition, tuple(sorted(units))) for (span, is_condition), units in found)


class _Search:
    """The lists that are open at a unit, outermost first."""

    def __init__(self, text: str, units: Sequence[Unit]) -> None:
        self.found: dict[tuple[Span, bool], set[int]] = {}
        """The units that words govern, and whether these are a condition."""
        self._text = text
        self._units = units
        self._open: list[_List] = []
        self._pending: list[int] = []
        """Conditions of which it is not known yet which lists they govern."""
        self._last_mark = Span(0, 0)
        """From the last mark within a sentence to the sentence's end."""
        self._own_sentence = Span(0, 0)
        """The last sentence in an item that needs no lead-in."""
        self._whole = 0
        """The unit that the sentence of the last piece begins with."""

    def take(self, index: int) -> None:
        """Take the next unit."""
        unit = self._units[index]
        start, end = unit.span.start, unit.span.end
        if unit.is_piece:
            self._take_piece(index)
        elif says_nothing(self._words(index)):
            return
        elif unit.is_row:
            self._take_row(index)
        else:
            self._whole = index
            marker = markers.read(self._text, start, end, opens_line=unit.opens_line or unit.opens_section)
            if marker is None and unit.is_item and unit.opens_block:
                marker = Marker(((UNMARKED, 0),), start)
            if marker is not None and not self._is_caption(unit):
                self._take_item(index, marker)
            else:
                self._take_text(index)
        if not unit.is_row:
            self._take_marks_within(index)

    def _is_caption(self, unit: Unit) -> bool:
        """Whether markup makes a heading of it; some make one of every numbered paragraph."""
        return unit.is_heading and unit.by_markup and self._text[unit.span.end - 1] not in _ITEM_ENDS

    def _words(self, index: int) -> str:
        span = self._units[index].span
        return self._text[span.start : span.end]

    # Items

    def _take_item(self, index: int, marker: Marker) -> None:
        body = self._text[marker.end : self._units[index].span.end].lstrip()
        caption = self._heads_clause(index, body)
        alone = caption or stands_alone(body)
        lead, needed = self._lead_before(index, body)
        depth = self._sibling(index, marker, alone, needed)
        if depth is None:
            self._begin(index, marker, alone, lead, needed)
        else:
            self._go_on(index, depth, marker)
        last = self._open[-1]
        last.alone = alone
        last.governs = last.needed is Lead.OPEN or (
            last.needed is Lead.WEAK and not alone and completes(body)
        )
        self._add(index)

    def _heads_clause(self, index: int, body: str) -> bool:
        """Whether an item is the caption of a clause: `8. Fees.`, with a whole sentence behind it."""
        if (
            len(body.split()) > _CAPTION_WORDS
            or index + 1 == len(self._units)
            or self._units[index + 1].opens_line
        ):
            return False
        return stands_alone(self._words(index + 1))

    def _sibling(self, index: int, marker: Marker, alone: bool, needed: Lead) -> int | None:
        """The open list that an item continues; None when it begins one."""
        follows, later = [], []
        for depth in range(len(self._open) - 1, -1, -1):
            open_list = self._open[depth]
            if open_list.interrupted and (marker.is_bullet or (alone and open_list.lead)):
                continue
            step = _step(open_list, marker)
            if step is None or (marker.is_bullet and self._units[index].indent != open_list.indent):
                continue
            if step == (0 if marker.is_bullet else 1):
                follows.append(depth)
            elif 1 < step <= 1 + _LARGEST_GAP and not marker.opening:
                later.append(depth)
        found = self._nearest(follows, index, alone) if follows else next(iter(later), None)
        if found is not None and self._leads_on(index, found, alone, needed):
            return None
        return found

    def _nearest(self, depths: Sequence[int], index: int, alone: bool) -> int:
        """The innermost of the lists that an item may continue; by indent, where that differs.

        A sentence with a subject of its own continues clauses, or other such sentences.
        """
        indent = self._units[index].indent
        alike = [depth for depth in depths if self._open[depth].indent == indent] or list(depths)
        if alone:
            clauses = [depth for depth in alike if self._open[depth].lead is None or self._open[depth].alone]
            return next(iter(clauses), alike[0])
        return alike[0]

    def _leads_on(self, index: int, depth: int, alone: bool, needed: Lead) -> bool:
        """Whether an item that could continue a list begins one below the item before, which breaks off."""
        if needed is not Lead.OPEN or alone or depth != len(self._open) - 1:
            return False
        return ends_open(self._words(index - 1))

    def _go_on(self, index: int, depth: int, marker: Marker) -> None:
        goes_on_here = depth == len(self._open) - 1
        if goes_on_here and self._pending:
            self._govern(self._pending, self._since(self._open[depth]))
        self.close(depth + 1)
        open_list = self._open[depth]
        series, value = next(reading for reading in marker.readings if reading[0] == open_list.series)
        open_list.series, open_list.last = series, value
        open_list.item, open_list.further, open_list.interrupted = index, 0, False

    def _begin(self, index: int, marker: Marker, alone: bool, lead: Span | None, needed: Lead) -> None:
        """A list begins: below the last item of the one before it, or behind all that are open."""
        indent = self._units[index].indent
        self._close_for(index, marker, alone, needed)
        series, value = next((reading for reading in marker.readings if reading[1] <= 1), marker.readings[0])
        if len(self._open) >= _DEEPEST:
            self.close(_DEEPEST - 1)
        if not marker.opening and (alone or needed is not Lead.OPEN):
            lead, needed = None, Lead.NONE
        self._push(_List(series, value, indent, lead, needed, index))

    def _push(self, begun: _List) -> None:
        around = self._open[-1].lead if self._open else None
        begun.apart = self._is_own(begun.lead) and not self._is_own(around)
        self._open.append(begun)

    def _is_own(self, lead: Span | None) -> bool:
        """Whether a lead-in stands in the last sentence that needs none itself."""
        own = self._own_sentence
        return lead is not None and own.start <= lead.start < own.end

    def _close_for(self, index: int, marker: Marker, alone: bool, needed: Lead) -> None:
        """Close what cannot be around a list that begins here."""
        indent = self._units[index].indent
        depth = next(
            (
                depth
                for depth, open_list in enumerate(self._open)
                if _is_another_path(open_list.series, marker)
            ),
            len(self._open),
        )
        while depth > 0 and self._ends_before(self._open[depth - 1], marker, indent, alone, needed):
            depth -= 1
        self.close(depth)

    def _ends_before(self, open_list: _List, marker: Marker, indent: int, alone: bool, needed: Lead) -> bool:
        if open_list.interrupted or open_list.series in (UNMARKED, ROWS):
            return open_list.interrupted or needed is not Lead.OPEN
        if needed is Lead.OPEN:
            return False
        again = any(series == open_list.series for series, _ in marker.readings)
        return again or alone or not marker.opening or indent < open_list.indent

    def _take_marks_within(self, index: int) -> None:
        """Items that begin within the sentence: their list may go on below it."""
        span = self._units[index].span
        for marker in markers.within(self._text, span.start, span.end):
            depth = next(
                (
                    depth
                    for depth in reversed(range(len(self._open)))
                    if _step(self._open[depth], marker) == 1
                ),
                None,
            )
            if depth is not None:
                self.close(depth + 1)
                self._open[depth].last += 1
            elif marker.opening and len(self._open) < _DEEPEST:
                self._begin_within(index, marker)
            else:
                continue
            self._last_mark = trimmed(self._text, Span(marker.end, span.end))

    def _begin_within(self, index: int, marker: Marker) -> None:
        span = self._units[index].span
        start = max(span.start, self._last_mark.start)
        lead = trimmed(self._text, Span(start, marker.end))
        series, value = next(reading for reading in marker.readings if reading[1] == 1)
        begun = _List(series, value, self._units[index].indent, lead, Lead.OPEN, index)
        item = markers.read(self._text, marker.end, span.end, opens_line=True)
        if (
            item
            and is_caption(self._text[lead.start : lead.end])
            and stands_alone(self._text[item.end : span.end])
        ):
            begun.lead, begun.needed = None, Lead.NONE
        begun.members.append(index)
        begun.governed.append(index)
        goes_on = index + 1 < len(self._units) and self._units[index + 1].is_piece
        begun.interrupted = self._text[span.end - 1] in ".!?" and not goes_on
        self._push(begun)

    # What stands between and below items

    def _take_text(self, index: int) -> None:
        unit, words = self._units[index], self._words(index)
        if unit.opens_section and unit.is_heading:
            self.close(0)
            return
        if unit.indent and unit.opens_block:
            self._leave_deeper(unit.indent)
        alone = stands_alone(words)
        if not alone and self._take_plain(index):
            return
        if not self._open:
            self._take_ending(index)
        elif is_condition(words, opens_line=unit.opens_line) and self._follows_item(index):
            self._take_condition(index)
        elif not unit.opens_line:
            self._take_sentence(index, alone)
        elif not is_fragment(words):
            self._take_paragraph(index, alone)

    def _take_ending(self, index: int) -> None:
        """A condition below a sentence that holds its whole list."""
        unit, words = self._units[index], self._words(index)
        if index and unit.opens_block and words[:1].islower() and is_condition(words):
            self._emit(unit.span, [index - 1], is_condition=True)

    def _take_condition(self, index: int) -> None:
        for open_list in self._open:
            open_list.interrupted = open_list.interrupted and open_list.members[-1:] != [index - 1]
        self._pending.append(index)
        self._add(index)

    def _take_sentence(self, index: int, alone: bool) -> None:
        """A further sentence of an item; after some that stand alone, it is an item's no more."""
        words = self._words(index)
        self._add(index, governed=not (alone or (is_fragment(words) and not words[:1].islower())))
        for open_list in self._open:
            open_list.further += alone
        if self._open[-1].further > _MOST_FURTHER:
            self._interrupt()

    def _follows_item(self, index: int) -> bool:
        """Whether the text before ends like an item; in a list without punctuation, none does."""
        ends = self._words(index - 1).rstrip().endswith(_ENDS)
        several = self._units[index - 1].is_piece or self._last_mark.end == self._units[index - 1].span.end
        return ends or several or not self._words(self._open[-1].item - 1).rstrip().endswith(_ENDS)

    def _leave_deeper(self, indent: int) -> None:
        """A paragraph of an outer item ends the lists of inner ones."""
        depth = len(self._open)
        while depth > 0 and self._open[depth - 1].indent > indent:
            depth -= 1
        self.close(depth)

    def _take_paragraph(self, index: int, alone: bool) -> None:
        """A paragraph below an item: the item's own, or the end of the list."""
        unit, words = self._units[index], self._words(index)
        if begins_small(words):
            if self._words(index - 1).rstrip().endswith((";", ".")):
                self._pending.append(index)
            self._add(index)
        elif unit.indent and self._open[-1].indent <= unit.indent:
            self._add(index, governed=not (alone or is_fragment(words)))
        else:
            self._interrupt()

    def _interrupt(self) -> None:
        """A paragraph that belongs to no item."""
        self._settle(0)
        for open_list in self._open:
            open_list.interrupted = open_list.lead is not None or open_list.last == 0
        while self._open and self._open[-1].series in (UNMARKED, ROWS):
            self.close(len(self._open) - 1)

    def _take_plain(self, index: int) -> bool:
        """Take a paragraph that is an item without a mark; False for any other."""
        unit, words = self._units[index], self._words(index)
        if not unit.opens_line or not completes(words) or is_condition(words):
            return False
        before = self._words(index - 1).rstrip() if index else ""
        if self._open and self._open[-1].series == UNMARKED and not self._open[-1].interrupted:
            if not before.endswith(_UNFINISHED) and before.endswith(".") != words[:1].isupper():
                return False
            self._go_on(index, len(self._open) - 1, Marker(((UNMARKED, 0),), 0))
        else:
            lead, needed = self._lead_before(index, words)
            if needed is Lead.OPEN and (unit.opens_block or before.endswith(":")):
                self._push(_List(UNMARKED, 0, unit.indent, lead, needed, index))
            elif not self._begin_above(index, words):
                return False
        self._add(index)
        return True

    def _begin_above(self, index: int, words: str) -> bool:
        """Begin a list without marks whose first items stand in the sentence of its lead-in, if it is one."""
        if index == 0 or any(
            open_list.lead and open_list.members[-1:] == [index - 1] for open_list in self._open
        ):
            return False
        above = self._sentence_above(index)
        lead = self._lead_within(above, words)
        if lead is None:
            return False
        begun = _List(UNMARKED, 0, self._units[index].indent, lead, Lead.OPEN, index)
        begun.members += above
        begun.governed += above
        self._push(begun)
        return True

    def _take_row(self, index: int) -> None:
        """A table below a lead-in is a list; any other ends the lists above it."""
        if self._open and self._open[-1].series == ROWS:
            self._open[-1].item = index
        else:
            lead, needed = self._lead_before(index, "")
            if lead is None or needed is not Lead.OPEN:
                self._interrupt()
                return
            self._push(_List(ROWS, 0, 0, lead, needed, index))
        self._add(index)

    def _take_piece(self, index: int) -> None:
        """A further piece of a sentence that no chunk can hold: its beginning governs it."""
        first = self._units[self._whole].span
        inline = next(
            (mark for mark in markers.within(self._text, first.start, first.end) if mark.opening), None
        )
        head = trimmed(self._text, Span(first.start, inline.end)) if inline else first
        self._emit(head, [index], is_condition=False, only_beginning=inline is None)
        self._add(index)

    # Leads

    def _lead_before(self, index: int, body: str) -> tuple[Span | None, Lead]:
        """What leads into a list whose first item may be unit `index`, and how much its items need it."""
        for where in range(index - 1, max(-1, index - 2 - _FURNITURE), -1):
            unit = self._units[where]
            if unit.is_row:
                break
            words = self._words(where)
            lead = self._last_item(unit.span)
            needed = lead_of(self._text[lead.start : lead.end])
            if needed is Lead.OPEN and self._opens_clauses(words, body):
                break
            if needed is Lead.OPEN or (needed and where == index - 1 and not unit.is_heading):
                return lead, needed
            begins_item = self._open and where <= self._open[-1].item
            if begins_item or unit.is_heading or not is_fragment(words):
                break
        return None, Lead.NONE

    def _opens_clauses(self, words: str, body: str) -> bool:
        """Whether a text opens clauses and no list, although a colon ends it: `agree as follows:`."""
        if is_formula(words) and not completes(body):
            return True
        return stands_alone(body) and (is_formula(words) or (words.isupper() and is_caption(words)))

    def _sentence_above(self, index: int) -> range:
        """The units of the sentence above a unit: one, or the pieces of a long one."""
        first = index - 1
        while first > 0 and self._units[first].is_piece:
            first -= 1
        return range(first, index)

    def _lead_within(self, above: range, body: str) -> Span | None:
        """What leads into `body` from the sentence above, with the first items of a list without marks in it.

        Where the lead-in ends within it may not be known: then it is the whole sentence.
        """
        whole = Span(self._units[above.start].span.start, self._units[above[-1]].span.end)
        end = breaks_off(self._text, whole.start, whole.end)
        unfinished = self._words(above[-1]).endswith(_UNFINISHED)
        if body[:1].islower() and unfinished and has_verb(self._text, whole.start, whole.end):
            return Span(whole.start, end or whole.end)
        if body[:1].isupper() and end is not None:
            return Span(whole.start, end)
        return None

    def _last_item(self, span: Span) -> Span:
        """What of a sentence with several items in it leads on: the last of them."""
        return self._last_mark if self._last_mark.end == span.end else span

    # Keeping account

    def _add(self, index: int, *, governed: bool = True) -> None:
        """A unit belongs to the last items of all open lists."""
        if not governed:
            self._own_sentence = self._units[index].span
        for open_list in reversed(self._open):
            if not open_list.interrupted:
                open_list.members.append(index)
                if governed and open_list.governs:
                    open_list.governed.append(index)
            governed = governed and not open_list.apart

    def _since(self, open_list: _List) -> list[int]:
        """The units of a list's last item."""
        return list(takewhile(lambda index: index >= open_list.item, reversed(open_list.members)))[::-1]

    def close(self, depth: int) -> None:
        """End the lists from `depth` inwards."""
        if depth >= len(self._open):
            return
        self._settle(depth)
        for open_list in self._open[depth:]:
            if open_list.lead is not None:
                self._emit(open_list.lead, open_list.governed, is_condition=False)
        del self._open[depth:]

    def _settle(self, depth: int) -> None:
        """Conditions below the lists from `depth` inwards, or in their last item, govern all their items."""
        closed = next(
            (
                open_list
                for open_list in self._open[depth:]
                if open_list.lead is not None and not open_list.interrupted
            ),
            None,
        )
        if closed is not None and closed.members:
            self._govern(self._pending, closed.governed)
            self._govern_from_within(closed)
        self._pending = []

    def _govern(self, conditions: Sequence[int], members: Sequence[int]) -> None:
        for index in conditions:
            self._emit(self._units[index].span, members, is_condition=True)
        self._pending = []

    def _govern_from_within(self, closed: _List) -> None:
        if not closed.governed or closed.governed[-1] < closed.item:
            return
        first = last = closed.governed[-1]
        while self._units[first].is_piece and last - first < _MOST_PIECES:
            first -= 1
        while last + 1 < len(self._units) and self._units[last + 1].is_piece and last - first < _MOST_PIECES:
            last += 1
        end = self._units[last].span.end
        begins = condition_within(self._text, self._units[first].span.start, end, of_all=closed.alone)
        if begins is not None:
            self._emit(Span(begins, end), closed.governed, is_condition=True)

    def _emit(
        self, span: Span, members: Sequence[int], *, is_condition: bool, only_beginning: bool = False
    ) -> None:
        """Keep what governs units, but not for those that hold it themselves."""
        units = self._units
        governs = [
            index
            for index in (members[-_MOST_GOVERNED:] if is_condition else members)
            if units[index].span.end <= span.start or units[index].span.start >= span.end
        ]
        if governs:
            for part in bounded(self._text, span, only_beginning):
                self.found.setdefault((part, is_condition), set()).update(governs)


def _is_another_path(series: Series, marker: Marker) -> bool:
    """Whether `4.2.1` cannot stand in a list of `4.1.…`."""
    form = marker.readings[0][0].form
    return series.form[:1].isdigit() and form[:1].isdigit() and not form.startswith(series.form)


def _step(open_list: _List, marker: Marker) -> int | None:
    """How far an item is from the last one of a list; None for another series."""
    values = [value for series, value in marker.readings if series == open_list.series]
    return values[0] - open_list.last if values else None
