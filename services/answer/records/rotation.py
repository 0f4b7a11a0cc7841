"""A file of lines and its older ones: `queries.jsonl`, `queries.jsonl.1` (the youngest of them) and so on."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

_TIMESTAMP = re.compile(rb'\{"timestamp": "([^"]{1,40})"')


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
    """A file that a record would take beyond this becomes an older one."""
    older_files: int
    """Kept beside the one that is written, 1 and up; then the oldest goes."""
    retention: timedelta | None = None
    """A file whose records are all older than this goes; None for no such limit."""

    @property
    def span(self) -> timedelta | None:
        """A file that began longer ago becomes an older one, so that retention finds files to remove.

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


@dataclass(frozen=True, slots=True)
class RotatedFiles:
    """Names and ages of the files; the file that is written has age 0."""

    path: Path

    def aged(self, age: int) -> Path:
        """The file of that age."""
        return self.path.with_name(f"{self.path.name}.{age}") if age else self.path

    def size(self) -> int:
        """Bytes of the file that is written; 0 where there is none."""
        return self.path.stat().st_size if self.path.exists() else 0

    def ages(self) -> Sequence[int]:
        """Of the files that are there, oldest first."""
        pattern = re.compile(re.escape(self.path.name) + r"(?:\.([1-9][0-9]{0,5}))?")
        names = (pattern.fullmatch(file.name) for file in self.path.parent.iterdir())
        return sorted((int(name[1] or 0) for name in names if name), reverse=True)

    def rotate(self) -> None:
        """Make every file one older, so that a new one begins; killed at any moment, it loses none."""
        for age in self.ages():
            self.aged(age).replace(self.aged(age + 1))
