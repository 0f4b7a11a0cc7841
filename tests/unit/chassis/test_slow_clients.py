import asyncio
import math
from collections.abc import Sequence

import pytest

from chassis.limits.deadlines import TooSlow, in_time

ENOUGH = 16 * 1024


class Clock(asyncio.SelectorEventLoop):
    """A loop whose time passes when somebody says so."""

    now = 0.0

    def time(self) -> float:
        return self.now


def taken(
    pieces: Sequence[tuple[float, int]], seconds: float = math.inf, consumer_seconds: float = 0.0
) -> int:
    """The bytes that come of pieces (seconds that each takes, bytes), with a minute to stall."""
    with asyncio.Runner(loop_factory=Clock) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, Clock)

        async def sent():
            for each, size in pieces:
                loop.now += each
                for _ in range(3):  # timers that are due run before it goes on
                    await asyncio.sleep(0)
                yield bytes(size)

        async def take() -> int:
            come = 0
            async for data in in_time(sent(), 60.0, seconds, field="data"):
                come += len(data)
                loop.now += consumer_seconds
            return come

        return runner.run(take())


def test_who_sends_enough_in_every_minute_may_take_long():
    assert taken([(20.0, ENOUGH // 2)] * 100) == 50 * ENOUGH


def test_the_last_bytes_may_be_few():
    assert taken([(50.0, ENOUGH), (50.0, 1)]) == ENOUGH + 1


def test_one_byte_a_while_is_too_slow():
    with pytest.raises(TooSlow, match=r"Less than 16384 bytes came within 60 seconds\.") as refused:
        taken([(50.0, 1)] * 100)

    assert (refused.value.code, refused.value.field) == ("DEADLINE_EXCEEDED", "data")


def test_nothing_is_no_sign_of_life():
    with pytest.raises(TooSlow):
        taken([(1.0, 0)] * 100)


def test_all_of_it_has_its_time():
    with pytest.raises(TooSlow, match=r"not complete within 90 seconds\."):
        taken([(1.0, ENOUGH)] * 100, seconds=90.0)


def test_a_client_is_not_blamed_for_who_takes_what_it_sent():
    assert taken([(1.0, 100)] * 20, consumer_seconds=100.0) == 2000
