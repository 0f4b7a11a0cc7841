"""Changes the file of API keys: whole or not at all, and one change after the other."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chassis.api_keys import ApiKey, from_json, to_json
from chassis.watched_file import read_regular
from cli.errors import CommandError
from cli.files import private, write_text


def read_keys(path: Path) -> tuple[ApiKey, ...]:
    """All keys in order. Raises `CommandError`."""
    try:
        return from_json(read_regular(path).decode("utf-8"))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # the latter of JSON that is nested too deeply
        raise CommandError(f"{path}: not a file of API keys: {error}") from error


@contextmanager
def changing(path: Path) -> Iterator[list[ApiKey]]:
    """The keys, none when there is no file yet, to be changed within the block; written at its end.

    Another change waits meanwhile. Nothing is written when the block raises. Raises `CommandError`.
    """
    path = path.resolve()
    with _alone(path):
        keys = list(read_keys(path)) if path.exists() else []
        yield keys
        write_text(path, to_json(keys), opener=private)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock beside the file: a lock on the file itself would go with the version that is replaced."""
    try:
        lock = open(path.with_name(f".{path.name}.lock"), "w", opener=private)  # noqa: SIM115
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
