"""Matches as `re` does, by trying one way after the other, and counts the steps.

The modules of Python that read patterns are private; a test holds this one to `re` wherever it is used:
what is found must be the same.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

Fits = Callable[[str], bool]
Stands = Callable[[str, int], bool]


@dataclass(frozen=True, slots=True)
class Take:
    """One character that fits."""

    fits: Fits


@dataclass(frozen=True, slots=True)
class Fork:
    """Go on at `first`, and when nothing comes of it at `second`."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Look:
    """What has to stand at a place, or must not, without taking any of it."""

    stands: Stands


@dataclass(frozen=True, slots=True)
class Around:
    """Whether `program` matches here, or that many characters before."""

    program: list[Any]
    back: int
    wanted: bool


@dataclass(frozen=True, slots=True)
class Note:
    """Remember under a number the place where a repetition began."""

    register: int


@dataclass(frozen=True, slots=True)
class Moved:
    """Go on at `otherwise` when the repetition that began at the noted place took nothing."""

    register: int
    otherwise: int


class Matcher:
    """A pattern, and how many steps it takes to find all of its matches in a text."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._program = _Writer(pattern.flags).program(parser.parse(pattern.pattern, pattern.flags))
        self._steps = 0

    def steps(self, text: str) -> int:
        """Steps of `finditer` over a text. Raises `AssertionError` where `re` finds something else."""
        self._steps = 0
        found = list(self._matches(text))
        assert found == [match.span() for match in self._pattern.finditer(text)], self._pattern
        return self._steps

    def _matches(self, text: str) -> Iterable[tuple[int, int]]:
        start, empty_until = 0, -1
        while start <= len(text):
            end = self._run(self._program, text, start, beyond=empty_until)
            if end is None:
                start += 1
                continue
            yield start, end
            start, empty_until = end, end

    def _run(self, program: list[Any], text: str, start: int, beyond: int = -1) -> int | None:
        """Where the first way through a program ends, or None; not at `start` when that is `beyond`."""
        ways: list[tuple[int, int, dict[int, int]]] = [(0, start, {})]
        while ways:
            step, place, notes = ways.pop()
            while step >= 0:
                self._steps += 1
                if step == len(program):
                    if place == start == beyond:
                        break
                    return place
                step, place, notes = self._take(program[step], step, text, place, notes, ways)
        return None

    def _take(self, order, step, text, place, notes, ways):  # type: ignore[no-untyped-def]
        match order:
            case Take(fits):
                return (step + 1 if place < len(text) and fits(text[place]) else -1), place + 1, notes
            case Fork(first, second):
                ways.append((second, place, notes))
                return first, place, notes
            case int():
                return order, place, notes
            case Look(stands):
                return (step + 1 if stands(text, place) else -1), place, notes
            case Around(program, back, wanted):
                matches = place >= back and self._run(program, text, place - back) is not None
                return (step + 1 if matches == wanted else -1), place, notes
            case Note(register):
                return step + 1, place, notes | {register: place}
            case Moved(register, otherwise):
                return (otherwise if notes[register] == place else step + 1), place, notes


_REGISTERS = itertools.count()
"""Numbers under which repetitions remember where they began, another for each."""


class _Writer:
    """Writes the steps of a pattern that Python has read."""

    def __init__(self, flags: int) -> None:
        self._flags = flags

    def program(self, items: Iterable[tuple[Any, Any]]) -> list[Any]:
        orders: list[Any] = []
        for code, argument in items:
            self._write(orders, code, argument)
        return orders

    def _write(self, orders: list[Any], code: Any, argument: Any) -> None:
        if code in (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY):
            orders.append(Take(self._fitting(code, argument)))
        elif code is codes.AT:
            orders.append(Look(_standing(argument, bool(self._flags & re.MULTILINE))))
        elif code is codes.BRANCH:
            self._branches(orders, argument[1])
        elif code is codes.SUBPATTERN:
            self._group(orders, *argument[1:])
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            self._repetition(orders, code is codes.MAX_REPEAT, *argument)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            direction, items = argument
            back = items.getwidth()[0] if direction < 0 else 0
            orders.append(Around(self.program(items), back, code is codes.ASSERT))
        else:
            raise NotImplementedError(f"{code} of a pattern cannot be counted")

    def _branches(self, orders: list[Any], branches: list[Any]) -> None:
        ends = []
        for branch in branches[:-1]:
            fork = len(orders)
            orders.append(None)
            _append(orders, self.program(branch))
            ends.append(len(orders))
            orders.append(None)
            orders[fork] = Fork(fork + 1, len(orders))
        _append(orders, self.program(branches[-1]))
        for end in ends:
            orders[end] = len(orders)

    def _group(self, orders: list[Any], added: int, taken: int, items: Any) -> None:
        _append(orders, _Writer((self._flags | added) & ~taken).program(items))

    def _repetition(self, orders: list[Any], greedy: bool, least: int, most: Any, items: Any) -> None:
        for _ in range(least):
            _append(orders, self.program(items))
        if most is codes.MAXREPEAT:
            self._endless(orders, greedy, items)
            return
        forks = []
        for _ in range(most - least):
            forks.append(len(orders))
            orders.append(None)
            _append(orders, self.program(items))
        for fork in forks:
            orders[fork] = _fork(greedy, fork + 1, len(orders))

    def _endless(self, orders: list[Any], greedy: bool, items: Any) -> None:
        """A fork, the repeated steps, and back to the fork unless they took nothing."""
        register, fork = next(_REGISTERS), len(orders)
        orders.append(None)
        if items.getwidth()[0]:
            _append(orders, self.program(items))
            orders.append(fork)
        else:
            _append(orders, [Note(register), *_moved_by(self.program(items), 1)])
            orders += [Moved(register, len(orders) + 2), fork]
        orders[fork] = _fork(greedy, fork + 1, len(orders))

    def _fitting(self, code: Any, argument: Any) -> Fits:
        if code is codes.ANY:
            return (lambda c: True) if self._flags & re.DOTALL else (lambda c: c != "\n")
        if code is codes.IN:
            negated = argument[0][0] is codes.NEGATE
            parts = [self._fitting_part(*part) for part in argument[negated:]]
            return lambda c: any(part(c) for part in parts) != negated
        fits = self._fitting_part(codes.LITERAL, argument)
        return fits if code is codes.LITERAL else (lambda c: not fits(c))

    def _fitting_part(self, code: Any, argument: Any) -> Fits:
        if code is codes.CATEGORY:
            return _CATEGORIES[argument]
        low, high = argument if code is codes.RANGE else (argument, argument)
        if self._flags & re.IGNORECASE:
            return lambda c: any(low <= ord(each) <= high for each in {c, *c.lower()[:1], *c.upper()[:1]})
        return lambda c: low <= ord(c) <= high


def _fork(greedy: bool, repeat: int, leave: int) -> Fork:
    return Fork(repeat, leave) if greedy else Fork(leave, repeat)


def _append(orders: list[Any], more: list[Any]) -> None:
    orders += _moved_by(more, len(orders))


def _moved_by(orders: list[Any], by: int) -> list[Any]:
    """Steps that are to stand `by` places further on."""

    def moved(order: Any) -> Any:
        match order:
            case Fork(first, second):
                return Fork(first + by, second + by)
            case Moved(register, otherwise):
                return Moved(register, otherwise + by)
            case int():
                return order + by
        return order

    return [moved(order) for order in orders]


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_CATEGORIES: dict[Any, Fits] = {
    codes.CATEGORY_DIGIT: str.isdecimal,
    codes.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    codes.CATEGORY_WORD: _is_word,
    codes.CATEGORY_NOT_WORD: lambda c: not _is_word(c),
}


def _standing(code: Any, multiline: bool) -> Stands:
    def at_border(text: str, place: int) -> bool:
        before = place > 0 and _is_word(text[place - 1])
        return before != (place < len(text) and _is_word(text[place]))

    def at_line_start(text: str, place: int) -> bool:
        return place == 0 or text[place - 1] == "\n"

    def at_line_end(text: str, place: int) -> bool:
        return place == len(text) or text[place] == "\n"

    stands: dict[Any, Stands] = {
        codes.AT_BEGINNING: at_line_start if multiline else (lambda text, place: place == 0),
        codes.AT_BEGINNING_STRING: lambda text, place: place == 0,
        codes.AT_END: at_line_end if multiline else (lambda text, place: text[place:] in ("", "\n")),
        codes.AT_END_STRING: lambda text, place: place == len(text),
        codes.AT_BOUNDARY: at_border,
        codes.AT_NON_BOUNDARY: lambda text, place: not at_border(text, place),
    }
    return stands[code]
