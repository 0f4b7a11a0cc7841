"""Texts that commands read and write."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cli.errors import CommandError
from cli.parameters import STANDARD_INPUT

MAX_BYTES = 16 * 2**20
"""Longest text that is read; no route takes nearly as much."""


def read_text(name: str) -> str:
    """The file `name`, or standard input for `-`. Raises `CommandError` unless it is UTF-8 within limits."""
    shown = "standard input" if name == STANDARD_INPUT else name
    try:
        if name == STANDARD_INPUT:
            content = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{shown}: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise CommandError(f"{shown}: more than {MAX_BYTES // 2**20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{shown}: not valid UTF-8 at byte {error.start}") from error


def private(path: str, flags: int) -> int:
    """An `opener` of files that only their owner may read."""
    return os.open(path, flags, 0o600)


def write_text(path: Path, text: str, *, opener: Callable[[str, int], int] | None = None) -> None:
    """Put `text` in place of the file: whole, or not at all. A file that was there keeps its mode and owner.

    `opener` makes a new one, as `open` takes it. Raises `CommandError`.
    """
    target = path.resolve()  # what a link leads to is replaced, not the link
    staged = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        try:
            with open(staged, "x", encoding="utf-8", opener=opener) as file:
                if target.exists():
                    _keep_owner_and_mode(file.fileno(), target.stat())
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            staged.replace(target)
        finally:
            staged.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def _keep_owner_and_mode(file: int, former: os.stat_result) -> None:
    with suppress(PermissionError):  # only root gives files away
        os.fchown(file, former.st_uid, former.st_gid)
    os.fchmod(file, stat.S_IMODE(former.st_mode))
