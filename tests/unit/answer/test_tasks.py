from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from chassis.auth import Caller
from chassis.errors import InvalidInput
from inference.chat.model import TokenUsage
from inference.tokens import TokenCounter
from services.answer.records.audit import Records
from services.answer.records.record_files import RecordFile, RecordWriter
from services.answer.records.rotation import FileLimits
from services.answer.records.tasks import Tasks
from services.answer.records.tracking import Clock, TaskName
from services.answer.records.usage import Price

CALLER = Caller("default", "anonymous")


@pytest.fixture
async def tasks(tmp_path):
    clock = Clock(
        now=lambda: datetime(2026, 1, 2, tzinfo=UTC),
        seconds=iter(range(1000)).__next__,
        new_id=lambda: "id",
        new_code=lambda: "0123456789abcdef",
    )
    async with RecordWriter() as writer:
        audit = RecordFile(tmp_path / "queries.jsonl", FileLimits(10_000, 1))
        debug = RecordFile(tmp_path / "debug.jsonl", FileLimits(10_000, 1))
        prices = {"m": Price(input=1, output=2)}
        yield Tasks(Records(writer, audit, debug), clock, TokenCounter("letters", len), prices)


def written(folder):
    return [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]


async def test_a_closed_task_is_recorded_with_its_tokens_and_their_cost(tasks, tmp_path):
    async with tasks.open(TaskName.SNIPPETS, text="fees", sources=["cme"], caller=CALLER) as task:
        task.ledger.record("snippets", "m", TokenUsage(1_000_000, 500_000), repair=False)
        await task.close(answer="One fee.", chunks_retrieved=8, chunks_used=1)
    (entry,) = written(tmp_path)
    assert (entry["task"], entry["query"], entry["answer"], entry["outcome"]) == (
        "snippets",
        "fees",
        "One fee.",
        "answered",
    )
    assert (entry["chunks_retrieved"], entry["chunks_used"]) == (8, 1)
    assert (entry["tokens_input"], entry["tokens_output"], entry["cost"]) == (1_000_000, 500_000, 2.0)


async def retrieve_and_fail(tasks):
    async with tasks.open(TaskName.ARTICLE, text="fees", caller=CALLER) as task:
        task.run.chunks_retrieved = 3
        raise KeyError("a defect")


async def test_a_task_that_is_left_by_an_error_records_what_was_known_of_it(tasks, tmp_path):
    with pytest.raises(KeyError):
        await retrieve_and_fail(tasks)
    (entry,) = written(tmp_path)
    assert (entry["outcome"], entry["error_reason"], entry["chunks_retrieved"]) == ("error", "INTERNAL", 3)


async def test_a_generator_that_is_closed_within_a_task_records_that_it_was_cancelled(tasks, tmp_path):
    async def events():
        async with tasks.open(TaskName.QUERY, text="fees", caller=CALLER):
            yield 1

    running = events()
    await anext(running)
    await running.aclose()
    assert [entry["outcome"] for entry in written(tmp_path)] == ["cancelled"]


@pytest.mark.parametrize("limit", [-0.01, float("nan"), float("inf"), float("-inf")])
async def test_a_limit_of_cost_that_is_none_is_refused_and_recorded(tasks, tmp_path, limit):
    with pytest.raises(InvalidInput) as caught:
        async with tasks.open(TaskName.REWRITE, text="fees", caller=CALLER, max_cost_usd=limit):
            raise AssertionError("never reached")
    assert caught.value.field == "max_cost_usd"
    assert [entry["error_reason"] for entry in written(tmp_path)] == ["INVALID_FIELD"]


async def test_metadata_tells_the_ids_and_times_of_the_task(tasks):
    async with tasks.open(TaskName.QUERIES, text="fees", caller=CALLER) as task:
        metadata = task.metadata(model="m", prompt_version="queries/1")
        await task.close(answer="")
    assert (metadata.query_id, metadata.model, metadata.prompt_version) == ("id", "m", "queries/1")
    assert (metadata.token_encoding, metadata.latency_seconds) == ("letters", 1)
