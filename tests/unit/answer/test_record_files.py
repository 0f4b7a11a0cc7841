from __future__ import annotations

import asyncio
import json
import resource
import signal

import pytest

from services.answer.records.record_files import RecordFile, RecordWriter
from services.answer.records.rotation import FileLimits


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_record_is_one_line_of_json(tmp_path):
    path = tmp_path / "logs" / "queries.jsonl"
    file = RecordFile(path, FileLimits(1000, 2))
    file.append([{"query": "Gebühr?\nline", "n": 1}])
    file.append([{"n": 2}])
    assert lines(path) == [{"query": "Gebühr?\nline", "n": 1}, {"n": 2}]


def test_a_file_is_nobody_elses_to_read(tmp_path):
    path = tmp_path / "queries.jsonl"
    RecordFile(path, FileLimits(1000, 2)).append([{"n": 1}])
    assert path.stat().st_mode & 0o027 == 0


def test_a_full_file_becomes_an_older_one_and_the_oldest_goes(tmp_path):
    path = tmp_path / "queries.jsonl"
    file = RecordFile(path, FileLimits(20, 2))
    for n in range(5):
        file.append([{"number": n}])
    kept = {one.name: lines(one) for one in sorted(tmp_path.iterdir())}
    assert kept == {
        "queries.jsonl": [{"number": 4}],
        "queries.jsonl.1": [{"number": 3}],
        "queries.jsonl.2": [{"number": 2}],
    }


def test_a_record_larger_than_the_limit_is_still_written(tmp_path):
    path = tmp_path / "queries.jsonl"
    RecordFile(path, FileLimits(10, 1)).append([{"query": "x" * 100}])
    assert lines(path) == [{"query": "x" * 100}]


def test_a_line_that_does_not_fit_on_the_disk_leaves_no_half_of_it(tmp_path):
    path = tmp_path / "queries.jsonl"
    file = RecordFile(path, FileLimits(1 << 20, 1))
    file.append([{"n": 1}])
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            file.append([{"query": "x" * 500}])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    file.append([{"n": 2}])
    assert lines(path) == [{"n": 1}, {"n": 2}]


async def test_a_record_that_was_begun_is_finished_when_its_query_is_cancelled(tmp_path):
    path = tmp_path / "queries.jsonl"
    async with RecordWriter() as writer:
        file = RecordFile(path, FileLimits(1000, 1))
        writing = asyncio.create_task(writer.append(file, {"n": 1}))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
    assert lines(path) == [{"n": 1}]
