"""How fast files are read: pages of PDFs beside PyMuPDF alone, and chunks of contracts up to the index."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf

from benchmarks.contracts import Contract, contract_files, document_of, documents, embedded, read_contract
from benchmarks.measuring import Figure, median, stopwatch
from services.ingest.parsing import pdf
from services.ingest.parsing.tables import may_hold_table
from services.retrieval.store.embedded.store import open_store

ROUNDS = 5
DIMENSION = 384


def measure_pages(data: Path) -> list[Figure]:
    """Pages a second, ours and `get_text("dict")` in turn on the same page, the median of some rounds."""
    raw: dict[bool, float] = {False: 0.0, True: 0.0}
    ours: dict[bool, float] = {False: 0.0, True: 0.0}
    pages: dict[bool, int] = {False: 0, True: 0}
    for path in sorted((data / "cuad_pdf/dev/pdf").glob("*.pdf")):
        with pymupdf.open(path) as document:
            for number in range(document.page_count):
                page = document.load_page(number)
                candidate = may_hold_table(page, pdf.read_fragments(page))
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
    """Everything but embedding: parse, cut, find definitions, store and make visible."""
    with stopwatch() as seconds:
        contracts = [read_contract(path) for path in contract_files(data)]
        read_seconds = seconds()
    count = sum(len(contract.reading.chunks) for contract in contracts)
    store_seconds = await _store_seconds(contracts, count)
    return [
        Figure("contracts", len(contracts), "files"),
        Figure("chunks", count, "chunks"),
        Figure("parsed, cut, definitions found", count / read_seconds, "chunks/s"),
        Figure("stored and made visible", count / store_seconds, "chunks/s"),
        Figure(
            "all of it, one after the other", count / (read_seconds + store_seconds), "chunks/s", ">= 1,000"
        ),
    ]


async def _store_seconds(contracts: list[Contract], count: int) -> float:
    rng = np.random.default_rng(1)
    taken = 0.0
    with tempfile.TemporaryDirectory() as folder:
        store = await open_store(Path(folder), "benchmark", DIMENSION)
        for chunks in documents(contracts, count):
            batch = embedded(chunks, rng, DIMENSION)
            with stopwatch() as seconds:
                await store.put_chunks(chunks[0].version, batch)
                await store.commit(document_of(chunks))
                taken += seconds()
        await store.close()
    return taken
