"""Runs a process from its settings to its end; what keeps it from starting is one line."""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from types import FrameType
from typing import TypeVar

from chassis.errors import CannotStart, ServiceError
from chassis.settings import SETTINGS_ERRORS, ProcessSettings, settings_problem
from chassis.telemetry import telemetry

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=ProcessSettings)

USAGE = (
    "usage: {name} takes no arguments. It is set up by environment variables that begin with CLAUSEGATE_; "
    ".env.example lists them."
)
CANNOT_START = (CannotStart, OSError, ServiceError)
"""What wrong settings, taken addresses and broken files are reported as; each message is one line."""
MOST_DESCRIPTORS = 65_536
"""More are never needed, and some systems allow 2**30, for which programs make tables."""
BESIDES_CONNECTIONS = 512
"""What a process opens beside its callers' connections: stores, uploads, parsers, channels."""


def run_process(
    name: str,
    settings: Callable[[], S],
    run: Callable[[S], Coroutine[None, None, None]],
    arguments: Sequence[str] = (),
) -> None:
    """Read the settings and run until `run` returns; exits with 1 and one line when it cannot start.

    `arguments` are those of the command line. There are none: what would look as if it were heard, such as
    `--port`, is refused.
    """
    if arguments:
        asked = not {"-h", "--help"}.isdisjoint(arguments)
        (sys.stdout if asked else sys.stderr).write(f"{USAGE.format(name=name)}\n")
        sys.exit(0 if asked else 2)
    # Until `run` listens for them itself: the first process of a container gets only signals that it handles,
    # so a stop that comes during the start would be lost.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    with telemetry(name):
        try:
            configured = settings()
            allow_descriptors(configured.max_connections)
            asyncio.run(run(configured))
        except CANNOT_START as error:
            sys.exit(f"error: {error}")
        except SETTINGS_ERRORS as error:
            sys.exit(f"error: {settings_problem(error)}")


def allow_descriptors(connections: int) -> None:
    """Let this process open as many files as the system lets it, and warn when `connections` need more.

    What a shell or a container begins with is often 1,024: strangers who only connect would use them up, and
    then no file of keys could be read again, no upload be stored and nobody be let in.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = max(soft, min(hard, MOST_DESCRIPTORS))
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < connections + BESIDES_CONNECTIONS:
        logger.warning("few open files are allowed", extra={"allowed": allowed, "connections": connections})


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
