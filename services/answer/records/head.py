"""The head of a chain: a small file beside its records that says how far the chain has come.

Without it, records cut off at the end would not be missed, and what retention removes at the beginning could
not be told from what somebody else removed. It is sealed like a record. The process that writes the chain
holds a lock on it, so a chain has one writer.
"""

from __future__ import annotations

import fcntl
import os
import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from chassis.errors import CannotStart
from services.answer.records.lines import HEAD_DOMAIN, NOTHING, BrokenLine, Keys, Position, Seal, close
from services.answer.records.lines import read_closed as read_closed_line
from services.answer.verification.signing import SigningKey

HEAD_NAME = "queries.head"
HEAD_BYTES = 512
"""One sector of a disk, which a power cut leaves old or new, never half of each."""
_BODY = re.compile(
    r'\{"chain": "(?P<chain>[A-Za-z0-9._-]{1,48})", "sequence": (?P<sequence>[0-9]{1,18})'
    r', "record": "(?P<record>[0-9a-f]{64})", "bytes": (?P<bytes>[0-9]{1,18})'
    r', "removed": (?P<removed>[0-9]{1,18}), "sealed_from": (?P<sealed_from>[0-9]{1,18}), '
)


class AuditInUse(CannotStart):
    """Another process writes the audit log of this folder."""


class AuditBroken(CannotStart):
    """The audit log of this folder cannot be gone on with; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Head:
    """How far a chain has come."""

    chain: str
    sequence: int = 0
    """Sequence number of the last record that is on disk."""
    record: str = NOTHING
    """Its hash."""
    bytes: int = 0
    """Where it ends in its file."""
    removed: int = 0
    """Sequence number of the last record that retention has removed, or is about to remove; 0 for none."""
    sealed_from: int = 0
    """Sequence number of the first sealed record; all after it are sealed. 0 if none is."""
    seal: Seal | None = field(default=None, compare=False)
    """The seal of a head that was read."""

    @property
    def position(self) -> Position:
        """The last record that is on disk."""
        return Position(self.sequence, self.record)

    def moved(self, position: Position, end: int) -> Head:
        """The head after a record that ends at `end` in its file."""
        return replace(self, sequence=position.sequence, record=position.hash, bytes=end)


def write_head(head: Head, key: SigningKey | None) -> bytes:
    """The content of the file, `HEAD_BYTES` long."""
    values = asdict(head)
    del values["seal"]
    shown = ", ".join(f'"{name}": {_shown(value)}' for name, value in values.items())
    line, _ = close("{" + shown, HEAD_DOMAIN, key)
    return line.ljust(HEAD_BYTES - 1) + b"\n"


def read_head(content: bytes) -> Head:
    """The head in a file. Raises `BrokenLine`."""
    if len(content) != HEAD_BYTES or content[-1:] != b"\n":
        raise BrokenLine(f"does not have {HEAD_BYTES} bytes and a line's end")
    line = content.rstrip(b"\n").rstrip(b" ")
    if line.ljust(HEAD_BYTES - 1) + b"\n" != content:
        raise BrokenLine("is no head of a chain")
    _, seal = read_closed_line(line)
    matched = _BODY.match(line.decode("utf-8", "replace"))
    if matched is None:
        raise BrokenLine("is no head of a chain")
    numbers = {name: int(matched[name]) for name in ("sequence", "bytes", "removed", "sealed_from")}
    return Head(matched["chain"], record=matched["record"], seal=seal, **numbers)


class HeadFile:
    """The open and locked file of a head; one process has it at a time."""

    def __init__(self, path: Path) -> None:
        """Open and lock it; a new one is empty. Raises `AuditInUse` and `OSError`."""
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            message = (
                f"{path.parent} holds the audit log of another process that runs: "
                "give each replica of answer a data folder of its own (CLAUSEGATE_DATA_DIR)"
            )
            raise AuditInUse(message) from None

    def read(self, keys: Keys) -> Head | None:
        """The head; None when the file is new. Raises `AuditBroken` when it is not ours."""
        content = os.pread(self._descriptor, HEAD_BYTES + 1, 0)
        if not content:
            return None
        try:
            head = read_head(content)
            if head.seal:
                keys.check(head.seal, HEAD_DOMAIN)
        except BrokenLine as broken:
            message = (
                f"{self._path} {broken}; name its key in CLAUSEGATE_AUDIT_KEYS_FILE or "
                "CLAUSEGATE_SIGNING_KEYS_FILE, or move the folder away to begin a new audit log"
            )
            raise AuditBroken(message) from None
        return head

    def check(self) -> None:
        """Raise `OSError` when the file, or its folder, was removed or replaced.

        What is written then would be lost, or stand in a folder whose head does not know it.
        """
        try:
            there = os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except FileNotFoundError:
            there = False
        if not there:
            raise OSError(
                f"{self._path} was removed or replaced while its log is written: restart the service"
            )

    def write(self, head: Head, key: SigningKey | None, *, durable: bool = False) -> None:
        """Put `head` in place of what the file holds; `durable` waits until it would survive a power cut.

        Raises `OSError`, as `check` does.
        """
        self.check()
        os.pwrite(self._descriptor, write_head(head, key), 0)
        if durable:
            os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Let go of the lock."""
        os.close(self._descriptor)


def _shown(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
