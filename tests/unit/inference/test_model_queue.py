import asyncio

import pytest

from inference.errors import ModelQueueFull
from inference.settings import ModelServerSettings
from inference.transport import model_queue


def queue_of(running, waiting):
    settings = ModelServerSettings(model_concurrency=running, model_queue=waiting)
    return model_queue("test", settings)


async def enter(queue, log, name, leave):
    async with queue.turn():
        log.append(name)
        await leave.wait()


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


async def test_no_more_run_at_once_than_may_and_the_rest_follow_in_order():
    queue, log, leave = queue_of(2, 10), [], asyncio.Event()
    async with asyncio.TaskGroup() as calls:
        for name in "abcd":
            calls.create_task(enter(queue, log, name, leave))
        await settle()
        entered = list(log)
        leave.set()

    assert entered == ["a", "b"]
    assert log == ["a", "b", "c", "d"]


async def test_one_too_many_is_refused_at_once_and_told_to_come_back():
    queue, leave = queue_of(1, 1), asyncio.Event()
    async with asyncio.TaskGroup() as calls:
        for name in "ab":
            calls.create_task(enter(queue, [], name, leave))
        await settle()
        with pytest.raises(ModelQueueFull) as refused:
            async with queue.turn():
                pass
        leave.set()

    assert refused.value.retry_after_seconds is not None
    assert (refused.value.code, refused.value.reason) == ("RESOURCE_EXHAUSTED", "OVERLOADED")


async def test_a_queue_without_a_queue_serves_whoever_need_not_wait():
    queue = queue_of(1, 0)
    for _ in range(2):
        async with queue.turn():
            pass


async def test_a_call_that_stops_waiting_gives_up_its_place():
    queue, log, leave = queue_of(1, 1), [], asyncio.Event()
    running = asyncio.create_task(enter(queue, log, "running", leave))
    waiting = asyncio.create_task(enter(queue, log, "waiting", leave))
    await settle()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    later = asyncio.create_task(enter(queue, log, "later", leave))
    await settle()
    leave.set()
    await asyncio.gather(running, later)

    assert log == ["running", "later"]


async def test_a_failed_call_leaves_its_place_to_the_next():
    queue = queue_of(1, 0)
    with pytest.raises(ValueError, match="failed"):
        async with queue.turn():
            raise ValueError("failed")
    async with queue.turn():
        pass
