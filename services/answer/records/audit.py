"""The records of every call: audit at every exit, and the debug record of a query beside it.

Policy: the audit record is on disk before anything of an answer leaves. When it cannot be written, on a full
or read-only disk, the call fails with UNAVAILABLE: an answer that nobody could account for later does not
leave. The debug record is a convenience: its failure is logged, and the call goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from chassis.errors import ServiceError, Unavailable
from services.answer.records.record_files import RecordLog, RecordWriter
from services.answer.records.texts import Texts
from services.answer.records.tracking import Run

logger = logging.getLogger(__name__)

MAX_RECORDED_SOURCES = 100


class AuditUnavailable(Unavailable):
    """The audit record could not be written."""

    reason = "AUDIT_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended."""

    name: str
    """`answered`, `related`, `refused`, `error` or `cancelled`."""
    answer: str = ""
    """What was said, for people; of a refusal its message alone, since what is missing names words of the
    question."""
    chunks_used: int = 0
    refusal_reason: str | None = None
    error_reason: str | None = None
    """The reason of the error, when the call ended with one."""


class Records:
    """Keeps the records of calls."""

    def __init__(
        self,
        writer: RecordWriter,
        queries: RecordLog,
        debug: RecordLog,
        *,
        texts: Texts | None = None,
        echo: bool = False,
    ) -> None:
        """`texts` says how words are recorded, plain if unset; `echo` logs every audit record as well."""
        self._writer = writer
        self._queries = queries
        self._debug = debug
        self._texts = texts or Texts()
        self._echo = echo

    def open(self, run: Run) -> OpenRecord:
        """An async context manager to run a call in: however it ends, its record is kept."""
        return OpenRecord(self, self._writer, run)

    async def write(self, run: Run, ending: Ending) -> None:
        """Write the records. Raises `AuditUnavailable` when the audit record is not on disk."""
        entry = self._audit_entry(run, ending)
        try:
            await self._writer.append(self._queries, entry)
        except OSError as failure:
            logger.exception("audit record not written")
            message = "The audit record cannot be written; no answer leaves without it."
            raise AuditUnavailable(message, retry_after_seconds=5.0) from failure
        if self._echo:
            logger.info("query", extra={"record": entry})
        if run.debug:
            await self._write_debug(run.debug())

    async def _write_debug(self, description: Mapping[str, object]) -> None:
        entry = {
            name: _iso(part) if isinstance(part, datetime) else self._texts.debug(part, name)
            for name, part in description.items()
        }
        try:
            await self._writer.append(self._debug, entry)
        except OSError:
            logger.exception("debug record not written")

    def _audit_entry(self, run: Run, ending: Ending) -> dict[str, object]:
        tokens = run.ledger.tokens
        return {
            "timestamp": _iso(run.began_at),
            "query_id": run.query_id,
            "task": run.task.value,
            "query": self._texts.question(run.text),
            "outcome": ending.name,
            "answer": self._texts.answer(ending.answer),
            "sources": run.sources[:MAX_RECORDED_SOURCES],
            "chunks_retrieved": run.chunks_retrieved,
            "chunks_used": ending.chunks_used,
            "tokens_input": tokens.prompt_tokens,
            "tokens_output": tokens.completion_tokens,
            "cost": run.ledger.cost_usd,
            "latency_ms": round(run.stop() * 1000, 3),
            "refused": ending.name == "refused",
            "refusal_reason": ending.refusal_reason,
            "error_reason": ending.error_reason,
            "sources_held": sorted(run.caller.sources),
            "tenant": run.caller.tenant,
            "user_id": run.caller.subject,
            "trace_id": run.trace_id,
        }


class OpenRecord:
    """The record of a running call: written once, by `close`, or on the way out without an answer."""

    def __init__(self, records: Records, writer: RecordWriter, run: Run) -> None:
        self._records = records
        self._writer = writer
        self._run = run
        self._written = False

    async def __aenter__(self) -> Self:
        """The call begins: the writer stays open for it."""
        self._writer.expect()
        return self

    async def close(self, ending: Ending) -> None:
        """Write the record of a finished call; to be awaited before anything of its answer leaves.

        Raises `AuditUnavailable` when it is not on disk.
        """
        self._written = True
        try:
            self._run.stop()
            await self._records.write(self._run, ending)
        finally:
            self._writer.settle()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Write the record of a call that ended before its answer."""
        if self._written:
            return
        try:
            await self.close(_ending_of(error))
        except AuditUnavailable:
            # Logged where it happened. The call fails already, and nothing of it leaves.
            return


def _ending_of(error: BaseException | None) -> Ending:
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return Ending("cancelled")
    return Ending("error", error_reason=error.reason if isinstance(error, ServiceError) else "INTERNAL")


def _iso(instant: datetime) -> str:
    """ISO 8601 in UTC with milliseconds, ending in Z."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
