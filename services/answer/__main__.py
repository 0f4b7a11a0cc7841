"""Runs the answer service as a process: `python -m services.answer`."""

from __future__ import annotations

import asyncio
import logging
import sys

from pydantic import ValidationError

from chassis.addresses import AddressRefused
from chassis.errors import ServiceError
from chassis.server import serving, stop_requested
from chassis.telemetry import telemetry
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer

logger = logging.getLogger(__name__)


async def run(settings: AnswerSettings) -> None:
    """Serve until asked to stop."""
    async with (
        answer(settings) as services,
        serving(settings.answer_address, [services], settings.drain_seconds) as address,
    ):
        logger.info("serving", extra={"address": address})
        await stop_requested()


def main() -> None:
    """Read the settings and run; what keeps the service from starting is one line."""
    with telemetry("answer"):
        try:
            asyncio.run(run(AnswerSettings()))
        except (AddressRefused, OSError, ServiceError, ValidationError) as error:
            sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
