"""What every benchmark needs: figures with their targets, percentiles, and the memory of processes."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

WARM = 20
"""Items that are done once before the clock counts."""
LISTENING = "0A"
"""State of a socket in /proc/net/tcp."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value."""

    name: str
    value: float
    unit: str
    target: str = ""
    """What the product promises, in words; empty for figures that only explain."""


Columns = Mapping[str, Sequence[Figure] | None]
"""The same figures of several competitors, by name; None for one that was not measured."""


def show(title: str, figures: Sequence[Figure]) -> None:
    """Print a benchmark's figures as a table."""
    print(f"\n{title}")
    for figure in figures:
        value = _shown(figure.value)
        print(f"  {figure.name:<58} {value:>9} {figure.unit:<10} {figure.target}".rstrip(), flush=True)


def show_beside(title: str, columns: Columns) -> None:
    """Print figures beside each other; competitors may lack some of them."""
    print(f"\n{title}")
    print(f"  {'':<58}" + "".join(f" {name:>14}" for name in columns))
    measured = sorted(filter(None, columns.values()), key=len, reverse=True)  # rows as the longest has them
    for name, unit in dict.fromkeys((figure.name, figure.unit) for figures in measured for figure in figures):
        cells = [_cell(figures, name) for figures in columns.values()]
        print(f"  {name:<58}" + "".join(f" {cell:>14}" for cell in cells) + f" {unit}", flush=True)


def _cell(figures: Sequence[Figure] | None, name: str) -> str:
    if figures is None:
        return "not measured"
    return next((_shown(figure.value) for figure in figures if figure.name == name), "-")


def _shown(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """Yields a function that tells the seconds since it was entered."""
    start = time.perf_counter()
    yield lambda: time.perf_counter() - start


async def milliseconds(work: Callable[[Item], Awaitable[object]], items: Sequence[Item]) -> list[float]:
    """How long each item takes, one after the other, the first `WARM` of them twice."""
    for item in items[:WARM]:
        await work(item)
    taken = []
    for item in items:
        started = time.perf_counter()
        await work(item)
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (above 0, to 1) of the values do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def resident_mebibytes(pid: int | str = "self") -> float:
    """Resident memory of one process now."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 1024


def processor_milliseconds(pid: int | str = "self") -> float:
    """Processor time that a process has taken, in itself and for it in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def tree_mebibytes(pid: int) -> float:
    """Resident memory of a process and its children now."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return resident_mebibytes(pid) + sum(tree_mebibytes(int(child)) for child in children)


def listening_pid(port: int) -> int | None:
    """The process of this machine that listens on a TCP port; None without one, or when it is not ours."""
    inodes = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{fields[9]}]")
    for handle in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if str(handle.readlink()) in inodes:
                return int(handle.parts[2])
        except OSError:  # a process that ended, or that we may not look into
            continue
    return None
