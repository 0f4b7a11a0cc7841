"""Folders of a process: nobody else reads them, and one process at a time owns them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class DataInUse(OSError):
    """Another process serves this data folder; its stores have one owner."""


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Own `folder`, made if missing. Raises `DataInUse`. The lock ends with the process, however it ends."""
    private_folder(folder)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataInUse(f"{folder} is in use by another process") from error
        yield


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner enters; one of ours that others may enter is closed to them."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _tighten(folder, 0o700)


def private_file(file: Path) -> None:
    """Make an empty file that only its owner reads; one of ours that others may read is closed to them."""
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    _tighten(file, 0o600)


def _tighten(path: Path, mode: int) -> None:
    found = path.stat()
    if found.st_uid == os.geteuid() and found.st_mode & 0o777 & ~mode:
        path.chmod(mode)
