"""Runs the answer service as a process: `python -m services.answer`."""

from __future__ import annotations

import asyncio
import logging

from chassis.server import serving, stop_requested
from chassis.telemetry import telemetry
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer

logger = logging.getLogger(__name__)


async def main() -> None:
    """Serve until asked to stop."""
    settings = AnswerSettings()
    async with (
        answer(settings) as services,
        serving(settings.answer_address, [services], settings.drain_seconds) as address,
    ):
        logger.info("serving", extra={"address": address})
        await stop_requested()


if __name__ == "__main__":
    with telemetry("answer"):
        asyncio.run(main())
