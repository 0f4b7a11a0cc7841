"""The running call's deadline, which grpc.aio does not pass on by itself."""

from __future__ import annotations

import time
from contextvars import ContextVar

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


def set_deadline(seconds: float | None) -> None:
    """From now on, in this task, `time_left` counts down from `seconds`; None means no deadline.

    Each call runs in a task of its own, so nothing has to be set back.
    """
    _deadline.set(None if seconds is None else time.monotonic() + seconds)


def time_left(limit_seconds: float) -> float:
    """Seconds for a call made now: what is left of the caller's deadline, at most `limit_seconds`."""
    deadline = _deadline.get()
    return limit_seconds if deadline is None else max(0.0, min(limit_seconds, deadline - time.monotonic()))
