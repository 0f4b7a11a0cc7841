"""Runs the ingest service: `python -m services.ingest`."""

from __future__ import annotations

import asyncio

from chassis.server import serving, stop_requested
from chassis.telemetry import telemetry
from services.ingest.settings import IngestSettings
from services.ingest.wiring import ingest


async def main() -> None:
    """Serve until asked to stop."""
    settings = IngestSettings()
    async with (
        ingest(settings) as services,
        serving(settings.ingest_address, [services], settings.drain_seconds),
    ):
        await stop_requested()


if __name__ == "__main__":
    with telemetry("ingest"):
        asyncio.run(main())
