"""Both stores beside each other: how fast they fill, search, list and change, and what they keep in memory.

Each is measured in a process of its own, one after the other, with the same chunks, vectors, questions and
calls of the port.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import get_args

from benchmarks.engines import Engine, Measured
from benchmarks.measuring import Columns, Figure
from benchmarks.stack import ROOT


async def measure_stores(data: Path, chunk_count: int) -> Columns:
    """The figures of each engine; Weaviate's only when the environment names a server."""
    return {
        engine: await _alone(engine, data, chunk_count)
        if engine == "embedded" or Measured().has_weaviate
        else None
        for engine in get_args(Engine)
    }


async def _alone(engine: Engine, data: Path, chunk_count: int) -> list[Figure]:
    command = (sys.executable, "-m", "benchmarks.one_store", engine, str(chunk_count), str(data))
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"the measurement of {engine} ended with {process.returncode}")
    return [Figure(**figure) for figure in json.loads(output)]
