"""A disk that cannot be used: full, read-only or broken, whoever writes to it."""

from __future__ import annotations

import errno
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from chassis.errors import StorageUnavailable

logger = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = 5.0
"""An operator, or what removes old files, has to make room."""
_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
_SQLITE_ERRORS = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
)
_PRIMARY = 0xFF
"""The low byte of SQLite's extended codes is the kind of error."""


def is_storage_failure(error: BaseException) -> bool:
    """Whether an error says that a disk cannot be used."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", 0) & _PRIMARY in _SQLITE_ERRORS
    return isinstance(error, OSError) and error.errno in _ERRORS


def storage_unavailable(error: BaseException) -> StorageUnavailable:
    """What the caller is told of one; the log says what it was."""
    logger.error("disk cannot be used", exc_info=error)
    message = "The disk cannot be used. Nothing that was acknowledged has changed."
    return StorageUnavailable(message, retry_after_seconds=RETRY_AFTER_SECONDS)


@contextmanager
def storage_errors() -> Iterator[None]:
    """Within it a disk that cannot be used raises `StorageUnavailable`."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if not is_storage_failure(error):
            raise
        raise storage_unavailable(error) from error
