"""What the product itself takes when a chat model grades and answers: the model answers at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import httpx

import clausegate
from benchmarks.contracts import full_questions
from benchmarks.measuring import Figure, percentile, tree_mebibytes
from benchmarks.stack import Stack, first_line, running, running_stack

QUERIES, WARM_QUERIES = 300, 30
STREAMS, STREAM_ROUNDS = 64, 5
MANY_QUERIES, MEMORY_AFTER = 5_000, 1_000
"""Memory is compared after this many queries and after all: before, caches fill."""
AT_ONCE = 4


@dataclass(slots=True)
class Asked:
    """What came of a number of queries."""

    milliseconds: list[float] = field(default_factory=list)
    refused: int = 0
    failed: int = 0


async def measure_rendering(data: Path, kept: Path) -> list[Figure]:
    """Queries with two model calls each: one after the other, as concurrent streams, and for long.

    The index in `kept` is the one that the section `queries` fills.
    """
    questions = [question for question, _ in full_questions(data, QUERIES)]
    async with instant_model() as url:
        settings = {"OPENAI_BASE_URL": url, "CLAUSEGATE_MODEL_CONCURRENCY": STREAMS}
        async with running_stack(kept, settings) as stack:
            async with clausegate.connect(stack.address) as client:
                index = await client.describe_index()
            await _ask(stack, questions[:WARM_QUERIES])
            asked = await _ask(stack, questions)
            waited = await _model_milliseconds(url)
            streamed = await _stream(stack, questions)
            long = await _ask_long(stack, questions)
    return [
        Figure("chunks", index.chunk_count, "chunks"),
        Figure("query with two model calls, p50", median(asked.milliseconds), "ms"),
        Figure("of it two calls of the model server, alone", 2 * waited, "ms"),
        Figure("the product itself, p50", median(asked.milliseconds) - 2 * waited, "ms", "<= 40"),
        Figure("query with two model calls, p95", percentile(asked.milliseconds, 0.95), "ms"),
        Figure("answered of them", (QUERIES - asked.refused) / QUERIES, ""),
        Figure(f"{STREAMS} streams at once, failed", streamed.failed, f"of {STREAMS * STREAM_ROUNDS}", "0"),
        Figure(f"{STREAMS} streams at once, p50", median(streamed.milliseconds), "ms"),
        *long,
    ]


@asynccontextmanager
async def instant_model() -> AsyncIterator[str]:
    """A model server in a process of its own that answers at once; yields its base URL."""
    async with running("benchmarks.instant_model") as process:
        yield await first_line(process)


async def _model_milliseconds(url: str) -> float:
    """A call of the model server without the product, median: a prompt of the usual size."""
    passage = "The fee is due within thirty days of the invoice. " * 40
    shown = "".join(f'[c{n}]\n[Source: "T" (id: a/b), Section: "S"]\n{passage}\n---\n' for n in range(1, 13))
    messages = [{"role": "system", "content": "answer"}, {"role": "user", "content": shown}]
    body = {"model": "gpt-4.1", "messages": messages, "max_tokens": 2048}
    taken = []
    async with httpx.AsyncClient(trust_env=False) as client:
        for _ in range(WARM_QUERIES):
            started = time.perf_counter()
            (await client.post(f"{url}/chat/completions", json=body)).raise_for_status()
            taken.append((time.perf_counter() - started) * 1000)
    return median(taken)


async def _ask(stack: Stack, questions: Sequence[str], at_once: int = 1) -> Asked:
    """Ask over REST, `at_once` at a time."""
    asked = Asked()
    waiting = iter(questions)
    async with httpx.AsyncClient(base_url=stack.url, trust_env=False, timeout=60) as client:

        async def work() -> None:
            for question in waiting:
                started = time.perf_counter()
                response = await client.post("/v1/query", json={"query": question})
                asked.milliseconds.append((time.perf_counter() - started) * 1000)
                asked.failed += response.is_error
                asked.refused += bool(response.is_success and response.json().get("refusal"))

        await asyncio.gather(*(work() for _ in range(at_once)))
    if asked.failed and at_once == 1:
        raise RuntimeError(f"{asked.failed} queries failed; see stack.log")
    return asked


async def _stream(stack: Stack, questions: Sequence[str]) -> Asked:
    """Rounds of concurrent streams over gRPC, each read to its end."""
    asked = Asked()
    async with clausegate.connect(stack.address) as client:

        async def read(question: str) -> None:
            started = time.perf_counter()
            try:
                events = [event async for event in client.stream_query(question)]
            except clausegate.ClausegateError:
                asked.failed += 1
                return
            asked.failed += not events[-1].HasField("completed")
            asked.milliseconds.append((time.perf_counter() - started) * 1000)

        for number in range(STREAM_ROUNDS):
            chosen = [questions[(number * STREAMS + i) % len(questions)] for i in range(STREAMS)]
            await asyncio.gather(*(read(question) for question in chosen))
    return asked


async def _ask_long(stack: Stack, questions: Sequence[str]) -> list[Figure]:
    """Memory over many queries."""
    many = [questions[i % len(questions)] for i in range(MANY_QUERIES)]
    started = time.perf_counter()
    first = await _ask(stack, many[:MEMORY_AFTER], AT_ONCE)
    before = tree_mebibytes(stack.pid)
    rest = await _ask(stack, many[MEMORY_AFTER:], AT_ONCE)
    after = tree_mebibytes(stack.pid)
    rate = MANY_QUERIES / (time.perf_counter() - started)
    return [
        Figure(f"{AT_ONCE} at once, rate", rate, "queries/s"),
        Figure("failed of them", first.failed + rest.failed, f"of {MANY_QUERIES:,}", "0"),
        Figure(f"resident memory after {MEMORY_AFTER:,} queries", before, "MiB"),
        Figure(f"resident memory after {MANY_QUERIES:,} queries", after, "MiB", "flat"),
    ]
