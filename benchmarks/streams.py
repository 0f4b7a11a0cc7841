"""Five hundred answers at once, as streams of events that wait for a slow chat model."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from benchmarks.measuring import Figure
from benchmarks.processes import Processes, running_processes
from benchmarks.stack import ROOT, first_line, running

STREAMS = 500
HELD_SECONDS = 20.0
"""How long all of them are held, one heartbeat and more."""
PATIENCE_SECONDS = 240.0
DOCUMENT = ROOT / "examples/drafts/tarnholm-licence-agreement.md"
QUESTION = "What may the licensee do with the licensed software?"


async def measure_streams() -> list[Figure]:
    """Open them all, hold them, let the model answer, and count how they ended."""
    with tempfile.TemporaryDirectory() as folder:
        async with _slow_model() as (url, model):
            settings = {"OPENAI_BASE_URL": url, "CLAUSEGATE_MODEL_DEADLINE_SECONDS": 600}
            async with running_processes(Path(folder), settings) as processes:
                return await _measure(processes, model)


async def _measure(processes: Processes, model: Process) -> list[Figure]:
    before = processes.mebibytes()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(
        base_url=processes.url, trust_env=False, limits=limits, timeout=PATIENCE_SECONDS
    ) as client:
        await _ingest(client)
        opened = [asyncio.Event() for _ in range(STREAMS)]
        started = time.perf_counter()
        reading = [asyncio.create_task(_last_event(client, is_open)) for is_open in opened]
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.wait(
                [asyncio.create_task(is_open.wait()) for is_open in opened], return_when=asyncio.ALL_COMPLETED
            )
        opening = time.perf_counter() - started
        await asyncio.sleep(HELD_SECONDS)
        held, memory = sum(not task.done() for task in reading), processes.mebibytes()
        assert model.stdin is not None
        model.stdin.write(b"\n")
        started = time.perf_counter()
        ends = Counter(await asyncio.gather(*reading))
        ending = time.perf_counter() - started
    return [
        Figure("memory of the four processes, idle", before, "MiB"),
        Figure("all streams have their first event after", opening, "s"),
        Figure(f"streams still open after {HELD_SECONDS:g} s", held, f"of {STREAMS}", f"{STREAMS}"),
        Figure("memory of the four processes, holding them", memory, "MiB", "< 1,000"),
        Figure("one stream", (memory - before) / STREAMS * 1024, "KiB"),
        Figure("memory of the four processes, afterwards", processes.mebibytes(), "MiB"),
        Figure("complete", ends["completed"], f"of {STREAMS}", f"{STREAMS}"),
        *(Figure(f"ended with {end}", count, "") for end, count in ends.items() if end != "completed"),
        Figure("the last one ends after the model answers by", ending, "s"),
    ]


async def _ingest(client: httpx.AsyncClient) -> None:
    response = await client.post(
        "/v1/documents",
        data={"source": "tarnholm", "path": DOCUMENT.name},
        files={"file": (DOCUMENT.name, DOCUMENT.read_bytes())},
    )
    response.raise_for_status()


async def _last_event(client: httpx.AsyncClient, opened: asyncio.Event) -> str:
    """Name of the last event; of a problem its reason."""
    try:
        async with client.stream("POST", "/v1/query:stream", json={"query": QUESTION}) as response:
            if response.status_code != httpx.codes.OK:
                return str(json.loads(await response.aread())["reason"])
            last = ""
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    last = line.removeprefix("event: ")
                    opened.set()
                elif last == "error":
                    return str(json.loads(line.removeprefix("data: "))["reason"])
            return last
    except httpx.TransportError as error:
        return type(error).__name__
    finally:
        opened.set()


@asynccontextmanager
async def _slow_model() -> AsyncIterator[tuple[str, Process]]:
    """A model server that waits for a line on its standard input; its base URL and process."""
    async with running("benchmarks.slow_model") as process:
        yield await first_line(process), process
