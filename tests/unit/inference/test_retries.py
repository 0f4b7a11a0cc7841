from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.retries import LONGEST_PAUSE_SECONDS, LONGEST_TOLD_SECONDS, patience, pause, told_pause

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@given(st.floats(1e-3, 1e6))
def test_some_of_the_callers_time_is_kept_and_most_is_used(left):
    assert 0.75 * left <= patience(left) < left
    assert left - patience(left) <= 2 + 1e-9


def test_nothing_is_waited_for_when_nothing_is_left():
    assert patience(0) == 0


def test_pauses_double_up_to_a_limit():
    assert [pause(attempt, None) for attempt in (1, 2, 3, 4, 5, 6)] == [0.5, 1, 2, 4, 8, 8]


@given(st.integers(1, 10_000), st.floats(0, LONGEST_TOLD_SECONDS))
def test_a_pause_is_never_shorter_than_what_the_server_tells(attempt, told):
    assert pause(attempt, told) >= told
    assert pause(attempt, told) <= max(told, LONGEST_PAUSE_SECONDS)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"retry-after": "99999999999"}, LONGEST_TOLD_SECONDS),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30"}, 30),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "Sun, 99 Mar 2026 11:00:00 GMT"}, None),
    ],
)
def test_what_a_server_tells_is_read_in_all_its_spellings(headers, seconds):
    assert told_pause(headers, NOW) == seconds


@given(st.integers(0, 80_000), st.integers(-12, 14))
def test_dates_count_from_now_whatever_their_zone(seconds, hours):
    zone = timezone(timedelta(hours=hours))
    date = format_datetime((NOW + timedelta(seconds=seconds)).astimezone(zone))

    assert told_pause({"retry-after": date}, NOW) == seconds


@given(st.text(max_size=40))
def test_nothing_that_a_server_tells_breaks_the_reading(text):
    seconds = told_pause({"retry-after": text, "retry-after-ms": text}, NOW)

    assert seconds is None or 0 <= seconds <= LONGEST_TOLD_SECONDS
