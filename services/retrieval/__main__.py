"""Runs the retrieval service: `python -m services.retrieval`."""

from __future__ import annotations

import asyncio

from chassis.server import serving, stop_requested
from chassis.telemetry import telemetry
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import retrieval


async def main() -> None:
    """Serve until asked to stop."""
    settings = RetrievalSettings()
    async with (
        retrieval(settings) as services,
        serving(settings.retrieval_address, [services], settings.drain_seconds),
    ):
        await stop_requested()


if __name__ == "__main__":
    with telemetry("retrieval"):
        asyncio.run(main())
