"""How long a call of a model server may take, and the pause before it is sent again. Pure arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 8.0
LONGEST_TOLD_SECONDS = 86_400.0
"""What a server tells beyond a day is passed on as a day."""
MARGIN_SECONDS = 2.0
"""Kept of the caller's deadline, a quarter of it at most: what our own error needs to be recorded, also when
the disk is busy, and to reach the caller."""


def patience(seconds_left: float) -> float:
    """Seconds that a model server gets when the caller waits for `seconds_left` more, 0 or above."""
    return max(0.0, seconds_left - min(MARGIN_SECONDS, seconds_left / 4))


def pause(attempt: int, told_seconds: float | None) -> float:
    """Seconds to wait after failed attempt number `attempt`, from 1: doubling, and never less than told.

    Without jitter: the calls of a process are spread by the bound on their number, not by chance.
    """
    backoff: float = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(attempt - 1, 10))
    return backoff if told_seconds is None else max(backoff, told_seconds)


def told_pause(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a server tells to wait, 0 to a day; None when it tells nothing that can be read.

    Read are `retry-after-ms`, and `retry-after` as seconds or as an HTTP date (RFC 9110, 10.2.3). Names in
    `headers` are lower-case.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return _limited(milliseconds / 1000)
    told = headers.get("retry-after", "")
    seconds = _number(told)
    if seconds is None:
        date = _date(told)
        seconds = None if date is None else max(0.0, (date - now).total_seconds())
    return None if seconds is None else _limited(seconds)


def _limited(seconds: float) -> float | None:
    return min(seconds, LONGEST_TOLD_SECONDS) if seconds >= 0 else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
