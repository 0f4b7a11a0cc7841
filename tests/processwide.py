"""What a command sets up for its whole process, taken back when it has run within a test."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def logging_taken_back() -> Iterator[None]:
    """Leaves the handlers and the level of all logs, and the way of warnings, as they were."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        for made in [each for each in root.handlers if each not in handlers]:
            made.close()
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.captureWarnings(False)
