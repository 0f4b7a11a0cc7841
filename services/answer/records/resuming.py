"""Takes a chain up where a process left it, however that process ended."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from services.answer.records.head import HEAD_NAME, AuditBroken, Head
from services.answer.records.lines import RECORD_DOMAIN, BrokenLine, Entry, Keys, Position, read_entry
from services.answer.records.rotation import begins_with, new_segment, segments

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
    path: Path
    """The file that is written; it need not be there yet."""
    size: int
    """How many of its bytes belong to the chain."""
    torn: Torn | None = None
    """What was removed of a record that was never finished."""


class Resuming:
    """Finds where a chain goes on."""

    def __init__(self, folder: Path, keys: Keys) -> None:
        self._folder = folder
        self._keys = keys

    def resume(self, head: Head | None, new_name: str) -> Resumed:
        """Go on after `head`, or begin a chain of that name. Raises `AuditBroken` and `OSError`."""
        head = self._sealed(head or self._new_head(new_name))
        files = segments(self._folder)
        if head.sequence == 0:
            return self._followed(head, 0, files)
        for number, file in reversed(list(enumerate(files))):
            # Heads of an earlier version tell no end when the record is the last of its file.
            for end in (head.bytes, file.stat().st_size):
                if _ends_with(file, end, head.record):
                    return self._followed(head, end, files[number:])
        return self._set_aside(
            head, "audit records are missing that were written: see clausegate audit verify"
        )

    def _new_head(self, name: str) -> Head:
        """The head of a new chain. Raises `AuditBroken` when there are records of one without its head."""
        for file in segments(self._folder):
            if last_entry(file):
                raise AuditBroken(f"{file} has records of a chain and no {HEAD_NAME} is beside it: {ADVICE}")
            # Of a version that kept no chain.
            file.rename(file.with_name(f"unchained-{file.name}"))
        return Head(name)

    def _sealed(self, head: Head) -> Head:
        """The head, that says from where on records are sealed."""
        if head.sealed_from and not head.seal:
            raise AuditBroken(f"{self._folder / HEAD_NAME} is not sealed, and its chain is: {ADVICE}")
        if not self._keys or head.sealed_from:
            return head
        if head.sequence:
            logger.warning(
                "audit records are sealed from here on, earlier ones are not",
                extra={"chain": head.chain, "sequence": head.sequence},
            )
        return replace(head, sealed_from=head.sequence + 1)

    def _followed(self, head: Head, end: int, files: Sequence[Path]) -> Resumed:
        """Go on after the records that the head did not know yet; its own ends at `end` in the first file.

        What was never finished is removed.
        """
        path, rest = None, b""
        for path in files:
            if end == 0 and begins_with(path) not in (None, head.sequence + 1):
                return self._set_aside(head, "the audit log ends with records that do not belong there")
            with path.open("rb") as file:
                file.seek(end)
                while position := self._next(head, line := file.readline()):
                    end += len(line)
                    head = head.moved(position, end)
                file.seek(end)
                rest = file.read()
            size, end = end, 0
        if path is None:
            return Resumed(head, new_segment(self._folder, head.sequence + 1), 0)
        *finished, _unfinished = rest.split(b"\n")
        if any(map(_entry, finished)):
            return self._set_aside(head, "the audit log ends with records that do not belong there")
        return Resumed(head, path, size, _remove_torn(path, size, rest))

    def _set_aside(self, head: Head, why: str) -> Resumed:
        """Go on in a new file after `head`: what others hold is evidence, and is left as it is."""
        logger.error(why, extra={"chain": head.chain, "sequence": head.sequence})
        return Resumed(head, new_segment(self._folder, head.sequence + 1), 0)

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


def _remove_torn(path: Path, size: int, rest: bytes) -> Torn | None:
    """Cut off what stands behind the first `size` bytes of a file."""
    if not rest:
        return None
    logger.warning("an audit record was never finished", extra={"bytes": len(rest)})
    with path.open("r+b") as file:
        file.truncate(size)
        os.fsync(file.fileno())
    return Torn(len(rest), hashlib.sha256(rest).hexdigest())


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
