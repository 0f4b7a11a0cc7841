from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime

import pytest

from chassis.auth import Caller
from chassis.errors import InvalidInput
from inference.chat.model import TokenUsage
from services.answer.answers import GateDecision, GateRule, GateTier
from services.answer.query.progress import Progress, describe
from services.answer.questions import Question
from services.answer.records.audit import AuditUnavailable, Ending, Records
from services.answer.records.chain import AuditLog
from services.answer.records.lines import Keys
from services.answer.records.record_files import RecordFile, RecordWriter
from services.answer.records.rotation import FileLimits
from services.answer.records.texts import TextMode, Texts
from services.answer.records.tracking import Clock, Run, TaskName
from services.answer.records.usage import Ledger, Price

CLOCK = Clock(
    now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    seconds=iter(range(1000)).__next__,
    new_id=lambda: "id",
    new_code=lambda: "0123456789abcdef",
)
GATE = GateDecision(True, False, GateTier.GRADED, GateRule.BELOW_THRESHOLD, 0.1, 0.2, 1, 0, None, True)
REFUSED = Ending(
    "refused", "This is not addressed in the provided documents.", refusal_reason="confidence_too_low"
)


def run(query: str = "What is the refund?", sources: tuple[str, ...] = ("cme",)) -> Run:
    caller = Caller("default", "anonymous")
    ledger = Ledger({"m": Price(input=2, output=8)})
    return Run(TaskName.QUERY, query, sources, caller, "ab" * 16, CLOCK, ledger)


def query_run(query: str = "What is the refund?") -> Run:
    """With a debug record, as a query has one."""
    running = run(query)
    progress = Progress(running, Question(query), "extractive", gate=GATE)
    running.debug = lambda: describe(progress)
    return running


@pytest.fixture
async def writer():
    async with RecordWriter() as writer:
        yield writer


def records(writer, folder, **options) -> Records:
    queries = AuditLog(folder, "replica-1", Keys(), FileLimits(10_000, 1))
    return Records(writer, queries, RecordFile(folder / "debug.jsonl", FileLimits(10_000, 1)), **options)


async def answer_and_raise(kept: Records, error: BaseException) -> None:
    async with kept.open(run()) as record:
        await record.close(Ending("answered"))
        raise error


def written(folder, name="queries-000000000001"):
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]


async def test_an_answer_is_recorded_once_with_the_listed_fields(writer, tmp_path):
    running = run()
    running.chunks_retrieved = 12
    running.ledger.record("answer", "m", TokenUsage(1000, 500), repair=False)
    async with records(writer, tmp_path).open(running) as record:
        await record.close(Ending("answered", "[CME] The fee is due. [1]", chunks_used=2))
    (entry,) = written(tmp_path)
    assert entry == {
        "timestamp": "2026-01-02T03:04:05.000Z",
        "query_id": "id",
        "task": "query",
        "query": "What is the refund?",
        "outcome": "answered",
        "answer": "[CME] The fee is due. [1]",
        "sources": ["cme"],
        "chunks_retrieved": 12,
        "chunks_used": 2,
        "tokens_input": 1000,
        "tokens_output": 500,
        "cost": 0.006,
        "latency_ms": 1000,
        "refused": False,
        "refusal_reason": None,
        "error_reason": None,
        "sources_held": [],
        "tenant": "default",
        "user_id": "anonymous",
        "trace_id": "ab" * 16,
        "chain": "replica-1",
        "sequence": 1,
        "previous": "0" * 64,
        "hash": entry["hash"],
    }


async def test_a_refusal_is_recorded_with_its_reason(writer, tmp_path):
    async with records(writer, tmp_path).open(run()) as record:
        await record.close(REFUSED)
    (entry,) = written(tmp_path)
    assert (entry["outcome"], entry["refused"], entry["refusal_reason"], entry["answer"]) == (
        "refused",
        True,
        "confidence_too_low",
        "This is not addressed in the provided documents.",
    )


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (InvalidInput("no", field="query"), "error", "INVALID_FIELD"),
        (KeyError("a defect"), "error", "INTERNAL"),
        (asyncio.CancelledError(), "cancelled", None),
        (GeneratorExit(), "cancelled", None),
    ],
)
async def test_a_query_without_an_answer_is_recorded_once_on_its_way_out(
    writer, tmp_path, error, outcome, reason
):
    with pytest.raises(type(error)):
        async with records(writer, tmp_path).open(run()):
            raise error
    (entry,) = written(tmp_path)
    assert (entry["outcome"], entry["error_reason"], entry["answer"]) == (outcome, reason, "")


async def test_what_goes_wrong_after_the_answer_was_recorded_adds_no_record(writer, tmp_path):
    with pytest.raises(GeneratorExit):
        await answer_and_raise(records(writer, tmp_path), GeneratorExit())
    assert [entry["outcome"] for entry in written(tmp_path)] == ["answered"]


async def test_an_answer_that_cannot_be_recorded_is_not_given(writer, tmp_path, caplog):
    (tmp_path / "logs").write_text("a file where the folder should be")
    caplog.set_level(logging.CRITICAL)
    with pytest.raises(AuditUnavailable):
        await answer_and_raise(records(writer, tmp_path / "logs"), KeyError("never reached"))


async def test_a_failure_keeps_its_own_error_when_it_cannot_be_recorded(writer, tmp_path, caplog):
    (tmp_path / "logs").write_text("a file where the folder should be")
    with caplog.at_level(logging.CRITICAL), pytest.raises(InvalidInput):
        async with records(writer, tmp_path / "logs").open(run()):
            raise InvalidInput("no", field="query")


@pytest.mark.parametrize(
    ("how", "recorded"),
    [
        (TextMode.PLAIN, "fee?"),
        (TextMode.HASH, "sha256:"),
        (TextMode.OMIT, ""),
    ],
)
async def test_the_words_of_a_question_are_recorded_as_set_in_both_files(writer, tmp_path, how, recorded):
    async with records(writer, tmp_path, texts=Texts(how)).open(query_run("fee?")) as record:
        await record.close(REFUSED)
    (audit,), (debug,) = written(tmp_path), written(tmp_path, "debug")
    assert audit["query"] == debug["original_query"]
    assert audit["query"][:7] == recorded[:7]
    assert ("fee" in (tmp_path / "queries-000000000001.jsonl").read_text()) == (how is TextMode.PLAIN)


async def test_records_are_echoed_when_asked_for(writer, tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        async with records(writer, tmp_path, echo=True).open(run()) as record:
            await record.close(Ending("answered"))
    assert [vars(log)["record"]["query"] for log in caplog.records if log.message == "query"] == [
        "What is the refund?"
    ]


async def test_a_question_beyond_the_limit_is_recorded_up_to_it(writer, tmp_path):
    with pytest.raises(InvalidInput):
        async with records(writer, tmp_path).open(run("x" * 9_000, ("cme",) * 900)):
            raise InvalidInput("too long", field="query")
    (entry,) = written(tmp_path)
    assert (len(entry["query"]), len(entry["sources"])) == (8_000, 100)


async def test_the_debug_record_tells_how_far_a_query_came(writer, tmp_path):
    async with records(writer, tmp_path).open(query_run()) as record:
        await record.close(REFUSED)
    (entry,) = written(tmp_path, "debug")
    assert entry["confidence_gate"] == {
        "enabled": True,
        "passed": False,
        "tier": 1,
        "top_score": 0.1,
        "threshold": 0.2,
        "min_chunks_required": 1,
        "chunks_above_threshold": 0,
    }
    assert entry["budget"] is None
    assert entry["answer_generated"] is False


async def test_a_call_that_is_no_query_has_no_debug_record(writer, tmp_path):
    async with records(writer, tmp_path).open(run()) as record:
        await record.close(Ending("answered"))
    assert not (tmp_path / "debug.jsonl").exists()


async def test_a_call_that_ends_while_the_service_stops_is_recorded(tmp_path):
    loop, cancelled = asyncio.get_running_loop(), asyncio.Event()

    async def hang():
        async with records(writer, tmp_path).open(query_run()):
            await cancelled.wait()
            raise asyncio.CancelledError

    async with RecordWriter() as writer:
        call = asyncio.create_task(hang())
        await asyncio.sleep(0)
        loop.call_later(0.1, cancelled.set)
    with pytest.raises(asyncio.CancelledError):
        await call

    assert [entry["outcome"] for entry in written(tmp_path)] == ["cancelled"]
    assert len(written(tmp_path, "debug")) == 1


async def test_a_call_that_never_ends_does_not_keep_the_service_from_stopping(tmp_path, caplog):
    async def hang():
        async with records(writer, tmp_path).open(run()):
            await asyncio.Event().wait()

    async with RecordWriter(patience_seconds=0) as writer:
        call = asyncio.create_task(hang())
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert [log.message for log in caplog.records] == [
        "stopping without records of open calls",
        "audit record not written",
    ]
