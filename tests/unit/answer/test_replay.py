from datetime import UTC, datetime, timedelta, timezone
from itertools import count

import pytest

from inference.recording import Recorder, Recording, ReplayDiverged
from services.answer.records.replay import recorded, replayed
from services.answer.records.tracking import Clock
from services.answer.settings import AnswerSettings


def ticking():
    numbers = count(1)
    zone = timezone(timedelta(hours=5, minutes=30))
    return Clock(
        now=lambda: datetime(2026, 3, 1, microsecond=next(numbers), tzinfo=zone),
        seconds=lambda: next(numbers) / 7,
        new_id=lambda: f"id-{next(numbers)}",
        new_code=lambda: f"{next(numbers):016x}",
    )


def test_every_reading_comes_back_exactly(tmp_path):
    recorder = Recorder(tmp_path / "tape")
    clock = recorded(ticking(), recorder)
    read = [clock.now(), clock.seconds(), clock.new_id(), clock.new_code(), clock.seconds(), clock.now()]
    recorder.close()
    again = replayed(Recording.read(tmp_path / "tape"))

    assert [again.now(), again.seconds(), again.new_id(), again.new_code(), again.seconds()] == read[:-1]
    assert again.now().isoformat() == read[-1].isoformat()


def test_a_reading_more_than_recorded_diverges(tmp_path):
    recorder = Recorder(tmp_path / "tape")
    recorded(ticking(), recorder).new_id()
    recorder.close()
    again = replayed(Recording.read(tmp_path / "tape"))
    again.new_id()

    with pytest.raises(ReplayDiverged, match="ended"):
        again.new_id()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("now", "5"),
        ("now", '"noon"'),
        ("seconds", '"1"'),
        ("seconds", "NaN"),
        ("new_id", "1"),
        ("new_code", "null"),
    ],
)
def test_a_reading_that_is_none_is_named_at_once(tmp_path, kind, value):
    (tmp_path / "tape").write_text(f'{{"kind": "{kind}", "key": "", "value": {value}}}\n')

    with pytest.raises(ReplayDiverged, match="Line 1 of"):
        replayed(Recording.read(tmp_path / "tape"))


def test_the_system_clock_can_be_recorded(tmp_path):
    recorder = Recorder(tmp_path / "tape")
    clock = recorded(Clock(lambda: datetime.now(UTC), lambda: 0.1 + 0.2, str, str), recorder)
    moment, seconds = clock.now(), clock.seconds()
    recorder.close()
    again = replayed(Recording.read(tmp_path / "tape"))

    assert (again.now(), again.seconds()) == (moment, seconds)


def test_a_recording_needs_a_model_and_excludes_a_replay(tmp_path):
    with pytest.raises(ValueError, match="no model calls to record: set OPENAI_API_KEY"):
        AnswerSettings(record_model_calls=tmp_path / "tape")
    with pytest.raises(ValueError, match="either recorded or replayed"):
        AnswerSettings(
            record_model_calls=tmp_path / "tape",
            replay_model_calls=tmp_path / "tape",
            OPENAI_BASE_URL="http://127.0.0.1:1/v1",
        )
