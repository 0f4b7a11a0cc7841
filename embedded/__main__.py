"""Serves until the process is asked to stop: `python -m embedded`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

from chassis.process import run_process
from chassis.server import stop_requested
from embedded.announcing import announcement
from embedded.environment import unknown_variables
from embedded.settings import EmbeddedSettings
from embedded.wiring import stack

logger = logging.getLogger(__name__)


async def run(settings: EmbeddedSettings) -> None:
    """Serve until SIGTERM or SIGINT, then let running calls end.

    A terminal is told in words where, and anything else by a line of the log.
    """
    for unknown in unknown_variables():
        logger.warning(
            "variable is no setting", extra={"variable": unknown.variable, "nearest": unknown.nearest}
        )
    async with stack(settings):
        if sys.stderr.isatty():
            sys.stderr.write(f"{announcement(settings)}\n")
        else:
            logger.info("serving", extra={"grpc": settings.address, "rest": settings.gateway_address})
        await stop_requested()


def main(arguments: Sequence[str] = ()) -> None:
    """Read the settings and run."""
    run_process("embedded", EmbeddedSettings, run, arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
