"""Serves REST until the process is asked to stop: `python -m gateway`."""

from __future__ import annotations

import logging
import sys

from chassis.process import run_process
from chassis.server import stop_requested
from gateway.settings import GatewaySettings
from gateway.wiring import serving

logger = logging.getLogger(__name__)


async def run(settings: GatewaySettings) -> None:
    """Serve until SIGTERM or SIGINT."""
    async with serving(settings) as address:
        logger.info("serving", extra={"address": address})
        await stop_requested()


if __name__ == "__main__":
    run_process("gateway", GatewaySettings, run, sys.argv[1:])
