"""One store alone in a process: `python -m benchmarks.one_store ENGINE CHUNKS FOLDER` prints JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import median
from typing import get_args

import numpy as np

from benchmarks.contracts import contract_files, questions, read_contract
from benchmarks.engines import Engine, forget, opened, server_pid
from benchmarks.filling import (
    DIMENSION,
    SEED,
    Filled,
    K,
    Nearest,
    another_version,
    fill,
    put,
    question_vectors,
)
from benchmarks.measuring import (
    Figure,
    milliseconds,
    percentile,
    processor_milliseconds,
    resident_mebibytes,
    stopwatch,
)
from benchmarks.searching import GivenVectors
from inference.tokens import ESTIMATE
from services.retrieval.corpus import Scope
from services.retrieval.indexes import Index
from services.retrieval.lexicon import lexicon_stems, question_stems
from services.retrieval.normalisation import normalise
from services.retrieval.queries import SearchQuery
from services.retrieval.store.port import Legs, Store
from services.retrieval.terms import DefinedTerms

QUESTIONS = 200
REPLACED = 20
AT_ONCE = 8
PAGE = 1000
"""Documents of a page, as the overview reads them."""
SOURCE = "source-3"


async def measure(engine: Engine, chunk_count: int, data: Path) -> list[Figure]:
    """Fill a store with `chunk_count` chunks, ask it, list it, and change it."""
    contracts = [read_contract(path) for path in contract_files(data)]
    asked = questions(data, QUESTIONS)
    nearest = Nearest(question_vectors(contracts, len(asked)))
    terms = DefinedTerms.of(())
    known = {normalise(text, terms): vector for text, vector in zip(asked, nearest.questions, strict=True)}
    model = GivenVectors(known, nearest.questions[0])
    rng = np.random.default_rng(SEED)
    server = server_pid(engine)
    idle, server_idle = resident_mebibytes(), resident_mebibytes(server) if server else 0.0
    try:
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as executor:
            async with _opened(engine, folder) as store:
                filled = await fill(store, contracts, chunk_count, nearest, rng)
            opening = time.perf_counter()
            async with _opened(engine, folder) as store:  # once more: without what filling left in memory
                opened_seconds = time.perf_counter() - opening
                index = Index.over(store, model, ESTIMATE, executor)
                figures = [
                    Figure("filled, four documents at once", chunk_count / filled.seconds, "chunks/s"),
                    Figure("opened again", opened_seconds * 1000, "ms"),
                    *await _overview(index, filled.documents),
                    *await _searches(index, asked, nearest, filled),
                    *await _rate(index, asked, server),
                    *_memory(server, idle, server_idle),
                    *await _lists(store),
                    *await _changes(index, filled, rng),
                ]
                await index.overviews.close()
    finally:
        await forget(engine)
    return figures


@asynccontextmanager
async def _opened(engine: Engine, folder: str) -> AsyncIterator[Store]:
    async with opened(engine, Path(folder), DIMENSION) as stores:
        yield await stores.for_tenant("benchmark")


async def _overview(index: Index, documents: int) -> list[Figure]:
    with stopwatch() as watch:
        await index.overviews.refresh()
        seconds = watch()
    return [
        Figure("documents", documents, "documents"),
        Figure("overview of all documents, first", seconds * 1000, "ms"),
    ]


async def _searches(index: Index, asked: Sequence[str], nearest: Nearest, filled: Filled) -> list[Figure]:
    store, last = index.store, filled.last[0]
    legs = [
        Legs(vector, K, (question_stems(text), lexicon_stems(text)), K)
        for text, vector in zip(asked, nearest.questions, strict=True)
    ]
    found = [[hit.chunk_id for hit in (await store.search(wanted, Scope())).vector] for wanted in legs]
    figures = [Figure("recall@10 of the vector leg", nearest.recall(found), "")]
    for where, scope in (
        ("everywhere", Scope()),
        ("in a tenth, by source", Scope(sources=(SOURCE,))),
        ("in one document", Scope(document_ids=(last.document_id,))),
    ):
        alone = await milliseconds(partial(_ask, store, scope), legs)
        queries = [SearchQuery(text, scope, background=True) for text in asked]
        figures += _percentiles(f"legs {where}", alone)
        figures += _percentiles(f"whole search {where}", await milliseconds(index.searcher.search, queries))
    return figures


async def _ask(store: Store, scope: Scope, legs: Legs) -> None:
    await store.search(legs, scope)


def _percentiles(name: str, taken: Sequence[float]) -> list[Figure]:
    return [
        Figure(f"{name}, p50", median(taken), "ms"),
        Figure(f"{name}, p95", percentile(taken, 0.95), "ms"),
    ]


async def _rate(index: Index, asked: Sequence[str], server: int | None) -> list[Figure]:
    """Searches at once, and the processor time of each, which holds on a busy machine, too."""
    waiting = iter(asked)

    async def work() -> None:
        for text in waiting:
            await index.searcher.search(SearchQuery(text, background=True))

    own, servers = processor_milliseconds(), processor_milliseconds(server) if server else 0.0
    with stopwatch() as watch:
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        seconds = watch()
    figures = [
        Figure(f"whole search everywhere, {AT_ONCE} at once", len(asked) / seconds, "searches/s"),
        Figure("  processor time of one", (processor_milliseconds() - own) / len(asked), "ms"),
    ]
    if server:
        taken = processor_milliseconds(server) - servers
        figures.append(Figure("  and of the server for it", taken / len(asked), "ms"))
    return figures


def _memory(server: int | None, idle: float, server_idle: float) -> list[Figure]:
    figures = [Figure("resident memory above the idle process", resident_mebibytes() - idle, "MiB")]
    if server:
        resident = resident_mebibytes(server)
        figures += [
            Figure("resident memory of the server", resident, "MiB"),
            Figure("  of it since the start", resident - server_idle, "MiB"),
        ]
    return figures


async def _lists(store: Store) -> list[Figure]:
    async def documents(_: int) -> None:
        after = None
        while page := await store.documents(Scope(), after, PAGE):
            after = page[-1].document_id

    words = question_stems("termination notice")
    return [
        Figure(f"{name}, p50", median(await milliseconds(work, range(REPLACED))), "ms")
        for name, work in (
            ("revision", lambda _: store.revision()),
            ("all documents in pages", documents),
            ("sources", lambda _: store.sources()),
            ("counts", lambda _: store.counts()),
            ("coverage", lambda _: store.coverage(Scope())),
            ("chunks that hold two words, counted", lambda _: store.count_term(words, Scope())),
        )
    ]


async def _changes(index: Index, filled: Filled, rng: np.random.Generator) -> list[Figure]:
    replaced, refreshed = [], []
    for number in range(REPLACED):
        chunks = another_version(filled.last, number, rng)
        with stopwatch() as watch:
            await put(index.store, chunks)
            replaced.append(watch() * 1000)
        revision = await index.store.revision()
        with stopwatch() as watch:
            await index.overviews.at(revision)
            refreshed.append(watch() * 1000)
    return [
        Figure(f"a document of {len(filled.last)} chunks replaced, p50", median(replaced), "ms"),
        Figure("overview after it, p50", median(refreshed), "ms"),
    ]


def main() -> None:
    """Measure the engine of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_store", description=__doc__)
    parser.add_argument("engine", choices=get_args(Engine))
    parser.add_argument("chunks", type=int)
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    figures = asyncio.run(measure(arguments.engine, arguments.chunks, arguments.data))
    print(json.dumps([asdict(figure) for figure in figures]))


if __name__ == "__main__":
    main()
