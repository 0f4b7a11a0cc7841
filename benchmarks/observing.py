"""What telemetry costs: extractive queries through the gateway, with a collector and without, by turns."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from benchmarks.measuring import Figure, median, percentile
from benchmarks.stack import ROOT, Stack, free_port, running_stack
from cli.connection import Gateway
from cli.folders import scan
from cli.ingestion import Choices, Watcher, ingest_folder

CORPUS = ROOT / "examples/corpus"
QUESTIONS = (
    "How often, and on what notice, may the Licensee be audited?",
    "What is the fee for each display device?",
    "May the Licensee redistribute delayed data?",
    "Which law governs this Agreement?",
    "How long does the duty of confidentiality last?",
    "When may the agreement be terminated for convenience?",
)
AT_ONCE = 4
ROUND_QUERIES = 40
ROUNDS = 6
"""Of each stack, by turns, so that what else the machine does meets both alike; the first warms them up."""


async def measure_telemetry() -> list[Figure]:
    """Throughput and latency of both; the examples are the corpus, so that a query takes little besides."""
    with tempfile.TemporaryDirectory() as folder:
        quiet, loud = Path(folder) / "quiet", Path(folder) / "loud"
        async with running_stack(quiet) as stack, Gateway(stack.url, quiet).connected() as gateway:
            await ingest_folder(gateway, scan(CORPUS), Choices(False, False), Watcher())
        shutil.copytree(quiet, loud)
        async with _sink() as endpoint:
            settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_INSECURE": "true"}
            async with running_stack(quiet) as off, running_stack(loud, settings) as on:
                rounds = [(await _round(off), await _round(on)) for _ in range(ROUNDS)][1:]
    without, with_it = ([each[side] for each in rounds] for side in (0, 1))
    ratios = [_rate(on) / _rate(off) for off, on in rounds]
    return [
        Figure("without a collector", statistics.median(map(_rate, without)), "queries/s"),
        Figure("with one", statistics.median(map(_rate, with_it)), "queries/s"),
        Figure("throughput, with to without", statistics.median(ratios), "", ">= 0.85"),
        Figure("p50 without", median(_milliseconds(without)), "ms"),
        Figure("p50 with", median(_milliseconds(with_it)), "ms"),
        Figure("p95 without", percentile(_milliseconds(without), 0.95), "ms"),
        Figure("p95 with", percentile(_milliseconds(with_it), 0.95), "ms"),
    ]


@asynccontextmanager
async def _sink() -> AsyncIterator[str]:
    """The address of a collector in a process of its own."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.sink", str(port), cwd=ROOT
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


Round = tuple[float, list[float]]
"""Seconds of a round, and those of each query."""


async def _round(stack: Stack) -> Round:
    questions = itertools.islice(itertools.cycle(QUESTIONS), ROUND_QUERIES)
    seconds: list[float] = []
    async with httpx.AsyncClient(base_url=stack.url, trust_env=False) as client:

        async def ask() -> None:
            for question in questions:
                began = time.perf_counter()
                (await client.post("/v1/query", json={"query": question}, timeout=60)).raise_for_status()
                seconds.append(time.perf_counter() - began)

        began = time.perf_counter()
        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
        return time.perf_counter() - began, seconds


def _rate(measured: Round) -> float:
    return ROUND_QUERIES / measured[0]


def _milliseconds(rounds: Sequence[Round]) -> list[float]:
    return [each * 1000 for _, seconds in rounds for each in seconds]
