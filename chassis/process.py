"""Runs a process from its settings to its end; what keeps it from starting is one line."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import TypeVar

from chassis.descriptors import allow_descriptors
from chassis.errors import CannotStart, ServiceError
from chassis.settings import SETTINGS_ERRORS, ProcessSettings, settings_problem
from chassis.telemetry import telemetry

S = TypeVar("S", bound=ProcessSettings)

CANNOT_START = (CannotStart, OSError, ServiceError)
"""What wrong settings, taken addresses and broken files are reported as; each message is one line."""


def run_process(
    name: str, settings: Callable[[], S], run: Callable[[S], Coroutine[None, None, None]]
) -> None:
    """Read the settings and run until `run` returns; exits with 1 and one line when it cannot start."""
    with telemetry(name):
        try:
            configured = settings()
            allow_descriptors(configured.max_connections)
            asyncio.run(run(configured))
        except CANNOT_START as error:
            sys.exit(f"error: {error}")
        except SETTINGS_ERRORS as error:
            sys.exit(f"error: {settings_problem(error)}")
