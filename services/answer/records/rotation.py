"""The files of a log: what they are called, when one ends and the next begins, and when they go."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

_TIMESTAMP = re.compile(rb'\{"timestamp": "([^"]{1,40})"')
_SEGMENT = re.compile(
    r"queries-(?P<first>[0-9]{12,18})(?:-(?P<again>[1-9][0-9]{0,5}))?\.jsonl"
    r"|queries\.jsonl(?:\.(?P<age>[1-9][0-9]{0,5}))?"
)
"""The second are names of an earlier version, which renamed its files: the higher the age, the older."""


def private(path: str, flags: int) -> int:
    """An `opener`: questions and answers are nobody's but the service's and its group's."""
    return os.open(path, flags, 0o640)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of `content`, however many calls that takes. Raises `OSError`."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sync_folder(folder: Path) -> None:
    """Wait until names that were given and taken in `folder` would survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class FileLimits:
    """When files end, and when they go."""

    max_bytes: int
    """A file that a record would take beyond this ends."""
    older_files: int
    """Kept beside the one that is written, 1 and up; then the oldest goes."""
    retention: timedelta | None = None
    """A file whose records are all older than this goes; None for no such limit."""

    @property
    def span(self) -> timedelta | None:
        """A file that began longer ago ends, so that retention finds files to remove.

        So chosen that the files kept cover the time of retention: a record stays an eighth longer at most
        with 9 older files.
        """
        return self.retention / max(1, self.older_files - 1) if self.retention else None


def first_time(path: Path) -> datetime | None:
    """When the first record of a file was begun; None when nobody can tell."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        matched = _TIMESTAMP.match(file.read(100))
    try:
        return datetime.fromisoformat(matched[1].decode()) if matched else None
    except ValueError:
        return None


def is_segment(name: str) -> bool:
    """Whether a file of that name is a segment of an audit log."""
    return _SEGMENT.fullmatch(name) is not None


def segments(folder: Path) -> Sequence[Path]:
    """The files of an audit log, oldest first by their names."""
    return sorted((file for file in folder.iterdir() if is_segment(file.name)), key=_order)


def _order(file: Path) -> tuple[int, int]:
    named = _SEGMENT.fullmatch(file.name)
    assert named is not None
    if named["first"]:
        return int(named["first"]), int(named["again"] or 0)
    return 0, -int(named["age"] or 0)


def begins_with(file: Path) -> int | None:
    """The sequence number that a segment is named by; None for one of an earlier version."""
    return _order(file)[0] or None


def new_segment(folder: Path, first: int) -> Path:
    """What to call a segment that begins with record `first`, and that is not there yet.

    The name is taken where a file that holds nothing of the chain was left as it is.
    """
    name, again = f"queries-{first:012}", 1
    path = folder / f"{name}.jsonl"
    while path.exists():
        path, again = folder / f"{name}-{again}.jsonl", again + 1
    return path
