"""Serves until the process is asked to stop: `python -m embedded`."""

from __future__ import annotations

import asyncio
import logging
import sys

from chassis.server import stop_requested
from chassis.settings import SETTINGS_ERRORS, settings_problem
from chassis.telemetry import telemetry
from embedded.settings import EmbeddedSettings
from embedded.wiring import CANNOT_START, stack

logger = logging.getLogger(__name__)


async def run(settings: EmbeddedSettings) -> None:
    """Serve until SIGTERM or SIGINT, then let running calls end."""
    async with stack(settings):
        logger.info("serving", extra={"grpc": settings.address, "rest": settings.gateway_address})
        await stop_requested()


def main() -> None:
    """Read the settings and run; what keeps the stack from starting is one line."""
    with telemetry("embedded"):
        try:
            asyncio.run(run(EmbeddedSettings()))
        except CANNOT_START as error:
            sys.exit(f"error: {error}")
        except SETTINGS_ERRORS as error:
            sys.exit(f"error: {settings_problem(error)}")


if __name__ == "__main__":
    main()
