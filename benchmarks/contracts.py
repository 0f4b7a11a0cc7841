"""Real contracts as benchmark material: chunks read by the product, and as many perturbed ones as wanted."""

from __future__ import annotations

import hashlib
import json
import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.chunks import Chunk, ChunkId
from corpus.documents import Document, DocumentFormat, DocumentId, Generation
from corpus.spans import Span
from corpus.stems import stems_of
from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.reading import Job, Reading, read
from services.retrieval.corpus import EmbeddedChunk

SOURCE = "cuad"


@dataclass(frozen=True, slots=True)
class Contract:
    """One file and what the product read of it."""

    path: Path
    reading: Reading


def contract_files(data: Path) -> list[Path]:
    """The development contracts, by name."""
    return sorted((data / "cuad/dev/corpus").glob("*.txt"))


def read_contract(path: Path) -> Contract:
    """Parse one contract, cut it and find its definitions."""
    return Contract(path, read(job_of(path), ignore))


def job_of(path: Path) -> Job:
    """The reading of one contract, to be done."""
    generation = Generation(hashlib.sha256(path.read_bytes()).hexdigest()[:32])
    origin = Origin(DocumentId(f"{SOURCE}/{path.name}"), SOURCE, path.name, generation, path.name)
    return Job(path, origin, ParsingLimits(), ChunkLimits())


def ignore(stage: str, done: int, total: int) -> None:
    """Nobody watches."""


def questions(data: Path, count: int) -> list[str]:
    """Clause questions about the contracts, without the part that names one, evenly spread over the set."""
    lines = (data / "cuad/dev/queries.jsonl").read_text().splitlines()
    asked = [json.loads(line)["question"].split("; ", 1)[1] for line in lines]
    return asked[:: max(1, len(asked) // count)][:count]


def full_questions(data: Path, count: int) -> list[tuple[str, str]]:
    """Questions as asked, each with the name of its contract's file."""
    rows = [json.loads(line) for line in (data / "cuad/dev/mini600.jsonl").read_text().splitlines()]
    return [(row["question"], row["scope"][0]) for row in rows[:: max(1, len(rows) // count)][:count]]


def documents(contracts: Sequence[Contract], chunk_count: int) -> Iterator[list[Chunk]]:
    """`chunk_count` chunks in documents: the contracts, then copies with every tenth word changed."""
    rng = random.Random(7)
    words = sorted(
        {
            word
            for contract in contracts[:20]
            for chunk in contract.reading.chunks
            for word in chunk.text.split()
        }
    )
    made = copy = 0
    while made < chunk_count:
        for contract in contracts:
            texts = [chunk.text for chunk in contract.reading.chunks][: chunk_count - made]
            if not texts:
                return
            if copy:
                texts = [_perturbed(text, words, rng) for text in texts]
            yield _chunks(f"{copy:03d}-{contract.path.name}", texts)
            made += len(texts)
        copy += 1


def _perturbed(text: str, words: Sequence[str], rng: random.Random) -> str:
    return " ".join(rng.choice(words) if rng.random() < 0.1 else word for word in text.split())


def _chunks(path: str, texts: Sequence[str]) -> list[Chunk]:
    chunks, start = [], 0
    for ordinal, text in enumerate(texts):
        span = Span(start, start + len(text))
        chunks.append(
            Chunk(
                chunk_id=ChunkId(str(uuid.uuid5(uuid.NAMESPACE_URL, f"{path}/{ordinal}"))),
                alias=f"{SOURCE}__{path}_{ordinal}",
                document_id=DocumentId(f"{SOURCE}/{path}"),
                generation=Generation("bench"),
                source=SOURCE,
                title=path,
                heading_chain=(),
                section=f"Section {ordinal + 1} of {len(texts)}",
                text=text,
                word_count=len(text.split()),
                span=span,
                sentences=(span,),
                pages=(),
                table_header="",
                content_sha256=hashlib.sha256(text.encode()).hexdigest(),
                is_definitions=False,
                ordinal=ordinal,
            )
        )
        start = span.end + 2
    return chunks


def document_of(chunks: Sequence[Chunk]) -> Document:
    """The document that these chunks are all of."""
    first = chunks[0]
    return Document(
        document_id=first.document_id,
        generation=first.generation,
        source=first.source,
        path=first.title,
        title=first.title,
        format=DocumentFormat.TEXT,
        content_sha256="0" * 64,
        size_bytes=sum(len(chunk.text) for chunk in chunks),
        page_count=0,
        unreadable_pages=(),
        chunk_count=len(chunks),
        definition_count=0,
    )


def unit_vectors(count: int, dimension: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Random directions around a common one, shape (count, dimension), unit norm."""
    common: NDArray[np.float64] = rng.normal(size=dimension)
    vectors = rng.normal(size=(count, dimension)) + 0.8 * common
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(unit, np.float32)


def embedded(chunks: Sequence[Chunk], rng: np.random.Generator, dimension: int) -> list[EmbeddedChunk]:
    """The chunks with two windows each, of synthetic vectors."""
    vectors = unit_vectors(2 * len(chunks), dimension, rng)
    made = []
    for number, chunk in enumerate(chunks):
        middle = (chunk.span.start + chunk.span.end) // 2
        windows = (Span(chunk.span.start, middle), Span(middle, chunk.span.end))
        own = vectors[2 * number : 2 * number + 2]
        made.append(EmbeddedChunk(chunk, windows, own, tuple(stems_of(chunk.text))))
    return made
