"""One process at a time owns a data folder."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class DataInUse(OSError):
    """Another process serves this data folder; its stores have one owner."""


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Own `folder`, made if missing. Raises `DataInUse`. The lock ends with the process, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataInUse(f"{folder} is in use by another process") from error
        yield
