"""Runs the ingest service: `python -m services.ingest`."""

from __future__ import annotations

import logging
import sys

from chassis.policy import server_policy
from chassis.process import run_process
from chassis.server import serving, stop_requested
from services.ingest.settings import IngestSettings
from services.ingest.wiring import ingest

logger = logging.getLogger(__name__)


async def run(settings: IngestSettings) -> None:
    """Serve until asked to stop."""
    async with (
        server_policy(settings) as policy,
        ingest(settings) as services,
        serving(settings.ingest_address, [services], policy) as address,
    ):
        logger.info("serving", extra={"address": address})
        await stop_requested()


if __name__ == "__main__":
    run_process("ingest", IngestSettings, run, sys.argv[1:])
