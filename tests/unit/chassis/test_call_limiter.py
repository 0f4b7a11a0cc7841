"""The arithmetic of limits, with a clock of its own."""

import asyncio
from contextlib import ExitStack, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.access import Load
from chassis.auth import LOCAL, Caller
from chassis.limits.concurrency import CallLimiter, TooManyAtOnce
from chassis.limits.rate import FORGET_FROM, MILLISECOND, SECOND, RateLimit, RateLimited

CALLER = Caller("default", "ann", credential_id="one")
OTHER = Caller("default", "ben", credential_id="two")

RATES = st.builds(RateLimit, per_second=st.floats(0.01, 5_000, allow_nan=False), burst=st.integers(1, 50))
PAUSES = st.lists(st.integers(0, 3 * SECOND), min_size=1, max_size=80)


class Clock:
    """Says what it is set to."""

    def __init__(self) -> None:
        self.now = 12_345_678_901

    def __call__(self) -> int:
        return self.now


def limited(rate: RateLimit, clock: Clock, at_once: int = 0, **limits) -> CallLimiter:
    rates, at_once = dict.fromkeys(Load, rate), dict.fromkeys(Load, at_once)
    return CallLimiter(rates=rates, at_once=at_once, clock=clock, **limits)


def ask(limits: CallLimiter, caller: Caller = CALLER, load: Load = Load.READ) -> float:
    """Make a call that takes no time; the seconds that a refused one is told to wait, else 0."""
    try:
        with limits.running(caller, load):
            return 0.0
    except RateLimited as refused:
        return refused.retry_after_seconds


@given(RATES, PAUSES)
def test_in_no_window_more_calls_pass_than_the_burst_and_the_rate_allow(rate, pauses):
    clock = Clock()
    limits = limited(rate, clock)
    passed = []
    for pause in pauses:
        clock.now += pause
        if not ask(limits):
            passed.append(clock.now)

    for first, start in enumerate(passed):
        for last, end in enumerate(passed[first:], first):
            assert last - first + 1 <= rate.burst + rate.per_second * (end - start) / SECOND


@given(RATES, PAUSES)
def test_the_wait_that_is_told_suffices(rate, pauses):
    clock = Clock()
    limits = limited(rate, clock)
    for pause in pauses:
        clock.now += pause
        wait = ask(limits)
        clock.now += round(wait * 1000) * MILLISECOND
        assert wait == 0 or ask(limits) == 0


@given(RATES, PAUSES)
def test_a_wait_is_never_longer_than_one_call_takes_to_be_earned(rate, pauses):
    clock = Clock()
    limits = limited(rate, clock)
    for pause in pauses:
        clock.now += pause
        assert ask(limits) <= 1 / rate.per_second + 0.002


@given(RATES, PAUSES)
def test_whoever_keeps_to_the_rate_is_never_refused(rate, pauses):
    clock = Clock()
    limits = limited(rate, clock)
    for pause in pauses:
        clock.now += pause + int(SECOND / rate.per_second) + 1
        assert ask(limits) == 0


def test_a_burst_passes_at_once_and_one_more_does_not():
    limits = limited(RateLimit(per_second=2, burst=3), Clock())

    assert [ask(limits) for _ in range(5)] == [0, 0, 0, 0.5, 0.5]


def test_credentials_and_loads_have_buckets_of_their_own():
    limits = limited(RateLimit(per_second=1, burst=1), Clock())

    assert ask(limits) == 0
    assert ask(limits, OTHER) == 0
    assert ask(limits, load=Load.QUERY) == 0
    assert ask(limits) == 1


def test_calls_at_once_are_bounded_by_load_and_end_with_their_work():
    limits = limited(RateLimit(per_second=0, burst=1), Clock(), at_once=2)

    with limits.running(CALLER, Load.QUERY), limits.running(CALLER, Load.QUERY):
        with pytest.raises(TooManyAtOnce, match="queries") as refused, limits.running(CALLER, Load.QUERY):
            pass
        with limits.running(CALLER, Load.READ), limits.running(OTHER, Load.QUERY):
            pass
    with limits.running(CALLER, Load.QUERY):
        pass

    assert (refused.value.reason, refused.value.retry_after_seconds) == ("OVERLOADED", 1)


def test_a_call_that_was_refused_counts_for_nothing():
    limits = limited(RateLimit(per_second=1, burst=2), Clock(), at_once=1)

    with limits.running(CALLER, Load.READ):
        for _ in range(3):
            with pytest.raises(TooManyAtOnce), limits.running(CALLER, Load.READ):
                pass

    assert ask(limits) == 0


def test_a_call_that_fails_counts_no_longer():
    limits = limited(RateLimit(per_second=0, burst=1), Clock(), at_once=1, running=1)

    for _ in range(3):
        with pytest.raises(ZeroDivisionError), limits.running(CALLER, Load.READ):
            raise ZeroDivisionError

    assert ask(limits) == 0


def test_all_callers_together_are_bounded_also_those_without_a_credential():
    limits = CallLimiter(running=2)

    with (
        limits.running(LOCAL, Load.READ),
        limits.running(CALLER, Load.READ),
        pytest.raises(TooManyAtOnce),
        limits.running(LOCAL, Load.READ),
    ):
        pass


def test_a_caller_without_a_credential_has_no_rate_and_no_bound_of_its_own():
    limits = limited(RateLimit(per_second=1, burst=1), Clock(), at_once=1, open_calls=1)

    with ExitStack() as calls:
        for _ in range(20):
            calls.callback(limits.open(LOCAL))
            calls.enter_context(limits.running(LOCAL, Load.QUERY))


def test_one_credential_opens_half_of_what_a_process_runs_whatever_its_limits_are():
    limits = CallLimiter(running=10)

    closings = [limits.open(CALLER) for _ in range(5)]
    with pytest.raises(TooManyAtOnce, match="open"):
        limits.open(CALLER)
    limits.open(OTHER)
    closings.pop()()
    limits.open(CALLER)


def test_who_is_idle_is_forgotten_and_who_is_not_is_remembered():
    clock = Clock()
    limits = limited(RateLimit(per_second=1, burst=2), clock)
    held = limits.open(CALLER)
    ask(limits, OTHER)
    ask(limits, OTHER)
    for number in range(20 * FORGET_FROM):
        clock.now += SECOND // 1000
        ask(limits, Caller("default", "x", credential_id=str(number)))

    assert len(limits) <= 3 * FORGET_FROM
    held()


def test_forgetting_gives_nobody_a_second_burst():
    clock = Clock()
    limits = limited(RateLimit(per_second=0.001, burst=1), clock)
    ask(limits)
    for number in range(3 * FORGET_FROM):
        ask(limits, Caller("default", "x", credential_id=str(number)))

    assert ask(limits) > 0


def test_all_credentials_of_a_subject_have_one_allowance():
    clock = Clock()
    limits = limited(RateLimit(per_second=1, burst=1), clock)
    second_key = Caller(CALLER.tenant, CALLER.subject, credential_id="another")

    assert ask(limits) == 0
    assert ask(limits, second_key) > 0


def test_subjects_of_one_name_in_two_tenants_have_their_own():
    clock = Clock()
    limits = limited(RateLimit(per_second=1, burst=1), clock)
    namesake = Caller("other", CALLER.subject, credential_id=CALLER.credential_id)

    assert ask(limits) == 0
    assert ask(limits, namesake) == 0


async def comes_at_once(limits: CallLimiter, caller: Caller = CALLER) -> bool:
    """Whether one more piece of a call is let in while the clock stands still."""
    piece = asyncio.create_task(limits.one_more(caller, Load.QUERY))
    await asyncio.sleep(0.01)
    if piece.done():
        await piece
        return True
    piece.cancel()
    with suppress(asyncio.CancelledError):
        await piece
    return False


async def test_pieces_of_a_call_count_as_calls_and_leave_half_of_the_burst_to_these():
    limits = limited(RateLimit(per_second=1_000, burst=5), Clock())

    assert ask(limits, load=Load.QUERY) == 0
    assert [await comes_at_once(limits) for _ in range(3)] == [True, False, False]
    assert [ask(limits, load=Load.QUERY) > 0 for _ in range(4)] == [False, False, False, True]


async def test_a_piece_waits_until_the_rate_allows_for_it():
    clock = Clock()
    limits = limited(RateLimit(per_second=1_000, burst=1), clock)
    await limits.one_more(CALLER, Load.QUERY)

    waiting = asyncio.create_task(limits.one_more(CALLER, Load.QUERY))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    clock.now += MILLISECOND
    await waiting

    assert ask(limits, load=Load.QUERY) > 0


async def test_pieces_wait_for_no_rate_that_is_not_theirs():
    limits = limited(RateLimit(per_second=1_000, burst=1), Clock())
    unlimited = limited(RateLimit(per_second=0, burst=1), Clock())
    await limits.one_more(CALLER, Load.QUERY)

    assert await comes_at_once(limits, OTHER)
    assert [await comes_at_once(limits, LOCAL) for _ in range(2)] == [True, True]
    assert [await comes_at_once(unlimited) for _ in range(2)] == [True, True]
