"""Counts the work that code takes: figures that are the same on every machine, however busy it is.

A test of growth doubles the text and compares counts. It says nothing of how fast the code is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from tests.matching import Matcher

REPETITIONS = 200
"""Enough that bounded repetitions of our patterns, {1,64} and less, are used up."""
LINEAR = 2.1
"""Work on twice the text, as a multiple: 2 for what is linear, 4 for what is quadratic."""


def matching_grows(pattern: re.Pattern[str], unit: str, head: str = "", tail: str = "") -> float:
    """How many times the steps of `finditer` multiply when the repeated `unit` of a text is doubled."""
    matcher = Matcher(pattern)
    return _growth(matcher.steps, unit, head, tail)


def work_grows(function: Callable[[str], object], unit: str, head: str = "", tail: str = "") -> float:
    """How many times the Python work of a call multiplies when the repeated `unit` of its text is doubled."""
    return _growth(lambda text: python_work(lambda: function(text)), unit, head, tail)


def _growth(count: Callable[[str], int], unit: str, head: str, tail: str) -> float:
    repetitions = max(REPETITIONS, REPETITIONS * 4 // len(unit))
    once, twice = (count(head + unit * number + tail) for number in (repetitions, 2 * repetitions))
    return twice / max(once, 1)


def python_work(call: Callable[[], object]) -> int:
    """Instructions of Python that a call takes, and the characters of strings whose methods it calls.

    A method of a string counts as reading all of it, which it may not. Patterns are not counted here.
    """
    counted = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal counted
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        counted += event == "opcode"
        return trace

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal counted
        if event == "c_call" and isinstance(receiver := getattr(argument, "__self__", None), str):
            counted += len(receiver)

    before = sys.gettrace(), sys.getprofile()
    sys.setprofile(profile)
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return counted


def patterns_of(*modules: ModuleType) -> list[tuple[str, re.Pattern[str]]]:
    """The compiled patterns that modules hold, each with the names of its module and its own."""
    return [
        (f"{module.__name__}.{name}", value)
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, re.Pattern)
    ]
