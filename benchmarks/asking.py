"""The whole stack as its users meet it: start, idle memory, ingestion, queries through the gateway."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median

import httpx

import clausegate
from benchmarks.contracts import SOURCE, Contract, contract_files, full_questions, read_contract
from benchmarks.measuring import Figure, percentile, stopwatch, tree_mebibytes
from benchmarks.stack import Stack, running_stack
from cli.folders import scan
from cli.ingestion import Choices, Outcome, Watcher, ingest_folder
from inference.embedding.local import LocalEmbedding
from inference.fetch import DEFAULT_MODEL_DIR, MODEL_FOLDER
from services.retrieval.windows import cut_windows

MODEL = DEFAULT_MODEL_DIR.expanduser() / MODEL_FOLDER
QUERIES = 300
WARM_QUERIES = 30
SAMPLE = slice(0, None, 8)
"""Contracts that ingestion is timed on; all of them embed for about ten minutes."""


async def measure_start() -> list[Figure]:
    """An empty stack: how soon it is ready, and what it holds when nobody asks."""
    with tempfile.TemporaryDirectory() as folder:
        async with running_stack(Path(folder)) as stack:
            await asyncio.sleep(2)
            return [
                Figure("ready after", stack.ready_seconds, "s", "<= 3"),
                Figure("resident memory, idle", tree_mebibytes(stack.pid), "MiB", "<= 350"),
            ]


async def measure_ingestion(data: Path) -> list[Figure]:
    """A sample of the contracts as the command line ingests them, and their windows embedded alone."""
    with tempfile.TemporaryDirectory() as folder:
        contracts = Path(folder) / "files" / SOURCE
        contracts.mkdir(parents=True)
        for file in contract_files(data)[SAMPLE]:
            shutil.copy(file, contracts)
        async with running_stack(Path(folder) / "data") as stack:
            seconds = await _ingest(stack, contracts)
            async with clausegate.connect(stack.address) as client:
                index = await client.describe_index()
        raw = await _embedding_rate([read_contract(file) for file in sorted(contracts.glob("*.txt"))])
    ours = index.window_count / seconds
    return [
        Figure("contracts", index.document_count, "files"),
        Figure("windows embedded", index.window_count, "windows"),
        Figure("ingested by the command line", ours, "windows/s"),
        Figure("embedding model alone", raw, "windows/s"),
        Figure("ratio", ours / raw, "", ">= 0.85"),
    ]


async def _ingest(stack: Stack, folder: Path) -> float:
    """Seconds until the index shows the folder's files, as `clausegate ingest` does it once it runs."""
    async with clausegate.connect(stack.address) as client:
        with stopwatch() as seconds:
            results = await ingest_folder(
                client, scan(folder, SOURCE).files, Choices(False, False), Watcher()
            )
            taken = seconds()
    failed = [result for result in results if result.outcome is Outcome.FAILED]
    if failed:
        raise RuntimeError(f"{len(failed)} files failed, the first: {failed[0]}")
    return taken


async def _embedding_rate(contracts: list[Contract]) -> float:
    model = LocalEmbedding(MODEL)
    texts = []
    for chunk in (chunk for contract in contracts for chunk in contract.reading.chunks):
        (tokens,) = await model.token_spans([chunk.text])
        ends = [sentence.end - chunk.span.start for sentence in chunk.sentences]
        texts += [chunk.text[window.start : window.end] for window in cut_windows(chunk.text, tokens, ends)]
    with stopwatch() as seconds:
        await model.embed(texts)
        taken = seconds()
    await model.close()
    return len(texts) / taken


async def measure_queries(data: Path, kept: Path) -> list[Figure]:
    """Queries about all contracts, one after the other, over a stack whose index stays in `kept`."""
    async with running_stack(kept) as stack:
        await _ingest(stack, data / "cuad/dev/corpus")
        unchanged = await _ingest(stack, data / "cuad/dev/corpus")
        async with clausegate.connect(stack.address) as client:
            index = await client.describe_index()
        milliseconds = await _ask(stack, data)
        memory = tree_mebibytes(stack.pid)
    return [
        Figure("chunks", index.chunk_count, "chunks"),
        Figure("the unchanged folder again", unchanged, "s", "<= 1"),
        Figure("query through the gateway, p50", median(milliseconds), "ms", "<= 50"),
        Figure("query through the gateway, p95", percentile(milliseconds, 0.95), "ms", "<= 120"),
        Figure("resident memory after the queries", memory, "MiB"),
    ]


async def _ask(stack: Stack, data: Path) -> list[float]:
    milliseconds = []
    async with httpx.AsyncClient(base_url=stack.url, trust_env=False) as client:
        for number, (question, _) in enumerate(full_questions(data, QUERIES + WARM_QUERIES)):
            started = time.perf_counter()
            response = await client.post("/v1/query", json={"query": question})
            response.raise_for_status()
            if number >= WARM_QUERIES:
                milliseconds.append((time.perf_counter() - started) * 1000)
    return milliseconds
