"""The four processes of a deployment, started for a measurement and stopped after it."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import tree_mebibytes
from benchmarks.stack import ROOT, free_port, until_ready

MODULES = ("services.retrieval", "services.ingest", "services.answer", "gateway")


@dataclass(frozen=True, slots=True)
class Processes:
    """Running services and their gateway."""

    url: str
    """Of the gateway."""
    addresses: Mapping[str, str]
    """Of the services: `ingest`, `retrieval`, `answer`."""
    pids: Mapping[str, int]
    """By module."""

    def mebibytes(self) -> float:
        """Resident memory of all of them, and their children, now."""
        return sum(map(tree_mebibytes, self.pids.values()))


@asynccontextmanager
async def running_processes(
    data: Path, settings: Mapping[str, object] | None = None
) -> AsyncIterator[Processes]:
    """All four over the folder `data`; their output goes to files there."""
    addresses = {area: f"127.0.0.1:{free_port()}" for area in ("ingest", "retrieval", "answer")}
    gateway = f"127.0.0.1:{free_port()}"
    environment = {
        "CLAUSEGATE_DATA_DIR": data,
        "CLAUSEGATE_GATEWAY_ADDRESS": gateway,
        **{f"CLAUSEGATE_{area.upper()}_ADDRESS": address for area, address in addresses.items()},
        **(settings or {}),
    }
    async with AsyncExitStack() as stack:
        started = {
            module: await stack.enter_async_context(_running(module, data, environment)) for module in MODULES
        }
        await until_ready(f"http://{gateway}", *started.values())
        pids = {module: process.pid for module, process in started.items()}
        yield Processes(f"http://{gateway}", addresses, pids)


@asynccontextmanager
async def _running(module: str, data: Path, settings: Mapping[str, object]) -> AsyncIterator[Process]:
    with (data / f"{module}.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            "env",  # adds to the environment that is inherited, which only settings may read
            *(f"{name}={value}" for name, value in settings.items()),
            *(sys.executable, "-m", module),
            cwd=ROOT,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
