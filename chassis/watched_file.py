"""A file that an operator replaces while processes run: read again as soon as it changes."""

from __future__ import annotations

import errno
import json
import logging
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from chassis.errors import CannotStart

logger = logging.getLogger(__name__)

T = TypeVar("T")
UNUSABLE = (OSError, ValueError, RecursionError)
"""What reading a file raises; the last for JSON that is nested too deeply."""


class FileBroken(CannotStart):
    """A file that a setting names is missing or cannot be used; the message is one line that names both."""


Version = tuple[int, int, int]


def version_of(path: Path) -> Version | None:
    """Differs between versions of a file; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def read_regular(path: Path) -> bytes:
    """What a file holds. Raises `OSError`, also for what is none.

    To read a pipe would wait for its writer, and find nothing the second time.
    """
    with open(path, "rb", opener=_not_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read()


def _not_waiting(path: str, flags: int) -> int:
    """Opens a pipe although nobody writes to it; of a regular file the flag says nothing."""
    return os.open(path, flags | os.O_NONBLOCK)


def distinct_members(members: Sequence[tuple[str, object]]) -> dict[str, object]:
    """The members of a JSON object, as a hook of its parser. Raises `ValueError` for a name given twice.

    JSON takes the last of two: a key's `"revoked": null` would undo one above.
    """
    names = [name for name, _ in members]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice} is given twice in one object")
    return dict(members)


class WatchedFile(Generic[T]):
    """What a file says as it stands now.

    Each look costs microseconds, so that nothing runs in the background that could stop without anybody's
    notice.
    """

    def __init__(self, setting: str, path: Path, parse: Callable[[str], T]) -> None:
        """`setting` names the file to operators; `parse` raises `ValueError`. Raises `FileBroken`."""
        self._setting = setting
        self._path = path
        self._parse = parse
        self._seen = version_of(path)
        self._failed: tuple[Version | None, str] | None = None
        try:
            self._said = self._read()
        except UNUSABLE as error:
            raise FileBroken(f"{setting}: {path}: {_problem(error)}") from error

    def now(self) -> T:
        """What it says; of a version that cannot be used, logged once, what the one before it said."""
        version = version_of(self._path)
        if version != self._seen:
            self._reread(version)
        return self._said

    def _reread(self, version: Version | None) -> None:
        try:
            self._said = self._read()
        except OSError as error:  # may pass while the file stays as it is, such as a want of descriptors
            self._complain(version, error)
        except UNUSABLE as error:
            self._seen = version
            self._complain(version, error)
        else:
            self._seen = version
            logger.info("file read again", extra={"setting": self._setting, "file": str(self._path)})

    def _complain(self, version: Version | None, error: Exception) -> None:
        failed = version, _problem(error)
        if failed == self._failed:
            return
        self._failed = failed
        logger.error(
            "file cannot be read again; what it said goes on",
            extra={"setting": self._setting, "file": str(self._path), "error": _problem(error)},
        )

    def _read(self) -> T:
        return self._parse(read_regular(self._path).decode("utf-8"))


def _problem(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return f"not JSON: {error}" if isinstance(error, json.JSONDecodeError) else str(error)
