"""Append-only files of JSON lines that rotate by size: a line is written whole, or nothing of it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0
"""How long a stop waits for calls to end that were cancelled; they take milliseconds."""


def _private(path: str, flags: int) -> int:
    """Questions and answers are nobody's but the service's and its group's."""
    return os.open(path, flags, 0o640)


class RecordFile:
    """One file and its older ones: `queries.jsonl`, `queries.jsonl.1` (the youngest) and so on."""

    def __init__(self, path: Path, max_bytes: int, older_files: int, *, durable: bool) -> None:
        """`durable` lines survive a power cut: they are synced, which costs a disk write each."""
        self._path = path
        self._max_bytes = max_bytes
        self._older_files = older_files
        self._durable = durable

    def append(self, record: Mapping[str, object]) -> None:
        """Write one record as one line. Raises `OSError` and leaves the file as it was when that fails."""
        line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if self._size() and self._size() + len(line) > self._max_bytes:
            self._rotate()
        with open(self._path, "ab", buffering=0, opener=_private) as file:
            size = file.seek(0, os.SEEK_END)
            try:
                self._write(file.fileno(), line)
            except OSError:
                # Half a line would spoil the next one as well.
                file.truncate(size)
                raise

    def _write(self, descriptor: int, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if self._durable:
            os.fdatasync(descriptor)

    def _size(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0

    def _rotate(self) -> None:
        for age in range(self._older_files, 0, -1):
            younger = self._aged(age - 1)
            if younger.exists():
                younger.replace(self._aged(age))

    def _aged(self, age: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{age}") if age else self._path


class RecordWriter:
    """Writes records off the event loop, one after the other."""

    def __init__(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """Its one thread starts with the first record; use it as an async context manager."""
        self._patience_seconds = patience_seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="records")
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

    async def append(self, file: RecordFile, record: Mapping[str, object]) -> None:
        """`file.append(record)`; once begun it is finished even if the caller is cancelled.

        Raises `OSError` as that does, and when this writer was left.
        """
        if self._closed:
            raise OSError("the writer of records is closed")
        loop = asyncio.get_running_loop()
        await asyncio.shield(loop.run_in_executor(self._thread, file.append, record))
