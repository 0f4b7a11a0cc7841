"""A file of what happened, a JSON object a line, that can be played back.

Entries of one kind are found by their key, and entries with the same key in recorded order: calls that run at
once may come in another order when they are played back.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Self, TypeVar

from chassis.errors import Precondition

T = TypeVar("T")
Entry = Mapping[str, object]


class ReplayDiverged(Precondition):
    """What is asked differs from what was recorded, or the recording has ended or cannot be read."""

    reason = "REPLAY_DIVERGED"


class Recorder:
    """Appends entries to a file that only its owner may read."""

    def __init__(self, path: Path) -> None:
        """Makes the file, or goes on with it. Raises `OSError`."""
        self._file = os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", encoding="utf-8"
        )
        os.fchmod(self._file.fileno(), 0o600)

    def write(self, kind: str, key: str, entry: Entry) -> None:
        """One line, at once: it survives the end of the process, though not of the machine."""
        self._file.write(json.dumps({"kind": kind, "key": key, **entry}) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Safe to call twice."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    kind: str
    key: str
    entry: Entry


class Track(Generic[T]):
    """The entries of one kind, each to be played once."""

    def __init__(self, kind: str, entries: Mapping[str, deque[T]]) -> None:
        self._kind = kind
        self._entries = entries

    def next(self, key: str) -> T:
        """The next entry with this key. Raises `ReplayDiverged`."""
        left = self._entries.get(key)
        if left:
            return left.popleft()
        if any(self._entries.values()):
            message = f"The recording holds no more of this `{self._kind}`: something differs from it."
        else:
            message = f"The recording has ended: it holds no more `{self._kind}`."
        raise ReplayDiverged(message)


class Recording:
    """A file read back."""

    def __init__(self, path: Path, lines: tuple[_Line, ...]) -> None:
        self._path = path
        self._lines = lines

    @classmethod
    def read(cls, path: Path) -> Self:
        """The whole file. Raises `ReplayDiverged` naming the first line that is no entry."""
        try:
            texts = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ReplayDiverged(f"The recording {path} cannot be read: {error}.") from error
        return cls(path, tuple(_line(path, number, text) for number, text in enumerate(texts, start=1)))

    def track(self, kind: str, parse: Callable[[Entry], T]) -> Track[T]:
        """The entries of `kind`, in order. Raises `ReplayDiverged` naming the first that `parse` refuses.

        `parse` refuses an entry with `ValueError`, `KeyError` or `TypeError`.
        """
        entries: dict[str, deque[T]] = {}
        for line in self._lines:
            if line.kind == kind:
                try:
                    entries.setdefault(line.key, deque()).append(parse(line.entry))
                except (ValueError, KeyError, TypeError) as error:
                    raise _broken(self._path, line.number) from error
        return Track(kind, entries)


def _line(path: Path, number: int, text: str) -> _Line:
    try:
        entry = json.loads(text)
        kind, key = entry["kind"], entry["key"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _broken(path, number) from error
    if not (isinstance(kind, str) and isinstance(key, str)):
        raise _broken(path, number)
    return _Line(number, kind, key, entry)


def _broken(path: Path, number: int) -> ReplayDiverged:
    return ReplayDiverged(f"Line {number} of the recording {path} is no entry of one.")
