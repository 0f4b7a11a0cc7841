"""Starts what a user starts, as processes, and stops it again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from typer.testing import CliRunner

from cli.main import app
from tests.processwide import logging_taken_back

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 90.0
STOP_SECONDS = 60.0
COMMAND_SECONDS = 120.0


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of a product's process: nothing of ours but `settings`, and no key of a real model."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251
    return {**inherited, "PYTHONPATH": str(ROOT), **settings}


@dataclass(frozen=True, slots=True)
class Stack:
    """A running `python -m embedded`."""

    process: subprocess.Popen[bytes]
    grpc: str
    """Address of all three services."""
    url: str
    """Of the gateway."""
    log: Path

    def ready(self) -> bool:
        """Whether every service serves. Raises when the process has ended."""
        if self.process.poll() is not None:
            raise AssertionError(
                f"the stack ended with {self.process.returncode}:\n{self.log.read_text()[-4000:]}"
            )
        try:
            return httpx.get(f"{self.url}/readyz", timeout=2).is_success
        except httpx.TransportError:
            return False


@contextmanager
def embedded_stack(data: Path, sockets: Path, port: int, **settings: str) -> Iterator[Stack]:
    """Run the embedded stack over `data` until the block ends; it is ready when this yields.

    What it takes for an answer stays the same from one calibration to the next.
    """
    grpc = f"unix:{sockets / 'grpc'}"
    log = data.with_name(f"{data.name}-{port}.log")
    addresses = {
        "CLAUSEGATE_DATA_DIR": str(data),
        "CLAUSEGATE_ADDRESS": grpc,
        "CLAUSEGATE_GATEWAY_ADDRESS": f"127.0.0.1:{port}",
        "CLAUSEGATE_ANSWER_THRESHOLD": "0.1",
    }
    with running("embedded", {**addresses, **settings}, log) as process:
        stack = Stack(process, grpc, f"http://127.0.0.1:{port}", log)
        wait_until(stack.ready, READY_SECONDS)
        yield stack


@contextmanager
def running(module: str, settings: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run `python -m module` until the block ends, then ask it to stop as an operator does."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", module], cwd=ROOT, env=environment(settings), stdout=output, stderr=output
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def clausegate(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user would, in a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "cli", *arguments],
        cwd=ROOT,
        env=environment(settings),
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )


def in_process(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the command as `clausegate` does, in this process: a second less, which its imports take."""
    with logging_taken_back():
        done = CliRunner(env=settings).invoke(app, arguments)
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def wait_until(condition, seconds: float) -> None:  # type: ignore[no-untyped-def]
    """Poll until `condition()` holds; `AssertionError` when it does not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {condition}"
        time.sleep(0.05)
