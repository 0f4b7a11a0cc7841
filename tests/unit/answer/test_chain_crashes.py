"""A process that writes a chain, killed with -9 at any moment: what it told is there, the chain is whole."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from services.answer.records.lines import Keys
from services.answer.records.rotation import segments
from services.answer.records.verification import verify
from services.answer.verification.signing import SigningKey

KEYS = Keys([SigningKey("k1", b"1" * 32)])
WRITER = """
import asyncio, sys
from pathlib import Path
from services.answer.records.chain import AuditLog
from services.answer.records.lines import Keys
from services.answer.records.record_files import RecordWriter
from services.answer.records.rotation import FileLimits
from services.answer.verification.signing import SigningKey

async def main():
    keys = Keys([SigningKey("k1", b"1" * 32)])
    log = AuditLog(Path(sys.argv[1]), "killed-1", keys, FileLimits(9_000, 99_999))
    log.open()
    async with RecordWriter() as writer:
        async def ask(client):
            number = 0
            while True:
                number += 1
                name = f"{sys.argv[2]}-{client}-{number}"
                await writer.append(log, {"timestamp": "2026-01-02T03:04:05.000Z", "name": name})
                print(name, flush=True)
        await asyncio.gather(*(ask(client) for client in range(8)))

asyncio.run(main())
"""


def told_by_killed(folder: Path, run: int, seconds: float) -> list[str]:
    """Records that a process has told of before it was killed, that many seconds after the first."""
    command = [sys.executable, "-c", WRITER, str(folder), str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(seconds)
        process.kill()
        # The last line may be half of one.
        return (first + process.stdout.read()).split("\n")[:-1]


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.soak)])
def test_a_chain_whose_writer_is_killed_again_and_again_is_whole_and_has_all_that_was_told(tmp_path, kills):
    chance, told = random.Random(kills), set[str]()
    for run in range(kills):
        told |= set(told_by_killed(tmp_path, run, chance.uniform(0, 0.15)))
        (chain,) = verify([tmp_path], KEYS).chains
        assert chain.violation is None
    written = [
        json.loads(line)["name"]
        for file in segments(tmp_path)
        for line in file.read_text().splitlines(keepends=True)
        if line.endswith("\n")
    ]
    assert told <= set(written)
    assert len(written) == len(set(written)) == chain.records
    assert chain.records > kills
