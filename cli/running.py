"""Runs a command's work and turns how it ended into an exit code."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine

import typer

from cli.errors import CommandError
from cli.output import Output

FAILED = 1
USAGE = 2
REFUSED = 3
RELATED = 4
INTERRUPTED = 130


def run(work: Coroutine[None, None, int], output: Output) -> None:
    """Run `work`, which returns the exit code. Ctrl-C and SIGTERM cancel it, and what runs on its behalf."""
    try:
        code = asyncio.run(_until_terminated(work))
    except CommandError as error:
        output.failed(error)
        code = FAILED
    except (KeyboardInterrupt, asyncio.CancelledError):
        code = INTERRUPTED
    raise typer.Exit(code)


async def _until_terminated(work: Coroutine[None, None, int]) -> int:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work
