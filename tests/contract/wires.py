"""Wires between two processes that a test can cut, hold and mend: TCP relays that know no protocol."""

from __future__ import annotations

import asyncio
from typing import Self

from tests.ports import free_port


class Wire:
    """Passes bytes on between a port of its own on loopback and a server's."""

    def __init__(self, port: int) -> None:
        """To `port` on loopback; nothing listens yet."""
        self._target = port
        self.port = free_port()
        self._listening: asyncio.Server | None = None
        self._ends: set[asyncio.StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._answering = asyncio.Event()
        self._answering.set()

    async def __aenter__(self) -> Self:
        await self.mend()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.cut()

    async def mend(self) -> None:
        """Listen, on the same port each time."""
        self._listening = await asyncio.start_server(self._connect, "127.0.0.1", self.port)

    async def cut(self) -> None:
        """Reset all connections and refuse new ones."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        await self.reset()

    async def reset(self) -> None:
        """Reset all connections, as a machine in between does that has forgotten them."""
        for end in tuple(self._ends):
            end.transport.abort()
        self.release()
        await asyncio.gather(*self._passing, return_exceptions=True)

    def deafen(self) -> None:
        """Take connections, pass on what is asked, and none of what is answered."""
        self._answering.clear()

    def hold(self) -> None:
        """Take connections and bytes, and pass none on."""
        self._flowing.clear()

    def release(self) -> None:
        """Pass on what was held, and all else."""
        self._flowing.set()
        self._answering.set()

    async def _connect(self, near_in: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        task, ends = asyncio.current_task(), {near}
        assert task
        self._passing.add(task)
        self._ends |= ends
        try:
            far_in, far = await asyncio.open_connection("127.0.0.1", self._target)
            ends.add(far)
            self._ends |= ends
            async with asyncio.TaskGroup() as passing:
                passing.create_task(self._pass(near_in, far, self._flowing))
                passing.create_task(self._pass(far_in, near, self._flowing, self._answering))
        except* OSError:
            pass  # an end is away, and so is the other
        finally:
            self._passing.discard(task)
            self._ends -= ends
            for end in ends:
                end.close()

    async def _pass(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *gates: asyncio.Event
    ) -> None:
        while data := await source.read(65_536):
            for gate in gates:
                await gate.wait()
            sink.write(data)
            await sink.drain()
        sink.write_eof()
