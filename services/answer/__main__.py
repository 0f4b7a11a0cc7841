"""Runs the answer service as a process: `python -m services.answer`."""

from __future__ import annotations

import asyncio
import logging
import sys

from chassis.addresses import AddressRefused
from chassis.api_keys import ApiKeysBroken, configured_keys
from chassis.errors import ServiceError
from chassis.server import serving, stop_requested
from chassis.settings import SETTINGS_ERRORS, settings_problem
from chassis.telemetry import telemetry
from services.answer.category_hints import HintsBroken
from services.answer.settings import AnswerSettings
from services.answer.verification.signing import SigningKeysBroken
from services.answer.wiring import answer

logger = logging.getLogger(__name__)


async def run(settings: AnswerSettings) -> None:
    """Serve until asked to stop."""
    keys = configured_keys(settings.api_keys_file)
    async with (
        answer(settings) as services,
        serving(settings.answer_address, [services], settings.drain_seconds, keys) as address,
    ):
        logger.info("serving", extra={"address": address})
        await stop_requested()


def main() -> None:
    """Read the settings and run; what keeps the service from starting is one line."""
    with telemetry("answer"):
        try:
            asyncio.run(run(AnswerSettings()))
        except (
            AddressRefused,
            ApiKeysBroken,
            OSError,
            ServiceError,
            SigningKeysBroken,
            HintsBroken,
        ) as error:
            sys.exit(f"error: {error}")
        except SETTINGS_ERRORS as error:
            sys.exit(f"error: {settings_problem(error)}")


if __name__ == "__main__":
    main()
