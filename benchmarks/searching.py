"""Hybrid search in process, warm, without the question's embedding and its background."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.contracts import (
    contract_files,
    documents,
    embedded,
    questions,
    read_contract,
    unit_vectors,
)
from benchmarks.filling import DIMENSION, put
from benchmarks.measuring import (
    Figure,
    milliseconds,
    percentile,
    resident_mebibytes,
    stopwatch,
)
from inference.embedding.model import TokenSpans
from inference.tokens import ESTIMATE
from services.retrieval.corpus import Scope
from services.retrieval.indexes import Index
from services.retrieval.lexicon import lexicon_stems, question_stems
from services.retrieval.queries import SearchQuery
from services.retrieval.store.embedded.store import open_store
from services.retrieval.store.port import Legs

QUESTIONS = 200


class GivenVectors:
    """An embedding model whose answers were made before, so that no model is timed."""

    name = "benchmark"
    host = ""
    dimension = DIMENSION
    max_tokens = 256

    def __init__(self, vectors: dict[str, NDArray[np.float32]], default: NDArray[np.float32]) -> None:
        self._vectors = vectors
        self._default = default

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of passages; not asked for here."""
        return np.stack([self._default for _ in texts])

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question."""
        return self._vectors.get(text, self._default)

    async def token_spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        """Tokens; not asked for here."""
        return [() for _ in texts]

    async def close(self) -> None:
        """Nothing to release."""


async def measure_search(data: Path, chunk_count: int, peer_python: Path | None) -> list[Figure]:
    """Build an index of `chunk_count` chunks and search it; LangChain beside it when its Python is given."""
    contracts = [read_contract(path) for path in contract_files(data)]
    asked = questions(data, QUESTIONS)
    rng = np.random.default_rng(3)
    vectors = unit_vectors(len(asked), DIMENSION, rng)
    with tempfile.TemporaryDirectory() as folder:
        idle = resident_mebibytes()
        store = await open_store(Path(folder), "benchmark", DIMENSION)
        with stopwatch() as seconds:
            for chunks in documents(contracts, chunk_count):
                await put(store, embedded(chunks, rng, DIMENSION))
            built = seconds()
        await store.close()
        store = await open_store(Path(folder), "benchmark", DIMENSION)
        with ThreadPoolExecutor(2) as executor:
            model = GivenVectors(dict(zip(asked, vectors, strict=True)), vectors[0])
            index = Index.over(store, model, ESTIMATE, executor)
            queries = [SearchQuery(text, route=False) for text in asked]
            searches = await milliseconds(index.searcher.search, queries)
            legs = [
                Legs(vector, 10, (question_stems(text), lexicon_stems(text)), 10)
                for text, vector in zip(asked, vectors, strict=True)
            ]
            legs_alone = await milliseconds(lambda wanted: store.search(wanted, Scope()), legs)
        memory = resident_mebibytes() - idle
        await store.close()
    most_milliseconds, most_mebibytes = ("<= 10", "<= 300") if chunk_count >= 100_000 else ("<= 3", "")
    figures = [
        Figure("chunks", chunk_count, "chunks"),
        Figure("built at", chunk_count / built, "chunks/s"),
        Figure("hybrid search, p50", median(searches), "ms", most_milliseconds),
        Figure("hybrid search, p95", percentile(searches, 0.95), "ms"),
        Figure("  of it the legs, p50", median(legs_alone), "ms"),
        Figure("resident memory above the idle process", memory, "MiB", most_mebibytes),
    ]
    if peer_python:
        texts = [chunk.text for chunks in documents(contracts, chunk_count) for chunk in chunks]
        figures += _peer(peer_python, texts, asked, vectors, median(searches))
    return figures


def _peer(
    python: Path, texts: list[str], asked: list[str], vectors: NDArray[np.float32], ours: float
) -> list[Figure]:
    rng = np.random.default_rng(4)
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(
            file.name,
            texts=np.array(texts),
            vectors=unit_vectors(len(texts), DIMENSION, rng),
            questions=np.array(asked[:40]),
            question_vectors=vectors[:40],
        )
        script = Path(__file__).with_name("peer.py")
        output = subprocess.run(
            [python, script, file.name], check=True, capture_output=True, text=True
        ).stdout
    report = json.loads(output)
    theirs = median(report["milliseconds"])
    return [
        Figure("LangChain ensemble (BM25, FAISS), p50", theirs, "ms"),
        Figure("  times ours", theirs / ours, ""),
        Figure("  resident memory above the idle process", report["mebibytes"], "MiB"),
    ]
