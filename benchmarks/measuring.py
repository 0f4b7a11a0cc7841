"""What every benchmark needs: figures with their targets, percentiles, and the memory of processes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value."""

    name: str
    value: float
    unit: str
    target: str = ""
    """What the product promises, in words; empty for figures that only explain."""


def show(title: str, figures: Sequence[Figure]) -> None:
    """Print a benchmark's figures as a table."""
    print(f"\n{title}")
    for figure in figures:
        value = f"{figure.value:,.0f}" if abs(figure.value) >= 100 else f"{figure.value:.3g}"
        print(f"  {figure.name:<58} {value:>9} {figure.unit:<10} {figure.target}".rstrip(), flush=True)


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """Yields a function that tells the seconds since it was entered."""
    start = time.perf_counter()
    yield lambda: time.perf_counter() - start


def median(seconds: Sequence[float]) -> float:
    """The middle of the values; the mean of the middle two of an even number."""
    return statistics.median(seconds)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def resident_mebibytes(pid: int | str = "self") -> float:
    """Resident memory of one process now."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 1024


def tree_mebibytes(pid: int) -> float:
    """Resident memory of a process and its children now."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return resident_mebibytes(pid) + sum(tree_mebibytes(int(child)) for child in children)
