"""The four processes of a deployment, started for a measurement and stopped after it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import tree_mebibytes
from benchmarks.stack import free_port, running, until_ready

MODULES = ("services.retrieval", "services.ingest", "services.answer", "gateway")


@dataclass(frozen=True, slots=True)
class Processes:
    """Running services and their gateway."""

    url: str
    """Address of the gateway."""
    addresses: Mapping[str, str]
    """Address of each service by its name: `ingest`, `retrieval`, `answer`."""
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
            module: await stack.enter_async_context(
                running(module, settings=environment, log=data / f"{module}.log")
            )
            for module in MODULES
        }
        await until_ready(f"http://{gateway}", *started.values())
        pids = {module: process.pid for module, process in started.items()}
        yield Processes(f"http://{gateway}", addresses, pids)
