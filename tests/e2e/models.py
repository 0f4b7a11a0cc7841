"""A model server for tests that wait for one command after the other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fakes.behaviours import Vectors
from tests.fakes.model_server import ModelServer
from tests.fakes.renderer import Renderer


@contextmanager
def model_in_thread() -> Iterator[ModelServer]:
    """It runs beside the test, on a thread of its own."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    model, done, renderer = ModelServer(), asyncio.Event(), Renderer()
    model.respond = lambda request: renderer(request) if request.is_chat else Vectors()

    async def serve():
        async with model:
            ready.set()
            await done.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait()
    try:
        yield model
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
        loop.close()
