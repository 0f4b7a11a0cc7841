"""Runs the retrieval service: `python -m services.retrieval`."""

from __future__ import annotations

import asyncio
import sys

from chassis.addresses import AddressRefused
from chassis.api_keys import ApiKeysBroken, configured_keys
from chassis.errors import ServiceError
from chassis.server import serving, stop_requested
from chassis.settings import SETTINGS_ERRORS, settings_problem
from chassis.telemetry import telemetry
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import retrieval


async def run(settings: RetrievalSettings) -> None:
    """Serve until asked to stop."""
    keys = configured_keys(settings.api_keys_file)
    async with (
        retrieval(settings) as services,
        serving(settings.retrieval_address, [services], settings.drain_seconds, keys),
    ):
        await stop_requested()


def main() -> None:
    """Read the settings and run; what keeps the service from starting is one line."""
    with telemetry("retrieval"):
        try:
            asyncio.run(run(RetrievalSettings()))
        except (AddressRefused, ApiKeysBroken, OSError, ServiceError) as error:
            sys.exit(f"error: {error}")
        except SETTINGS_ERRORS as error:
            sys.exit(f"error: {settings_problem(error)}")


if __name__ == "__main__":
    main()
