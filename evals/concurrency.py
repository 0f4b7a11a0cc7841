"""Runs many calls at a bounded concurrency."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

REPORT_EVERY = 20


async def in_order(
    items: Sequence[Item], work: Callable[[Item], Awaitable[Result]], concurrency: int, label: str
) -> list[Result]:
    """The results of `work` in the order of `items`, at most `concurrency` at a time, progress on stderr.

    Raises what the first `work` that fails raises; the others are cancelled.
    """
    slots, done, start = asyncio.Semaphore(concurrency), 0, time.monotonic()

    async def one(item: Item) -> Result:
        nonlocal done
        async with slots:
            result = await work(item)
        done += 1
        if done % REPORT_EVERY == 0 or done == len(items):
            seconds = time.monotonic() - start
            print(f"\r  {label}: {done}/{len(items)} in {seconds:.0f} s", end="", file=sys.stderr, flush=True)
        return result

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(item)) for item in items]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    print(file=sys.stderr)
    return [task.result() for task in tasks]
