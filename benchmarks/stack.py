"""The processes a user runs, started for a measurement and stopped after it."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[1]
READY_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Stack:
    """A running `python -m embedded`."""

    url: str
    """Address of its gateway."""
    address: str
    """Address of its services."""
    pid: int
    ready_seconds: float
    """From the start of the process until the gateway said that all services are ready."""


@asynccontextmanager
async def running_stack(data: Path, settings: Mapping[str, object] | None = None) -> AsyncIterator[Stack]:
    """The embedded stack over the folder `data`; its output goes to `stack.log` there."""
    await asyncio.to_thread(data.mkdir, parents=True, exist_ok=True)
    rest, grpc = free_port(), free_port()
    environment = {
        "CLAUSEGATE_DATA_DIR": data,
        "CLAUSEGATE_ADDRESS": f"127.0.0.1:{grpc}",
        "CLAUSEGATE_GATEWAY_ADDRESS": f"127.0.0.1:{rest}",
        **(settings or {}),
    }
    started = time.perf_counter()
    async with running("embedded", settings=environment, log=data / "stack.log") as process:
        await until_ready(f"http://127.0.0.1:{rest}", process)
        ready_seconds = time.perf_counter() - started
        yield Stack(f"http://127.0.0.1:{rest}", f"127.0.0.1:{grpc}", process.pid, ready_seconds)


@asynccontextmanager
async def running(
    module: str, *arguments: str, settings: Mapping[str, object] | None = None, log: Path | None = None
) -> AsyncIterator[Process]:
    """`python -m module`, asked to stop at the end; without a `log` standard input and output are pipes."""
    with log.open("ab") if log else nullcontext(PIPE) as output:
        process = await asyncio.create_subprocess_exec(
            "env",  # adds to the environment that is inherited, which only settings may read
            *(f"{name}={value}" for name, value in (settings or {}).items()),
            *(sys.executable, "-m", module, *arguments),
            cwd=ROOT,
            stdin=None if log else PIPE,
            stdout=output,
            stderr=output if log else None,
        )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def first_line(process: Process) -> str:
    """What a process without a log says first. Raises `RuntimeError` when it ends without a word."""
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode().strip()
    if not line:
        raise RuntimeError("a process of the benchmark did not start; what it said is above")
    return line


async def until_ready(url: str, *processes: Process) -> None:
    """Return when the gateway says that all services are ready. Raises `RuntimeError` when one has ended."""
    async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(READY_SECONDS):
        while all(process.returncode is None for process in processes):
            try:
                if (await client.get(f"{url}/readyz")).status_code == httpx.codes.OK:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.02)
    raise RuntimeError(f"a process ended: {[process.returncode for process in processes]}; see its log")


def free_port() -> int:
    """A port of the loopback that nothing listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
