"""Whether a process can do its work now, as gRPC health tells those who ask."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator


class Readiness:
    """A flag that can be watched. Set and read on one event loop."""

    def __init__(self, ready: bool = True) -> None:
        self._ready = ready
        self._changed = asyncio.Event()

    @property
    def ready(self) -> bool:
        """Whether calls can be served."""
        return self._ready

    def set(self, ready: bool) -> None:
        """Say whether calls can be served from now on."""
        if ready != self._ready:
            self._ready = ready
            self._changed.set()
            self._changed = asyncio.Event()

    async def states(self) -> AsyncIterator[bool]:
        """The state of now, then each later one; of states that pass while nobody looks, the last."""
        seen = None
        while True:
            changed = self._changed
            if self._ready != seen:
                seen = self._ready
                yield seen
            else:
                await changed.wait()
