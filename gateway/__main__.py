"""Serves REST until the process is asked to stop: `python -m gateway`."""

from __future__ import annotations

import asyncio
import logging
import sys

from chassis.addresses import AddressRefused
from chassis.api_keys import ApiKeysBroken
from chassis.server import stop_requested
from chassis.settings import SETTINGS_ERRORS, settings_problem
from chassis.telemetry import telemetry
from gateway.settings import GatewaySettings
from gateway.wiring import serving

logger = logging.getLogger(__name__)


async def run(settings: GatewaySettings) -> None:
    """Serve until SIGTERM or SIGINT."""
    async with serving(settings) as address:
        logger.info("serving", extra={"address": address})
        await stop_requested()


def main() -> None:
    """Read the settings and run; what keeps it from starting is one line. Spans are flushed at the end."""
    with telemetry("gateway"):
        try:
            asyncio.run(run(GatewaySettings()))
        except (AddressRefused, ApiKeysBroken, OSError) as error:
            sys.exit(f"error: {error}")
        except SETTINGS_ERRORS as error:
            sys.exit(f"error: {settings_problem(error)}")


if __name__ == "__main__":
    main()
