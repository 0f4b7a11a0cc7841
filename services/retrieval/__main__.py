"""Runs the retrieval service: `python -m services.retrieval`."""

from __future__ import annotations

import logging
import sys

from chassis.policy import server_policy
from chassis.process import run_process
from chassis.server import serving, stop_requested
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import retrieval

logger = logging.getLogger(__name__)


async def run(settings: RetrievalSettings) -> None:
    """Serve until asked to stop."""
    async with (
        server_policy(settings) as policy,
        retrieval(settings) as services,
        serving(settings.retrieval_address, [services], policy) as address,
    ):
        logger.info("serving", extra={"address": address})
        await stop_requested()


if __name__ == "__main__":
    run_process("retrieval", RetrievalSettings, run, sys.argv[1:])
