"""Runs the benchmarks and prints their figures: `python -m benchmarks --data FOLDER`."""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from benchmarks.asking import measure_ingestion, measure_queries, measure_start
from benchmarks.entering import measure_entering
from benchmarks.measuring import Columns, Figure, show, show_beside
from benchmarks.observing import measure_telemetry
from benchmarks.reading import measure_chunks, measure_pages
from benchmarks.rendering import measure_rendering
from benchmarks.searching import measure_search
from benchmarks.stack import ROOT
from benchmarks.stores import measure_stores
from benchmarks.streams import measure_streams

CACHE = ROOT / ".cache/bench"
KEPT = CACHE / "cuad"
"""The index that `queries` fills, and `models` asks."""
PEERS = ROOT / "benchmarks/peers.txt"
Section = Callable[[Path, Path | None], Awaitable[list[Figure] | Columns]]
SECTIONS: dict[str, tuple[str, Section]] = {
    "pages": ("Pages of PDFs", lambda data, _: asyncio.to_thread(measure_pages, data)),
    "chunks": ("Contracts to chunks, nothing embedded", lambda data, _: measure_chunks(data)),
    "start": ("An empty stack", lambda *_: measure_start()),
    "entering": ("Being let in: a read with credentials and limits", lambda *_: measure_entering()),
    "streams": ("Five hundred streams held by four processes", lambda *_: measure_streams()),
    "ingestion": ("Ingestion, every eighth contract", lambda data, _: measure_ingestion(data)),
    "queries": ("Queries over the whole stack", lambda data, _: measure_queries(data, KEPT)),
    "models": ("Queries with a model that answers at once", lambda data, _: measure_rendering(data, KEPT)),
    "telemetry": ("Extractive queries, 4 at once, with telemetry", lambda *_: measure_telemetry()),
    "search-7k": ("Hybrid search, 7k chunks", lambda data, peer: measure_search(data, 7_000, peer)),
    "search-100k": ("Hybrid search, 100k chunks", lambda data, peer: measure_search(data, 100_000, peer)),
    "stores-10k": ("Both stores, 10k chunks", lambda data, _: measure_stores(data, 10_000)),
    "stores-100k": ("Both stores, 100k chunks", lambda data, _: measure_stores(data, 100_000)),
}

WITHOUT_DATA = {"telemetry", "start", "entering", "streams"}


def main() -> None:
    """Measure what was asked for, everything by default."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the development contracts")
    parser.add_argument("--only", default="", help=f"comma-separated, of {', '.join(SECTIONS)}")
    parser.add_argument(
        "--peers", action="store_true", help="install and measure LangChain beside the search"
    )
    arguments = parser.parse_args()
    sections = arguments.only.split(",") if arguments.only else list(SECTIONS)
    unknown = [section for section in sections if section not in SECTIONS]
    if unknown:
        parser.error(f"--only: unknown {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    if not WITHOUT_DATA.issuperset(sections) and (
        arguments.data is None or not (arguments.data / "cuad/dev").is_dir()
    ):
        parser.error(
            "--data: name the folder that holds cuad/dev; only these work without: " + ", ".join(WITHOUT_DATA)
        )
    asyncio.run(_run(sections, arguments.data, _peer_python() if arguments.peers else None))


async def _run(sections: Iterable[str], data: Path, peer: Path | None) -> None:
    for name in sections:
        title, measure = SECTIONS[name]
        measured = await measure(data, peer)
        if isinstance(measured, list):
            show(title, measured)
        else:
            show_beside(title, measured)


def _peer_python() -> Path:
    """The Python of an environment that holds the peers, made on first use."""
    environment = CACHE / "peers"
    python = environment / "bin/python"
    if not (environment / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", PEERS], check=True)
        (environment / ".ready").touch()
    return python


if __name__ == "__main__":
    main()
