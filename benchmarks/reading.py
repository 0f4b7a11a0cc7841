"""How fast files are read: pages of PDFs beside PyMuPDF alone, and chunks of contracts up to the index."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pymupdf

from benchmarks.contracts import (
    Contract,
    contract_files,
    document_of,
    documents,
    embedded,
    ignore,
    job_of,
    read_contract,
)
from benchmarks.measuring import Figure, stopwatch
from corpus.definitions import Definition
from corpus.stems import stems_of
from services.ingest.parsing import pdf
from services.ingest.parsing.pool import ChildLimits, parser_pool
from services.ingest.parsing.tables import may_hold_table
from services.ingest.reading import Job
from services.retrieval.corpus import EmbeddedChunk
from services.retrieval.store.embedded.store import EmbeddedStore, open_store

ROUNDS = 5
DIMENSION = 384
PARSERS = 2
"""The default of ingest."""
BATCH = 200


def measure_pages(data: Path) -> list[Figure]:
    """Pages a second, ours and `get_text("dict")` in turn on the same page, the median of some rounds."""
    pymupdf.no_recommend_layout()
    raw: dict[bool, float] = {False: 0.0, True: 0.0}
    ours: dict[bool, float] = {False: 0.0, True: 0.0}
    pages: dict[bool, int] = {False: 0, True: 0}
    for path in sorted((data / "cuad_pdf/dev/pdf").glob("*.pdf")):
        with pymupdf.open(path) as document:
            for number in range(document.page_count):
                page = document.load_page(number)
                text = pdf.read_text(page)
                candidate = may_hold_table(pdf.fragments_of(text), text.shapes)
                raw[candidate] += _median_seconds(lambda page: page.get_text("dict"), document, number)
                ours[candidate] += _median_seconds(pdf.read_content, document, number)
                pages[candidate] += 1
    figures = []
    for candidate, name in ((False, "without table candidates"), (True, "with table candidates")):
        if pages[candidate]:
            ratio = raw[candidate] / ours[candidate]
            target = ">= 0.85" if not candidate else ""
            figures += [
                Figure(f"pages {name}", pages[candidate], "pages"),
                Figure('  get_text("dict") alone', pages[candidate] / raw[candidate], "pages/s"),
                Figure("  read by ingest", pages[candidate] / ours[candidate], "pages/s"),
                Figure("  ratio", ratio, "", target),
            ]
    return figures


def _median_seconds(work: Callable[[Any], object], document: pymupdf.Document, number: int) -> float:
    times = []
    for _ in range(ROUNDS):
        page = document.load_page(number)
        with stopwatch() as seconds:
            work(page)
            times.append(seconds())
    return median(times)


async def measure_chunks(data: Path) -> list[Figure]:
    """Everything but embedding, as an upload does it: parse, cut, find definitions, store, make visible.

    Files are read in `PARSERS` child processes; uploads under way at once share commits of the index.
    """
    uploads = [_upload(read_contract(path)) for path in contract_files(data)]
    chunks = sum(len(upload.chunks) for upload in uploads)
    async with parser_pool(PARSERS, ChildLimits(), data) as parsers:
        # The children start before the clock does.
        await asyncio.gather(*(parsers.read(upload.job, ignore) for upload in uploads[:PARSERS]))
        read = await _seconds(uploads, lambda upload, _: parsers.read(upload.job, ignore), 2)
        stored = await _seconds(uploads, _store, 2)

        async def read_and_store(upload: Upload, store: EmbeddedStore) -> None:
            await parsers.read(upload.job, ignore)
            await _store(upload, store)

        two = await _seconds(uploads, read_and_store, 2)
        four = await _seconds(uploads, read_and_store, 4)
    return [
        Figure("contracts", len(uploads), "files"),
        Figure("chunks", chunks, "chunks"),
        Figure("parsed, cut, definitions found, alone", chunks / read, "chunks/s"),
        Figure("stemmed, stored and made visible, alone", chunks / stored, "chunks/s"),
        Figure("all of it, two uploads at once, as by default", chunks / two, "chunks/s", ">= 1,000"),
        Figure("all of it, four at once", chunks / four, "chunks/s", ">= 1,000"),
    ]


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to read, and what there is to store of it, with synthetic vectors."""

    job: Job
    chunks: list[EmbeddedChunk]
    definitions: list[Definition]


def _upload(contract: Contract) -> Upload:
    reading = contract.reading
    [chunks] = documents([contract], len(reading.chunks))
    definitions = [
        replace(definition, generation=chunks[0].generation, pages=()) for definition in reading.definitions
    ]
    rng = np.random.default_rng(1)
    return Upload(job_of(contract.path), embedded(chunks, rng, DIMENSION), definitions)


async def _seconds(
    uploads: Sequence[Upload], work: Callable[[Upload, EmbeddedStore], Awaitable[object]], at_once: int
) -> float:
    """Wall time of all uploads, so many `at_once`, into an empty index."""
    slots = asyncio.Semaphore(at_once)
    with tempfile.TemporaryDirectory() as folder:
        store = await open_store(Path(folder), "benchmark", DIMENSION)

        async def in_turn(upload: Upload) -> None:
            async with slots:
                await work(upload, store)

        with stopwatch() as seconds:
            await asyncio.gather(*(in_turn(upload) for upload in uploads))
            taken = seconds()
        await store.close()
    return taken


async def _store(upload: Upload, store: EmbeddedStore) -> None:
    chunks = upload.chunks
    version = chunks[0].chunk.version
    for start in range(0, len(chunks), BATCH):
        batch = [
            replace(embedded, stems=tuple(stems_of(embedded.chunk.text)))
            for embedded in chunks[start : start + BATCH]
        ]
        await store.put_chunks(version, batch)
    if upload.definitions:
        await store.put_definitions(version, upload.definitions)
    document = document_of([embedded.chunk for embedded in chunks])
    await store.commit(replace(document, definition_count=len(upload.definitions)))
