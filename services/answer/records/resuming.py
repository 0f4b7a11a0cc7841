"""Takes a chain up where a process left it, however that process ended."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from services.answer.records.head import HEAD_NAME, AuditBroken, Head
from services.answer.records.lines import RECORD_DOMAIN, BrokenLine, Entry, Keys, Position, read_entry
from services.answer.records.rotation import RotatedFiles

logger = logging.getLogger(__name__)

_LAST_BYTES = 1 << 16
"""Within so many at a file's end its last record is looked for, and in ever more where there is none."""

ADVICE = "restore it, or move the folder away to begin a new audit log"


@dataclass(frozen=True, slots=True)
class Torn:
    """Bytes at a file's end that are no finished record."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """Where a chain goes on."""

    head: Head
    torn: Torn | None
    """What was removed of a record that was never finished."""


class Resuming:
    """Finds where a chain goes on. Used once."""

    def __init__(self, files: RotatedFiles, keys: Keys) -> None:
        self._files = files
        self._keys = keys
        self._torn: Torn | None = None

    def resume(self, head: Head | None, new_name: str) -> Resumed:
        """Go on after `head`, or begin a chain of that name. Raises `AuditBroken` and `OSError`."""
        head = self._sealed(head or self._new_head(new_name))
        start = self._end_of(head)
        if start is None:
            why = "audit records are missing that were written: see `clausegate audit verify`"
            head = set_aside(self._files, head, why)
        else:
            head = self._followed(replace(head, bytes=start))
        return Resumed(head, self._torn)

    def _new_head(self, name: str) -> Head:
        """The head of a new chain. Raises `AuditBroken` when there are records of one without its head."""
        for age in self._files.ages():
            file = self._files.aged(age)
            if last_entry(file):
                raise AuditBroken(f"{file} has records of a chain and no {HEAD_NAME} is beside it: {ADVICE}")
            # Of a version that kept no chain.
            file.rename(file.with_name(f"unchained-{file.name}"))
        return Head(name)

    def _sealed(self, head: Head) -> Head:
        """The head, that says from where on records are sealed."""
        if head.sealed_from and not head.seal:
            file = self._files.path.with_name(HEAD_NAME)
            raise AuditBroken(f"{file} is not sealed, and its chain is: {ADVICE}")
        if not self._keys or head.sealed_from:
            return head
        if head.sequence:
            logger.warning(
                "audit records are sealed from here on, earlier ones are not",
                extra={"chain": head.chain, "sequence": head.sequence},
            )
        return replace(head, sealed_from=head.sequence + 1)

    def _end_of(self, head: Head) -> int | None:
        """Where in the file that is written records follow the head's; None when the head's is not there."""
        if head.sequence == 0:
            return 0
        if 0 < head.bytes <= self._files.size() and _ends_with(self._files.path, head.bytes, head.record):
            return head.bytes
        # A process that ended while it rotated: the head's record closes the file before.
        older = self._files.aged(1)
        if older.exists() and _ends_with(older, older.stat().st_size, head.record):
            return 0
        return None

    def _followed(self, head: Head) -> Head:
        """The head after the records that it did not know yet; what was never finished is removed."""
        if not self._files.size():
            return head
        with self._files.path.open("r+b") as file:
            file.seek(head.bytes)
            while position := self._next(head, line := file.readline()):
                head = head.moved(position, head.bytes + len(line))
            file.seek(head.bytes)
            rest = file.read()
            if not any(map(_entry, rest.split(b"\n"))):
                self._remove_torn(file, head.bytes, rest)
                return head
        return set_aside(self._files, head, "the audit log ends with records that do not belong there")

    def _remove_torn(self, file: BinaryIO, end: int, rest: bytes) -> None:
        if not rest:
            return
        self._torn = Torn(len(rest), hashlib.sha256(rest).hexdigest())
        logger.warning("an audit record was never finished", extra={"bytes": len(rest)})
        file.truncate(end)
        os.fsync(file.fileno())

    def _next(self, head: Head, line: bytes) -> Position | None:
        """The position of a line if it is the record after the head's."""
        entry = _entry(line[:-1]) if line.endswith(b"\n") else None
        if entry is None or (entry.chain, entry.previous) != (head.chain, head.record):
            return None
        if entry.position.sequence != head.sequence + 1:
            return None
        try:
            if 0 < head.sealed_from <= entry.position.sequence:
                self._keys.check(entry.seal, RECORD_DOMAIN)
        except BrokenLine:
            return None
        return entry.position


def set_aside(files: RotatedFiles, head: Head, why: str) -> Head:
    """Go on in a new file after `head`: what the other one holds is evidence, and is left as it is."""
    logger.error(why, extra={"chain": head.chain, "sequence": head.sequence})
    if files.path.exists():
        files.rotate()
    return replace(head, bytes=0)


def _ends_with(path: Path, end: int, digest: str) -> bool:
    """Whether the record with that hash ends at `end` in the file."""
    expected = json.dumps(digest).encode() + b"}\n"
    with path.open("rb") as file:
        file.seek(max(0, end - len(expected)))
        return file.read(len(expected)) == expected


def _entry(line: bytes) -> Entry | None:
    try:
        return read_entry(line)
    except BrokenLine:
        return None


def last_entry(path: Path) -> Entry | None:
    """The last record of a file; None where no line is one."""
    with path.open("rb") as file:
        size, window = path.stat().st_size, _LAST_BYTES
        while True:
            file.seek(max(0, size - window))
            entries = filter(None, map(_entry, reversed(file.read().split(b"\n"))))
            if (last := next(entries, None)) or window >= size:
                return last
            window *= 16
