"""Runs a command's work and turns how it ended into an exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import typer

from cli.errors import CommandError
from cli.output import Output

FAILED = 1
REFUSED = 3
INTERRUPTED = 130


def run(work: Coroutine[None, None, int], output: Output) -> None:
    """Run `work`, which returns the exit code. Ctrl-C cancels it, and with it what runs on its behalf."""
    try:
        code = asyncio.run(work)
    except CommandError as error:
        output.failed(error)
        code = FAILED
    except KeyboardInterrupt:
        code = INTERRUPTED
    raise typer.Exit(code)
