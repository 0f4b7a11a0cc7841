"""Runs the ingest service: `python -m services.ingest`."""

from __future__ import annotations

import asyncio
import sys

from chassis.addresses import AddressRefused
from chassis.api_keys import ApiKeysBroken, configured_keys
from chassis.server import serving, stop_requested
from chassis.settings import SETTINGS_ERRORS, settings_problem
from chassis.telemetry import telemetry
from services.ingest.settings import IngestSettings
from services.ingest.wiring import ingest


async def run(settings: IngestSettings) -> None:
    """Serve until asked to stop."""
    keys = configured_keys(settings.api_keys_file)
    async with (
        ingest(settings) as services,
        serving(settings.ingest_address, [services], settings.drain_seconds, keys),
    ):
        await stop_requested()


def main() -> None:
    """Read the settings and run; what keeps the service from starting is one line."""
    with telemetry("ingest"):
        try:
            asyncio.run(run(IngestSettings()))
        except (AddressRefused, ApiKeysBroken, OSError) as error:
            sys.exit(f"error: {error}")
        except SETTINGS_ERRORS as error:
            sys.exit(f"error: {settings_problem(error)}")


if __name__ == "__main__":
    main()
