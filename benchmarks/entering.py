"""What it costs a call to be let in: credentials and limits, beside the same call without them."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import grpc
import httpx

from benchmarks.measuring import Figure
from benchmarks.processes import Processes, running_processes
from chassis.api_keys import new_key, to_json
from chassis.auth import Caller
from clausegate.retrieval.v1 import document_service_pb2
from clausegate.retrieval.v1.document_service_pb2_grpc import DocumentServiceStub

CALLS, WARM, BATCH = 1_000, 100, 20
UNBOUNDED = {"CLAUSEGATE_READS_PER_SECOND": 100_000, "CLAUSEGATE_READS_BURST": 100_000}
"""A rate that is counted and never reached."""

Call = Callable[[], Awaitable[object]]


async def measure_entering() -> list[Figure]:
    """The same read of an empty index, by gRPC and by REST, with and without, in turns."""
    async with AsyncExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        key = await asyncio.to_thread(_new_key, folders[0] / "keys.json")
        keyed = {
            **UNBOUNDED,
            "CLAUSEGATE_API_KEYS_FILE": folders[0] / "keys.json",
            "CLAUSEGATE_INDEX_KEY": "0f" * 32,
        }
        known = await stack.enter_async_context(running_processes(folders[0], keyed))
        unknown = await stack.enter_async_context(running_processes(folders[1]))
        figures = []
        for name, way in (("gRPC", _by_grpc), ("REST", _by_rest)):
            without, with_key = await _in_turns(await way(stack, unknown, ""), await way(stack, known, key))
            figures += [
                Figure(f"{name}, without credentials, p50", without, "ms"),
                Figure(f"{name}, with a key and its limits, p50", with_key, "ms"),
                Figure(f"{name}, difference", with_key - without, "ms", "<= 1"),
                Figure(f"{name}, ratio", with_key / without, ""),
            ]
        return figures


def _new_key(file: Path) -> str:
    """What a caller presents; the file holds its hash."""
    key, presented = new_key(Caller("default", "bench"), datetime.now(UTC))
    file.write_text(to_json([key]))
    return presented


async def _by_grpc(stack: AsyncExitStack, processes: Processes, key: str) -> Call:
    channel = await stack.enter_async_context(grpc.aio.insecure_channel(processes.addresses["retrieval"]))
    metadata = [("authorization", f"Bearer {key}")] if key else []
    stub, request = DocumentServiceStub(channel), document_service_pb2.ListSourcesRequest()
    return lambda: stub.ListSources(request, metadata=metadata, timeout=10)


async def _by_rest(stack: AsyncExitStack, processes: Processes, key: str) -> Call:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    client = httpx.AsyncClient(base_url=processes.url, headers=headers, trust_env=False)
    await stack.enter_async_context(client)

    async def call() -> None:
        (await client.get("/v1/sources")).raise_for_status()

    return call


async def _in_turns(*calls: Call) -> list[float]:
    """Median milliseconds of each, measured in turns, so that what else the machine does meets both."""
    taken: list[list[float]] = [[] for _ in calls]
    for call in calls:
        for _ in range(WARM):
            await call()
    for _ in range(CALLS // BATCH):
        for call, times in zip(calls, taken, strict=True):
            for _ in range(BATCH):
                started = time.perf_counter()
                await call()
                times.append((time.perf_counter() - started) * 1000)
    return [median(times) for times in taken]
