"""When a retrieval service is ready."""

import asyncio

from chassis.readiness import Readiness
from services.retrieval.warming import ready_when_warm


class Warmth:
    """Comes when the test says so."""

    def __init__(self):
        self.begun, self.there, self.times = asyncio.Event(), asyncio.Event(), 0

    async def come(self):
        self.times += 1
        self.begun.set()
        await self.there.wait()


async def until(readiness, ready):
    async with asyncio.timeout(30):
        async for state in readiness.states():
            if state is ready:
                return


async def test_a_service_is_ready_when_its_store_is_and_it_is_warm():
    warmth = Warmth()
    async with ready_when_warm(Readiness(ready=True), warmth.come) as readiness:
        await warmth.begun.wait()
        assert not readiness.ready
        warmth.there.set()
        await until(readiness, ready=True)


async def test_it_warms_up_once_as_soon_as_the_store_is_there_and_then_follows_it():
    store, warmth = Readiness(ready=False), Warmth()
    warmth.there.set()
    async with ready_when_warm(store, warmth.come) as readiness:
        await until(readiness, ready=False)
        assert warmth.times == 0
        for ready in (True, False, True):
            store.set(ready)
            await until(readiness, ready=ready)
    assert warmth.times == 1


async def test_a_store_that_is_lost_while_the_service_warms_up_is_not_ready_after():
    store, warmth, seen = Readiness(ready=True), Warmth(), []

    async def watch(readiness):
        async for state in readiness.states():
            seen.append(state)  # noqa: PERF401 - each as it comes

    async with ready_when_warm(store, warmth.come) as readiness, asyncio.TaskGroup() as group:
        watching = group.create_task(watch(readiness))
        await warmth.begun.wait()
        store.set(False)
        warmth.there.set()
        for _ in range(10):
            await asyncio.sleep(0)
        assert seen == [False]
        store.set(True)
        await until(readiness, ready=True)
        watching.cancel()
