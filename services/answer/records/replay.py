"""The clock recorded beside the model's calls, and played back with them."""

from __future__ import annotations

import math
from datetime import datetime

from inference.recording import Entry, Recorder, Recording
from services.answer.records.tracking import Clock


def recorded(clock: Clock, recorder: Recorder) -> Clock:
    """A clock that gives what `clock` gives, and writes it down."""

    def now() -> datetime:
        moment = clock.now()
        recorder.write("now", "", {"value": moment.isoformat()})
        return moment

    def seconds() -> float:
        reading = clock.seconds()
        recorder.write("seconds", "", {"value": reading})
        return reading

    def new_id() -> str:
        fresh = clock.new_id()
        recorder.write("new_id", "", {"value": fresh})
        return fresh

    def new_code() -> str:
        fresh = clock.new_code()
        recorder.write("new_code", "", {"value": fresh})
        return fresh

    return Clock(now, seconds, new_id, new_code)


def replayed(recording: Recording) -> Clock:
    """A clock that gives what was recorded, each kind in its order; then it raises `ReplayDiverged`.

    Raises `ReplayDiverged` at once for a broken recording.
    """
    now = recording.track("now", lambda entry: datetime.fromisoformat(_text(entry)))
    seconds = recording.track("seconds", _number)
    new_id, new_code = recording.track("new_id", _text), recording.track("new_code", _text)
    return Clock(
        now=lambda: now.next(""),
        seconds=lambda: seconds.next(""),
        new_id=lambda: new_id.next(""),
        new_code=lambda: new_code.next(""),
    )


def _text(entry: Entry) -> str:
    value = entry["value"]
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _number(entry: Entry) -> float:
    value = entry["value"]
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError("no number")
    return float(value)
