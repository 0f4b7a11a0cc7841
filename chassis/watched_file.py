"""A file that an operator replaces while processes run: read again as soon as it changes."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from chassis.errors import CannotStart

logger = logging.getLogger(__name__)

T = TypeVar("T")
UNUSABLE = (OSError, ValueError, RecursionError)
"""What reading a file raises; the last for JSON that is nested too deeply."""


class FileBroken(CannotStart):
    """A file that a setting names is missing or cannot be used; the message is one line that names both."""


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
        self._seen = self._state()
        try:
            self._said = self._read()
        except UNUSABLE as error:
            raise FileBroken(f"{setting}: {path}: {_problem(error)}") from error

    def now(self) -> T:
        """What it says; of a version that cannot be used, logged once, what the one before it said."""
        state = self._state()
        if state != self._seen:
            self._seen = state
            self._reread()
        return self._said

    def _reread(self) -> None:
        file = {"setting": self._setting, "file": str(self._path)}
        try:
            self._said = self._read()
        except UNUSABLE as error:
            logger.error(
                "file cannot be read again; what it said goes on", extra={**file, "error": _problem(error)}
            )
        else:
            logger.info("file read again", extra=file)

    def _state(self) -> tuple[int, int, int] | None:
        """Differs between versions of the file; None when there is none."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self) -> T:
        return self._parse(self._path.read_text(encoding="utf-8"))


def _problem(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return f"not JSON: {error}" if isinstance(error, json.JSONDecodeError) else str(error)
