"""A model server that lets its calls wait until it is told to answer: `python -m benchmarks.slow_model`.

It answers like `instant_model`, after a line on its standard input.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

from benchmarks.instant_model import respond
from tests.fakes.model_server import ModelServer
from tests.fakes.wire import Request, Wire


@dataclass(frozen=True, slots=True)
class Held:
    """A reply that waits."""

    released: asyncio.Event

    async def play(self, request: Request, wire: Wire) -> None:
        """Answer when released."""
        await self.released.wait()
        await respond(request).play(request, wire)


async def serve() -> None:
    """Say where it listens, let calls wait until a line comes in, and serve until the process is ended."""
    released = asyncio.Event()
    async with ModelServer() as server:
        server.respond = lambda request: Held(released)
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        released.set()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
