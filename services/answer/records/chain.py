"""The audit log: a chain of records in files, that goes on after every way a process may end.

A record is on disk, and the head says so, before `append` returns. What a killed process had not finished was
never acknowledged: it is removed at the next start, and the next record says so. What was acknowledged and is
not there any more is never passed over: the chain goes on after the last record that the head knows, so that
a gap is left which `audit verify` reports. A file is named by its first record, and is never renamed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import Path

from chassis.errors import CannotStart
from services.answer.records.head import HEAD_NAME, Head, HeadFile
from services.answer.records.lines import RECORD_DOMAIN, BrokenLine, Keys, Position, chained
from services.answer.records.record_files import Record
from services.answer.records.resuming import Resuming, Torn, last_entry
from services.answer.records.rotation import (
    FileLimits,
    first_time,
    new_segment,
    private,
    segments,
    sync_folder,
    write_all,
)

logger = logging.getLogger(__name__)

ANCHOR_RECORDS = 1_000
"""After so many records the head is logged, so that a collector of logs can tell when the end is cut off."""
MAX_PAUSE = timedelta(days=30)
"""A process that finds its newest record older than this does not trust its clock to remove any by age."""


class AuditLog:
    """Writes one chain; used by one thread at a time."""

    def __init__(self, folder: Path, new_name: str, keys: Keys, limits: FileLimits) -> None:
        """`new_name` is what a chain is called that begins here; one that is there keeps its own."""
        self._folder = folder
        self._new_name = new_name
        self._keys = keys
        self._limits = limits
        self._head_file: HeadFile | None = None
        self._head = Head(new_name)
        self._path = new_segment(folder, 1)
        """The file that is written."""
        self._size = 0
        """How many of its bytes belong to the chain."""
        self._torn: Torn | None = None
        self._unfinished = False
        """Whether the file may have a half line of our own at its end."""
        self._trusts_clock: bool | None = None
        """Whether records may be removed by age; None before anybody asked."""

    @property
    def head(self) -> Head:
        """How far the chain has come."""
        return self._head

    def open(self) -> None:
        """Take the chain up where it was left, or begin one; nothing is done when that was done before.

        Raises `AuditInUse`, `AuditBroken`, and `OSError` when the folder cannot be read and written.
        """
        if self._head_file:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        head_file = HeadFile(self._folder / HEAD_NAME)
        try:
            resumed = Resuming(self._folder, self._keys).resume(head_file.read(self._keys), self._new_name)
            self._head, self._torn = resumed.head, resumed.torn
            self._path, self._size = resumed.path, resumed.size
            head_file.write(self._head, self._keys.current, durable=True)
            sync_folder(self._folder)
        except BaseException:
            head_file.close()
            raise
        self._head_file = head_file
        self._log_head("audit chain opened")

    def close(self) -> None:
        """Let go of the chain."""
        if self._head_file:
            self._log_head("audit chain closed")
            self._head_file.close()
            self._head_file = None

    def append(self, records: Sequence[Record]) -> int:
        """Write as many of `records` as the file has room for, one at least, and wait until they are on disk.

        Raises `OSError`, and then none of them counts.
        """
        head_file = self._opened()
        self._set_aside_what_is_not_ours()
        lines, positions = self._chained(records)
        if self._size and self._size + len(lines[0]) > self._limits.max_bytes:
            self._rotate(head_file)
        fitting = self._fitting(lines)
        content = b"".join(lines[:fitting])
        self._write(content)
        before, self._torn = self._head, None
        self._size += len(content)
        self._head = before.moved(positions[fitting - 1], self._size)
        head_file.write(self._head, self._keys.current)
        if self._head.sequence // ANCHOR_RECORDS > before.sequence // ANCHOR_RECORDS:
            self._log_head("audit chain")
        return fitting

    def _opened(self) -> HeadFile:
        try:
            self.open()
        except CannotStart as broken:
            raise OSError(str(broken)) from broken
        assert self._head_file is not None
        self._head_file.check()
        return self._head_file

    def _chained(self, records: Sequence[Record]) -> tuple[list[bytes], list[Position]]:
        lines, positions = list[bytes](), list[Position]()
        after = self._head.position
        for record in records:
            first = not lines and self._torn
            told: Record = {**record, "torn": _as_json(self._torn)} if first and self._torn else record
            line, after = chained(told, self._head.chain, after, self._keys.current)
            lines.append(line)
            positions.append(after)
        return lines, positions

    def _fitting(self, lines: Sequence[bytes]) -> int:
        size, count = self._size + len(lines[0]), 1
        for line in lines[1:]:
            size += len(line)
            if size > self._limits.max_bytes:
                break
            count += 1
        return count

    def _write(self, content: bytes) -> None:
        with open(self._path, "ab", buffering=0, opener=private) as file:
            self._unfinished = True
            try:
                write_all(file.fileno(), content)
                os.fdatasync(file.fileno())
            except OSError:
                file.truncate(self._size)
                self._unfinished = False
                raise
            self._unfinished = False
        if not self._size:
            sync_folder(self._folder)

    def retain(self, now: datetime) -> None:
        """Remove files whose records are all older than the time of retention. Raises `OSError`.

        What is removed cannot be had back, and a clock that is set far ahead makes every record old. So a
        process whose first call of this comes long after the newest record removes none: its clock may be
        wrong, or nobody has asked for long, and it cannot tell which.
        """
        if not self._limits.retention or not self._limits.span:
            return
        head_file = self._opened()
        if self._trusts_clock is None:
            newest = self._newest_time()
            self._trusts_clock = newest is None or now - newest <= MAX_PAUSE
        if not self._trusts_clock:
            logger.error(
                "old audit records are kept: the clock may be wrong", extra={"chain": self._head.chain}
            )
            return
        began = first_time(self._path)
        if began and began < now - self._limits.span:
            self._rotate(head_file)
        self.prune(now - self._limits.retention)

    def _newest_time(self) -> datetime | None:
        """When the call of the last record began; None where there is none."""
        for file in reversed(segments(self._folder)):
            if last := last_entry(file):
                return last.timestamp
        return None

    def prune(self, before: datetime) -> int:
        """Remove files whose records are all older than `before`; how many files. Raises `OSError`.

        Files go from the oldest on, and none is skipped: a chain may lose its beginning, never its middle.
        """
        head_file = self._opened()
        due = list(takewhile(lambda file: _ended_before(file, before), self._older()))
        if _ended_before(self._path, before) and due == self._older():
            self._rotate(head_file)
            due = self._older()
        self._remove(due, head_file)
        return len(due)

    def _older(self) -> list[Path]:
        """The files that are not written any more, oldest first."""
        return [file for file in segments(self._folder) if file != self._path]

    def _begin_segment(self) -> None:
        self._path, self._size = new_segment(self._folder, self._head.sequence + 1), 0

    def _rotate(self, head_file: HeadFile) -> None:
        head_file.write(self._head, self._keys.current, durable=True)
        self._begin_segment()
        older = self._older()
        self._remove(older[: max(0, len(older) - self._limits.older_files)], head_file)

    def _remove(self, files: Sequence[Path], head_file: HeadFile) -> None:
        """Remove files, the oldest ones; before that the head says that it was we who did it."""
        for file in files:
            last = self._last_of(file)
            if last > self._head.removed and self._is_oldest(file, last):
                self._head = replace(self._head, removed=last)
                head_file.write(self._head, self._keys.current, durable=True)
                logger.info("audit records removed", extra={"chain": self._head.chain, "sequence": last})
            file.unlink()

    def _is_oldest(self, file: Path, last: int) -> bool:
        """Whether every other file ends with a later record of ours.

        Else somebody has added or renamed files, and what is missing then is not to be explained by us.
        """
        return all(self._last_of(other) > last for other in segments(self._folder) if other != file)

    def _last_of(self, file: Path) -> int:
        """Sequence of the last record of a file; 0 for one that this chain does not hold."""
        last = last_entry(file)
        if last is None or last.chain != self._head.chain or last.position.sequence > self._head.sequence:
            return 0
        try:
            if 0 < self._head.sealed_from <= last.position.sequence:
                self._keys.check(last.seal, RECORD_DOMAIN)
        except BrokenLine:
            return 0
        return last.position.sequence

    def _set_aside_what_is_not_ours(self) -> None:
        """Begin a new file unless the one that is written is as this process left it."""
        size = self._path.stat().st_size if self._path.exists() else 0
        if size > self._size and self._unfinished:
            os.truncate(self._path, self._size)
            self._unfinished = False
        elif size != self._size:
            logger.error(
                "the audit log was changed by somebody else",
                extra={"chain": self._head.chain, "sequence": self._head.sequence},
            )
            self._begin_segment()

    def _log_head(self, event: str) -> None:
        head = self._head
        anchor = f"{head.chain}:{head.sequence}:{head.record}"
        logger.info(event, extra={"chain": head.chain, "sequence": head.sequence, "anchor": anchor})


def _as_json(torn: Torn) -> Mapping[str, object]:
    return {"bytes": torn.bytes, "sha256": torn.sha256}


def _ended_before(file: Path, before: datetime) -> bool:
    """Whether the last record of a file is older; a file without records that can be read is not."""
    last = last_entry(file) if file.exists() else None
    return last is not None and last.timestamp is not None and last.timestamp < before
