"""Fills a store through its port as uploads do, and finds by brute force what its vector leg should find."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.contracts import Contract, document_of, documents, embedded, unit_vectors
from benchmarks.measuring import stopwatch
from corpus.chunks import Chunk, ChunkId
from corpus.documents import Generation
from services.retrieval.corpus import EmbeddedChunk
from services.retrieval.store.port import Store

SEED = 3
DIMENSION = 384
K = 10
BATCH = 200
UPLOADS_AT_ONCE = 4
"""Uploads that run at once, as when the command line uploads a folder."""
PREPARED = 40
"""Documents whose vectors and stems are made while the clock stands."""
SOURCES = 10
"""Documents are dealt out to so many, so that the scope of one source is a tenth of them."""


class Nearest:
    """The chunks that are really nearest to each question, by their best window."""

    def __init__(self, questions: NDArray[np.float32]) -> None:
        """`questions` have shape (q, d), rows of unit norm."""
        self.questions = questions
        self._scores = np.full((len(questions), K), -np.inf, np.float32)
        self._ids = np.full((len(questions), K), "", object)

    def add(self, chunks: Sequence[EmbeddedChunk]) -> None:
        """Compare with some more chunks."""
        starts = np.cumsum([0, *(len(embedded.windows) for embedded in chunks[:-1])])
        windows = self.questions @ np.concatenate([embedded.vectors for embedded in chunks]).T
        scores = np.hstack([self._scores, np.maximum.reduceat(windows, starts, axis=1)])
        ids = np.hstack(
            [
                self._ids,
                np.tile(np.array([embedded.chunk.chunk_id for embedded in chunks], object), (len(scores), 1)),
            ]
        )
        best = np.argpartition(-scores, K - 1, axis=1)[:, :K]
        self._scores = np.take_along_axis(scores, best, axis=1)
        self._ids = np.take_along_axis(ids, best, axis=1)

    def recall(self, found: Sequence[Sequence[ChunkId]]) -> float:
        """The share of them that was found, over all questions."""
        pairs = zip(self._ids, found, strict=True)
        return sum(len(set(ids) & set(some)) for ids, some in pairs) / self._ids.size


def question_vectors(contracts: Sequence[Contract], count: int) -> NDArray[np.float32]:
    """Questions, each near a window that a store will be filled with (cosine about .7), shape (count, d)."""
    rng, noise = np.random.default_rng(SEED), np.random.default_rng(SEED + 1)
    sizes = [len(contract.reading.chunks) for contract in contracts]
    windows = [
        unit_vectors(2 * size, DIMENSION, rng)[0] for size in itertools.islice(itertools.cycle(sizes), count)
    ]
    asked = np.stack(windows) + noise.normal(size=(count, DIMENSION)) / np.sqrt(DIMENSION)
    return np.asarray(asked / np.linalg.norm(asked, axis=1, keepdims=True), np.float32)


@dataclass(frozen=True, slots=True)
class Filled:
    """What a store was filled with."""

    documents: int
    seconds: float
    """Time of the store's own work."""
    last: tuple[Chunk, ...]
    """The chunks of one document."""


async def fill(
    store: Store, contracts: Sequence[Contract], chunk_count: int, nearest: Nearest, rng: np.random.Generator
) -> Filled:
    """Put `chunk_count` chunks, a few documents at a time; only the store's own calls are timed."""
    slots = asyncio.Semaphore(UPLOADS_AT_ONCE)
    seconds, count = 0.0, 0

    async def upload(chunks: Sequence[EmbeddedChunk]) -> None:
        async with slots:
            await put(store, chunks)

    made = _in_sources(documents(contracts, chunk_count))
    while some := [embedded(chunks, rng, DIMENSION) for chunks in itertools.islice(made, PREPARED)]:
        for chunks in some:
            nearest.add(chunks)
        with stopwatch() as watch:
            await asyncio.gather(*map(upload, some))
            seconds += watch()
        count += len(some)
        last = some[-1]
    return Filled(count, seconds, tuple(embedded.chunk for embedded in last))


async def put(store: Store, chunks: Sequence[EmbeddedChunk]) -> None:
    """Make a document of these chunks visible."""
    for first in range(0, len(chunks), BATCH):
        await store.put_chunks(chunks[0].chunk.version, chunks[first : first + BATCH])
    await store.commit(document_of([embedded.chunk for embedded in chunks]))


def another_version(chunks: Sequence[Chunk], number: int, rng: np.random.Generator) -> list[EmbeddedChunk]:
    """The same document once more, of another generation."""
    renewed = [
        replace(
            chunk,
            generation=Generation(f"bench-{number}"),
            chunk_id=ChunkId(str(uuid.uuid5(uuid.UUID(chunk.chunk_id), str(number)))),
        )
        for chunk in chunks
    ]
    return embedded(renewed, rng, DIMENSION)


def _in_sources(made: Iterator[list[Chunk]]) -> Iterator[list[Chunk]]:
    for number, chunks in enumerate(made):
        yield [replace(chunk, source=f"source-{number % SOURCES}") for chunk in chunks]
