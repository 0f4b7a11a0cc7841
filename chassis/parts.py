"""Marks calls that are made for a call which a service works on.

The call that causes them has been counted against its caller's limits, so they are not counted once more. The
mark is no secret and is trusted with nothing: who sets it gets a queue instead of a rate, see
`chassis/bounded.py`.
"""

from __future__ import annotations

from contextvars import ContextVar

PART = "clausegate-part"
"""Metadata key of the mark."""

_in_call: ContextVar[bool] = ContextVar("in_call", default=False)


def set_in_call() -> None:
    """From now on, in this task, calls of other services are parts of the one that is worked on."""
    _in_call.set(True)


def part_metadata() -> tuple[tuple[str, str], ...]:
    """What a call made now says of itself."""
    return ((PART, "1"),) if _in_call.get() else ()
