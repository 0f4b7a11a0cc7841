"""Turns of calls that wait."""

import asyncio

import pytest

from chassis.errors import Exhausted
from chassis.limits.concurrency import FairQueue


async def test_turns_are_given_as_they_were_asked_for_and_others_do_not_wait():
    turns, done, first = FairQueue(at_once=1, waiting=5, name="parts"), [], asyncio.Event()

    async def take(owner: str, number: int) -> None:
        async with turns.turn(owner):
            if (owner, number) == ("a", 0):
                await first.wait()
            done.append((owner, number))

    tasks = [asyncio.create_task(take("a", number)) for number in range(3)]
    await asyncio.sleep(0)
    await take("b", 0)
    first.set()
    await asyncio.gather(*tasks)

    assert done == [("b", 0), ("a", 0), ("a", 1), ("a", 2)]
    assert len(turns) == 0


async def test_as_many_wait_as_may_and_who_gives_up_makes_room():
    turns, held = FairQueue(at_once=1, waiting=1, name="parts"), asyncio.Event()

    async def take() -> None:
        async with turns.turn("a"):
            await held.wait()

    running, waiting = asyncio.create_task(take()), asyncio.create_task(take())
    await asyncio.sleep(0)
    with pytest.raises(Exhausted):
        await take()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    late = asyncio.create_task(take())
    held.set()
    await asyncio.gather(running, late)

    assert len(turns) == 0
