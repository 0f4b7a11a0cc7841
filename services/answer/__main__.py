"""Runs the answer service: `python -m services.answer`."""

from __future__ import annotations

import logging
import sys

from chassis.policy import server_policy
from chassis.process import run_process
from chassis.server import serving, stop_requested
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer

logger = logging.getLogger(__name__)


async def run(settings: AnswerSettings) -> None:
    """Serve until asked to stop."""
    async with (
        server_policy(settings) as policy,
        answer(settings) as services,
        serving(settings.answer_address, [services], policy) as address,
    ):
        logger.info("serving", extra={"address": address})
        await stop_requested()


if __name__ == "__main__":
    run_process("answer", AnswerSettings, run, sys.argv[1:])
