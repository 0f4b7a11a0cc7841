"""A bounded pool of child processes that read files; started on first use, ended when idle."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from chassis.limits.concurrency import FairQueue
from services.ingest.errors import READING_ERRORS, DocumentError, DocumentParserFailed
from services.ingest.parsing.frames import (
    LARGEST_FRAME,
    LENGTH,
    Message,
    ReadingAssembler,
    drawing_to_message,
    encode,
    job_to_message,
    picture_from_message,
)
from services.ingest.pictures import Drawing, Picture
from services.ingest.reading import Job, Reading

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
Result = TypeVar("Result")
Take = Callable[[Message], Result | None]
"""Takes a message of a child; None while it needs more of them."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What one child may spend."""

    memory_bytes: int = 2 << 30
    """Address space."""
    cpu_seconds: int = 600
    """Processor time for one file."""
    silence_seconds: float = 60.0
    """A child that reports nothing for so long is killed; it reports every page."""
    files: int = 200
    """After so many files a child is replaced, so that nothing a library leaks adds up."""
    idle_seconds: float = 30.0
    """A child without work ends after this."""


class Child:
    """One child process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.files = 0

    @classmethod
    async def start(cls, limits: ChildLimits, folder: Path) -> Child:
        """Start a child that reads files below `folder`; never by fork, which must not be under gRPC."""
        arguments = [
            "-m",
            "services.ingest.parsing.worker",
            str(limits.memory_bytes),
            str(limits.cpu_seconds),
            str(folder),
        ]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # Nothing of ours: the settings of a service may hold keys.
            env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        return cls(process)

    async def ask(self, message: Message, silence_seconds: float, take: Take[Result]) -> Result:
        """Give the child a job, and what it answers to `take`, until that returns something.

        Raises an error of `READING_ERRORS`. `DocumentParserFailed` is the child's end.
        """
        assert self.process.stdin is not None
        self.files += 1
        try:
            self.process.stdin.write(encode(message))
            await self.process.stdin.drain()
            while True:
                async with asyncio.timeout(silence_seconds):
                    body = await self._next_body()
                answer = json.loads(body)
                if "error" in answer:
                    raise _error(answer["error"])
                if (result := take(answer)) is not None:
                    return result
        except TimeoutError as error:
            raise DocumentParserFailed("Reading the file took too long.", field="path") from error
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            raise DocumentParserFailed("Reading the file crashed the parser.", field="path") from error
        except (KeyError, TypeError, ValueError) as error:
            raise DocumentParserFailed("The parser gave no usable answer.", field="path") from error

    async def _next_body(self) -> bytes:
        assert self.process.stdout is not None
        (length,) = LENGTH.unpack(await self.process.stdout.readexactly(LENGTH.size))
        if length > LARGEST_FRAME:
            raise ValueError(f"a frame of {length} bytes")
        return await self.process.stdout.readexactly(length)

    async def stop(self) -> None:
        """Kill the process and wait for its end; safe to call twice."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        transport = getattr(self.process, "_transport", None)
        if transport is not None:
            transport.close()


def _error(failure: Message) -> DocumentError:
    return READING_ERRORS[failure["reason"]](failure["message"], field=failure["field"])


class ParserPool:
    """Reads files, and draws pages of them, a few at a time; further ones wait their turn."""

    def __init__(self, queue: FairQueue, limits: ChildLimits, folder: Path) -> None:
        """Children can open files below `folder`, which exists, and no others; `queue` says how many run."""
        self._queue = queue
        self._limits = limits
        self._folder = folder
        self._idle: list[Child] = []
        self._timers: dict[Child, asyncio.Task[None]] = {}

    async def read(self, job: Job, progress: Progress) -> Reading:
        """Read one file in a child. Raises an error of `READING_ERRORS`."""
        assembler = ReadingAssembler()

        def take(message: Message) -> Reading | None:
            if "progress" in message:
                progress(*message["progress"])
                return None
            return assembler.take(message)

        return await self._asked(job_to_message(job), take)

    async def draw(self, drawing: Drawing) -> Picture:
        """Draw one page in a child. Raises an error of `READING_ERRORS`."""
        return await self._asked(drawing_to_message(drawing), picture_from_message)

    async def _asked(self, message: Message, take: Take[Result]) -> Result:
        """What a child answers. One that fails, or whose work is cancelled, is replaced."""
        async with self._queue.turn():
            child = self._take() or await Child.start(self._limits, self._folder)
            healthy = False
            try:
                result = await child.ask(message, self._limits.silence_seconds, take)
                healthy = True
                return result
            except DocumentParserFailed:
                raise
            except tuple(READING_ERRORS.values()):
                healthy = True
                raise
            finally:
                await self._give_back(child, healthy)

    def _take(self) -> Child | None:
        while self._idle:
            child = self._idle.pop()
            self._timers.pop(child).cancel()
            if child.process.returncode is None:
                return child
        return None

    async def _give_back(self, child: Child, healthy: bool) -> None:
        if healthy and child.files < self._limits.files:
            self._idle.append(child)
            self._timers[child] = asyncio.create_task(self._expire(child))
        else:
            await child.stop()

    async def _expire(self, child: Child) -> None:
        await asyncio.sleep(self._limits.idle_seconds)
        self._idle.remove(child)
        await child.stop()
        del self._timers[child]

    async def close(self) -> None:
        """End all idle children."""
        while (child := self._take()) is not None:
            await child.stop()
        await asyncio.gather(*self._timers.values())


@asynccontextmanager
async def parser_pool(size: int, limits: ChildLimits, folder: Path) -> AsyncIterator[ParserPool]:
    """A pool for files below `folder` that leaves no process behind."""
    async with _open_pool(ParserPool(FairQueue("parsing", size), limits, folder)) as pool:
        yield pool


@asynccontextmanager
async def artist_pool(size: int, limits: ChildLimits, folder: Path) -> AsyncIterator[ParserPool]:
    """The same for pages that are drawn, which wait for no upload, nor uploads for them."""
    async with _open_pool(ParserPool(FairQueue("drawing", size), limits, folder)) as pool:
        yield pool


@asynccontextmanager
async def _open_pool(pool: ParserPool) -> AsyncIterator[ParserPool]:
    try:
        yield pool
    finally:
        await pool.close()
