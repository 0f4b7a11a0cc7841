"""Says that searches can be answered: not before what the first of them would wait for is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from chassis.readiness import Readiness


@asynccontextmanager
async def ready_when_warm(store: Readiness, warm: Callable[[], Awaitable[None]]) -> AsyncIterator[Readiness]:
    """Readiness of `store`, but not before `warm` has ended once; it begins when the store is ready first.

    `warm` must also end, without an error, when it fails: a service that is never ready could not be given
    what mends it.
    """
    told = Readiness(ready=False)
    following = asyncio.create_task(_follow(store, warm, told), name="warm up")
    try:
        yield told
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def _follow(store: Readiness, warm: Callable[[], Awaitable[None]], told: Readiness) -> None:
    is_warm = False
    async for ready in store.states():
        if ready and not is_warm:
            await warm()
            is_warm = True
        told.set(store.ready)
