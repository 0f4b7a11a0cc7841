"""Append-only files of JSON lines that rotate by size, and the one thread that writes records."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol, Self

from chassis.limits.concurrency import Threads
from services.answer.records.rotation import FileLimits, first_time, private, write_all

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0
"""How long a stop waits for calls to end that were cancelled; they take milliseconds."""

Record = Mapping[str, object]


class RecordLog(Protocol):
    """Where records go, see `RecordFile` and `chain.AuditLog`."""

    def append(self, records: Sequence[Record]) -> int:
        """Write at least the first of `records`; how many were. Raises `OSError`, and none is there then."""
        ...


class RecordFile:
    """One file and its older ones: `debug.jsonl`, `debug.jsonl.1` (the youngest of them) and so on.

    Its lines survive a killed process, not a power cut.
    """

    def __init__(self, path: Path, limits: FileLimits) -> None:
        self._path = path
        self._limits = limits

    def append(self, records: Sequence[Record]) -> int:
        """Write the first record as one line, whole or nothing of it. Raises `OSError`."""
        line = json.dumps(records[0], ensure_ascii=False).encode() + b"\n"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        size = self._path.stat().st_size if self._path.exists() else 0
        if size and size + len(line) > self._limits.max_bytes:
            self._rotate()
        with open(self._path, "ab", buffering=0, opener=private) as file:
            size = file.seek(0, os.SEEK_END)
            try:
                write_all(file.fileno(), line)
            except OSError:
                # Half a line would spoil the next one as well.
                file.truncate(size)
                raise
        return 1

    def retain(self, now: datetime) -> None:
        """Remove files whose records are all older than the time of retention. Raises `OSError`."""
        if not self._limits.retention or not self._limits.span:
            return
        began = first_time(self._path)
        if began and began < now - self._limits.span:
            self._rotate()
        self.prune(now - self._limits.retention)

    def prune(self, before: datetime) -> int:
        """Remove files whose records are all older than `before`; how many. Raises `OSError`."""
        files = map(self._aged, self._ages())
        due = [file for file in files if file.stat().st_mtime < before.timestamp()]
        for file in due:
            file.unlink()
        return len(due)

    def _aged(self, age: int) -> Path:
        """The file of that age; the one that is written has age 0."""
        return self._path.with_name(f"{self._path.name}.{age}") if age else self._path

    def _ages(self) -> Sequence[int]:
        """The ages of the files that are there, oldest first."""
        pattern = re.compile(re.escape(self._path.name) + r"(?:\.([1-9][0-9]{0,5}))?")
        names = (pattern.fullmatch(file.name) for file in self._path.parent.iterdir())
        return sorted((int(name[1] or 0) for name in names if name), reverse=True)

    def _rotate(self) -> None:
        """Make every file one older, so that a new one begins; killed at any moment, it loses none."""
        for age in self._ages():
            if age < self._limits.older_files:
                self._aged(age).replace(self._aged(age + 1))
            else:
                self._aged(age).unlink()


class RecordWriter:
    """Writes records off the event loop: those that wait while others are written go together."""

    def __init__(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """Its one thread starts with the first record; use it as an async context manager."""
        self._patience_seconds = patience_seconds
        self._thread = Threads(1, "records")
        self._lock = threading.Lock()
        self._waiting: dict[RecordLog, list[tuple[Record, asyncio.Future[None]]]] = {}
        self._expected = 0
        self._none_expected = asyncio.Event()
        self._none_expected.set()
        self._closed = False

    async def __aenter__(self) -> Self:
        """Ready at once."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Wait for the records that are expected, within limits, and for those that are being written.

        A server that stops cancels its calls and does not wait until they have ended.
        """
        try:
            async with asyncio.timeout(self._patience_seconds):
                await self._none_expected.wait()
        except TimeoutError:
            logger.warning("stopping without records of open calls", extra={"calls": self._expected})
        self._closed = True
        await asyncio.to_thread(self._thread.shutdown)

    def expect(self) -> None:
        """Stay open for a call that has begun, until `settle`."""
        self._expected += 1
        self._none_expected.clear()

    def settle(self) -> None:
        """A call that was expected has its records, or will have none."""
        self._expected -= 1
        if not self._expected:
            self._none_expected.set()

    async def run(self, work: Callable[[], None]) -> None:
        """Do `work` in the thread that writes, so that no record is written meanwhile."""
        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def append(self, log: RecordLog, record: Record) -> None:
        """Write `record`; once begun it is finished even if the caller is cancelled.

        Raises `OSError` as `log.append` does, and when this writer was left.
        """
        if self._closed:
            raise OSError("the writer of records is closed")
        loop = asyncio.get_running_loop()
        written = loop.create_future()
        with self._lock:
            waiting = self._waiting.setdefault(log, [])
            waiting.append((record, written))
        if len(waiting) == 1:
            self._thread.submit(self._write, log, loop)
        await asyncio.shield(written)

    def _write(self, log: RecordLog, loop: asyncio.AbstractEventLoop) -> None:
        """In the thread: write what waits for `log` by now, and tell those who wait."""
        with self._lock:
            waiting = self._waiting.pop(log)
        records, done = [record for record, _ in waiting], 0
        failure: BaseException | None = None
        try:
            while done < len(records):
                done += log.append(records[done:])
        except BaseException as error:
            failure = error
            if not isinstance(error, OSError):
                raise
        finally:
            loop.call_soon_threadsafe(_tell, [written for _, written in waiting], done, failure)


def _tell(written: Sequence[asyncio.Future[None]], done: int, failure: BaseException | None) -> None:
    """The first `done` records are written, the others failed."""
    for number, future in enumerate(written):
        if future.done():
            continue
        if number < done or failure is None:
            future.set_result(None)
        else:
            future.set_exception(failure)
