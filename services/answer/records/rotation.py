"""A file of lines and its older ones: `queries.jsonl`, `queries.jsonl.1` (the youngest of them) and so on."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


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
