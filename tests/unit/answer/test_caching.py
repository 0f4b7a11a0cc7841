"""Results that are kept for a while."""

from __future__ import annotations

import asyncio

import pytest

from services.answer.research.caching import ResultCache


class Work:
    """Counts its calls; each waits to be let go, and fails as often as told."""

    def __init__(self, failures: int = 0) -> None:
        self.calls = 0
        self.go = asyncio.Event()
        self._failures = failures

    async def __call__(self) -> int:
        self.calls += 1
        call = self.calls
        await self.go.wait()
        if call <= self._failures:
            raise OSError(f"call {call}")
        return call


def a_cache(ttl: float = 10.0, entries: int = 3, now: list[float] | None = None) -> ResultCache[int]:
    clock = now if now is not None else [0.0]
    return ResultCache(ttl, entries, lambda: clock[0])


async def returning(value: int) -> int:
    return value


async def test_a_second_question_takes_what_the_first_one_found() -> None:
    cache = a_cache()

    assert await cache.get("a", lambda: returning(1)) == (1, False)
    assert await cache.get("a", lambda: returning(2)) == (1, True)


async def test_a_result_is_kept_until_its_time_is_over() -> None:
    now = [0.0]
    cache = a_cache(ttl=10.0, now=now)
    await cache.get("a", lambda: returning(1))

    now[0] = 9.9
    assert await cache.get("a", lambda: returning(2)) == (1, True)
    now[0] = 10.0
    assert await cache.get("a", lambda: returning(3)) == (3, False)


async def test_the_oldest_result_makes_room() -> None:
    cache = a_cache(entries=2)
    for key in "abc":
        await cache.get(key, lambda: returning(1))

    assert await cache.get("b", lambda: returning(2)) == (1, True)
    assert await cache.get("c", lambda: returning(2)) == (1, True)
    assert await cache.get("a", lambda: returning(2)) == (2, False)


async def test_questions_at_once_are_worked_on_once() -> None:
    cache, work = a_cache(), Work()
    asked = [asyncio.create_task(cache.get("a", work)) for _ in range(20)]
    await asyncio.sleep(0)
    work.go.set()

    results = await asyncio.gather(*asked)
    assert work.calls == 1
    assert results == [(1, False)] + [(1, True)] * 19


async def test_different_questions_do_not_wait_for_each_other() -> None:
    cache, work = a_cache(), Work()
    waiting = asyncio.create_task(cache.get("a", work))
    await asyncio.sleep(0)

    assert await cache.get("b", lambda: returning(7)) == (7, False)
    work.go.set()
    assert await waiting == (1, False)


async def test_when_the_first_one_goes_away_the_next_in_line_works() -> None:
    cache, work = a_cache(), Work()
    first, second, third = (asyncio.create_task(cache.get("a", work)) for _ in range(3))
    await asyncio.sleep(0)
    first.cancel()
    work.go.set()

    assert await asyncio.gather(second, third) == [(2, False), (2, True)]
    assert first.cancelled()


async def test_one_that_goes_away_while_waiting_disturbs_nobody() -> None:
    cache, work = a_cache(), Work()
    first, second, third = (asyncio.create_task(cache.get("a", work)) for _ in range(3))
    await asyncio.sleep(0)
    second.cancel()
    work.go.set()

    assert await asyncio.gather(first, third) == [(1, False), (1, True)]


async def test_a_failure_is_not_kept_and_fails_nobody_else() -> None:
    cache, work = a_cache(), Work(failures=1)
    first, second = (asyncio.create_task(cache.get("a", work)) for _ in range(2))
    await asyncio.sleep(0)
    work.go.set()

    with pytest.raises(OSError, match="call 1"):
        await first
    assert await second == (2, False)


async def test_nothing_is_kept_for_no_time() -> None:
    cache = a_cache(ttl=0.0)

    assert await cache.get("a", lambda: returning(1)) == (1, False)
    assert await cache.get("a", lambda: returning(2)) == (2, False)
