"""What telemetry costs: extractive queries without a collector, with one, and with a tenth of the traces."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx

import clausegate
from benchmarks.measuring import Figure, percentile, processor_milliseconds
from benchmarks.stack import ROOT, Stack, free_port, running, running_stack
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
ROUND_QUERIES = 12
ROUNDS = 45
"""Of each stack, by turns, so short that what else the machine does meets all alike; the first `WARM_ROUNDS`
warm them up."""
WARM_ROUNDS = 3
TENTH = {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1"}


async def measure_telemetry() -> list[Figure]:
    """Throughput, latency, processor time; the examples are the corpus, so that a query takes little besides.

    On a machine that others use too, throughput says little: processor time is what holds there.
    """
    with tempfile.TemporaryDirectory() as folder:
        filled = Path(folder) / "filled"
        async with running_stack(filled) as stack, clausegate.connect(stack.address) as client:
            await ingest_folder(client, scan(CORPUS).files, Choices(False, False), Watcher())
        async with _sink() as endpoint, AsyncExitStack() as started:
            collector = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_INSECURE": "true"}
            stacks = []
            for number, settings in enumerate(({}, collector, collector | TENTH)):
                data = Path(folder) / str(number)
                shutil.copytree(filled, data)
                stacks.append(await started.enter_async_context(running_stack(data, settings)))
            rounds = [[await _round(stack) for stack in stacks] for _ in range(ROUNDS)][WARM_ROUNDS:]
    without, with_it, tenth = zip(*rounds, strict=True)
    return [
        *_figures("without a collector", without),
        *_figures("with one", with_it),
        *_figures("with one and a tenth of the traces", tenth),
        _ratio("throughput, with to without", _rate, with_it, without, ">= 0.85"),
        _ratio("processor time, with to without", _processor, with_it, without),
        _ratio("processor time, a tenth of the traces to without", _processor, tenth, without),
    ]


@asynccontextmanager
async def _sink() -> AsyncIterator[str]:
    """The address of a collector in a process of its own."""
    port = free_port()
    async with running("benchmarks.sink", str(port)):
        yield f"http://127.0.0.1:{port}"


@dataclass(frozen=True, slots=True)
class _Round:
    """What a round of queries took."""

    seconds: float
    processor_milliseconds: float
    """Processor time of the stack's process."""
    query_milliseconds: Sequence[float]


async def _round(stack: Stack) -> _Round:
    questions = itertools.islice(itertools.cycle(QUESTIONS), ROUND_QUERIES)
    taken: list[float] = []
    async with httpx.AsyncClient(base_url=stack.url, trust_env=False) as client:

        async def ask() -> None:
            for question in questions:
                began = time.perf_counter()
                (await client.post("/v1/query", json={"query": question}, timeout=60)).raise_for_status()
                taken.append((time.perf_counter() - began) * 1000)

        processor, began = processor_milliseconds(stack.pid), time.perf_counter()
        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
        seconds = time.perf_counter() - began
        return _Round(seconds, processor_milliseconds(stack.pid) - processor, taken)


def _rate(measured: _Round) -> float:
    return ROUND_QUERIES / measured.seconds


def _processor(measured: _Round) -> float:
    return measured.processor_milliseconds / ROUND_QUERIES


def _figures(name: str, rounds: Sequence[_Round]) -> list[Figure]:
    milliseconds = [taken for measured in rounds for taken in measured.query_milliseconds]
    return [
        Figure(name, median([*map(_rate, rounds)]), "queries/s"),
        Figure("  p50", median(milliseconds), "ms"),
        Figure("  p95", percentile(milliseconds, 0.95), "ms"),
        Figure("  processor time of a query", median([*map(_processor, rounds)]), "ms"),
    ]


def _ratio(
    name: str,
    value: Callable[[_Round], float],
    these: Sequence[_Round],
    those: Sequence[_Round],
    target: str = "",
) -> Figure:
    """The median of the ratios of rounds that stood side by side."""
    ratios = [value(this) / value(that) for this, that in zip(these, those, strict=True)]
    return Figure(name, median(ratios), "", target)
