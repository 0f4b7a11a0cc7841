"""Opens and closes the calls of every task: one audit record each, one ledger, and metadata for its reply.

Everything that leaves the answer service leaves from within `async with tasks.open(...)`, after `task.close`.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from chassis.auth import Caller
from chassis.errors import InvalidInput
from chassis.telemetry import counter, current_trace_id, error_type, histogram, stage
from inference.tokens import TokenCounter
from services.answer.answers import Metadata, Outcome
from services.answer.records.audit import Ending, OpenRecord, Records
from services.answer.records.tracking import Clock, Run, TaskName
from services.answer.records.usage import Ledger, Price

_duration = histogram(__name__, "clausegate.task.duration", "Time of a task, until its answer may leave.")
_refusals = counter(__name__, "clausegate.refusals", "Answers that are refusals, by reason.", "{refusal}")


@dataclass(frozen=True, slots=True)
class Task:
    """A running call."""

    run: Run
    _record: OpenRecord
    _encoding: str

    @property
    def ledger(self) -> Ledger:
        """What this call has spent on models, and what it may spend yet."""
        return self.run.ledger

    @property
    def clock(self) -> Clock:
        """Where this call takes times, ids and codes from."""
        return self.run.clock

    async def close(
        self,
        *,
        answer: str,
        chunks_retrieved: int | None = None,
        chunks_used: int = 0,
        outcome: Outcome = Outcome.ANSWERED,
        refusal_reason: str | None = None,
    ) -> None:
        """Write the audit record; to be awaited before anything leaves.

        `answer` is what was said, for people. `chunks_retrieved` unset means what `run` has counted.
        Raises `AuditUnavailable`: then nothing may leave.
        """
        if chunks_retrieved is not None:
            self.run.chunks_retrieved = chunks_retrieved
        with stage("record"):
            await self._record.close(Ending(outcome.value, answer, chunks_used, refusal_reason))
        measure(self.run, {"clausegate.outcome": outcome.value})
        if refusal_reason:
            _refusals.add(1, {"clausegate.task": self.run.task, "clausegate.refusal_reason": refusal_reason})

    def metadata(
        self,
        *,
        model: str,
        prompt_version: str = "",
        grader: str = "",
        index_revision: str = "",
        normalized_query: str = "",
        context_tokens: int = 0,
    ) -> Metadata:
        """The metadata of the response; the call's latency is measured up to here."""
        return Metadata(
            query_id=self.run.query_id,
            trace_id=self.run.trace_id,
            context_tokens=context_tokens,
            token_encoding=self._encoding,
            model=model,
            grader=grader,
            index_revision=index_revision,
            normalized_query=normalized_query,
            finished_at=self.clock.now(),
            latency_seconds=self.run.stop(),
            prompt_version=prompt_version,
        )


class Tasks:
    """Opens calls."""

    def __init__(
        self, records: Records, clock: Clock, counter: TokenCounter, prices: Mapping[str, Price] | None = None
    ) -> None:
        """`prices` is the price table by model, see `Ledger`."""
        self._records = records
        self._clock = clock
        self._counter = counter
        self._prices = prices or {}

    @asynccontextmanager
    async def open(
        self,
        name: TaskName,
        *,
        text: str,
        caller: Caller,
        sources: Sequence[str] = (),
        max_cost_usd: float | None = None,
    ) -> AsyncIterator[Task]:
        """A call to run in; left without `Task.close` it records the error, or that it was cancelled.

        `text` is the caller's words, recorded as the settings say. Raises `InvalidInput` naming
        `max_cost_usd` unless that is None or a number from 0.
        """
        ledger = Ledger(self._prices, max_cost_usd)
        run = Run(name, text, tuple(sources), caller, current_trace_id(), self._clock, ledger)
        try:
            async with self._records.open(run) as record:
                check_max_cost(max_cost_usd)
                yield Task(run, record, self._counter.encoding)
        except BaseException as error:
            measure(run, {"clausegate.outcome": "failed", "error.type": error_type(error)})
            raise


def measure(run: Run, outcome: Mapping[str, str]) -> None:
    """Count a call that ended, once: what happens to it after its record is written is its caller's."""
    if not run.measured:
        run.measured = True
        _duration.record(run.stop(), {"clausegate.task": run.task, **outcome})


def check_max_cost(max_cost_usd: float | None) -> None:
    """Raise `InvalidInput` unless a limit is None (no limit) or a finite number of dollars, 0 and up."""
    if max_cost_usd is not None and not (math.isfinite(max_cost_usd) and max_cost_usd >= 0):
        raise InvalidInput("Must be a number of dollars, 0 and up.", field="max_cost_usd")
