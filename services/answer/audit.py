"""The records of every query: audit (LI-51) and debug (LI-50), one of each at every exit.

Policy: the audit record is on disk before anything of an answer leaves. When it cannot be written, on a full
or read-only disk, the query fails with UNAVAILABLE: an answer that nobody could account for later does not
leave. The debug record is a convenience: its failure is logged, and the query goes on.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Self

from chassis.errors import ServiceError, Unavailable
from services.answer.record_files import RecordFile, RecordWriter
from services.answer.tracking import Progress, debug_record

logger = logging.getLogger(__name__)

MAX_RECORDED_CHARACTERS = 8_000
"""A question that is too long to be asked is recorded up to here."""


class QueryText(StrEnum):
    """How the words of a question are recorded."""

    PLAIN = "plain"
    HASH = "hash"
    """As `sha256:` and 64 hexadecimal digits: equal questions can be told, short ones guessed."""
    OMIT = "omit"


class AuditUnavailable(Unavailable):
    """The audit record could not be written."""

    reason = "AUDIT_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a query ended: `answered`, `refused`, `error` or `cancelled`; the reason belongs to an error."""

    name: str
    error_reason: str | None = None


class Records:
    """Keeps the records of queries."""

    def __init__(
        self,
        writer: RecordWriter,
        queries: RecordFile,
        debug: RecordFile,
        *,
        query_text: QueryText = QueryText.PLAIN,
        echo: bool = False,
    ) -> None:
        """`echo` logs every audit record as well."""
        self._writer = writer
        self._queries = queries
        self._debug = debug
        self._query_text = query_text
        self._echo = echo

    def open(self, progress: Progress) -> OpenRecord:
        """An async context manager to run a query in: however it ends, its record is kept."""
        return OpenRecord(self, progress)

    async def write(self, progress: Progress, outcome: Outcome) -> None:
        """Write both records. Raises `AuditUnavailable` when the audit record is not on disk."""
        entry = self._audit_entry(progress, outcome)
        try:
            await self._writer.append(self._queries, entry)
        except OSError as failure:
            logger.exception("audit record not written")
            message = "The audit record cannot be written; no answer leaves without it."
            raise AuditUnavailable(message, retry_after_seconds=5.0) from failure
        if self._echo:
            logger.info("query", extra={"record": entry})
        await self._write_debug(progress)

    async def _write_debug(self, progress: Progress) -> None:
        entry = asdict(debug_record(progress))
        entry["timestamp"] = _iso(progress.began_at)
        for name in ("original_query", "normalized_query"):
            entry[name] = self._recorded(entry[name])
        try:
            await self._writer.append(self._debug, entry)
        except OSError:
            logger.exception("debug record not written")

    def _audit_entry(self, progress: Progress, outcome: Outcome) -> dict[str, object]:
        answer = progress.answer if outcome.name in ("answered", "refused") else None
        refusal = answer.refusal if answer else None
        return {
            "timestamp": _iso(progress.began_at),
            "query_id": progress.query_id,
            "query": self._recorded(progress.question.query),
            "outcome": outcome.name,
            # What is missing names words of the question, so a refusal is recorded by its message alone.
            "answer": refusal.message if refusal else progress.text if answer else "",
            "sources": progress.question.sources[:100],
            "chunks_retrieved": len(progress.found.candidates) if progress.found else 0,
            "chunks_used": len(answer.supporting_clauses) if answer else 0,
            "tokens_input": 0,
            "tokens_output": 0,
            "cost": 0.0,
            "latency_ms": round(progress.stop() * 1000, 3),
            "refused": refusal is not None,
            "refusal_reason": refusal.reason.value if refusal else None,
            "error_reason": outcome.error_reason,
            "tenant": progress.tenant,
            "user_id": progress.subject,
            "trace_id": progress.trace_id,
        }

    def _recorded(self, text: str) -> str:
        match self._query_text:
            case QueryText.PLAIN:
                return text[:MAX_RECORDED_CHARACTERS]
            case QueryText.HASH:
                return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
            case QueryText.OMIT:
                return ""


class OpenRecord:
    """The record of a running query: written once, by `close`, or on the way out without an answer."""

    def __init__(self, records: Records, progress: Progress) -> None:
        self._records = records
        self._progress = progress
        self._written = False

    async def __aenter__(self) -> Self:
        """The query begins."""
        return self

    async def close(self) -> None:
        """Write the record of the finished answer; to be called before any of it leaves.

        Raises `AuditUnavailable` when it is not on disk.
        """
        answer = self._progress.answer
        await self._write(Outcome("refused" if answer and answer.refusal else "answered"))

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Write the record of a query that ended before its answer."""
        if self._written:
            return
        try:
            await self._write(_outcome_of(error))
        except AuditUnavailable:
            # Logged where it happened. The query fails already, and nothing of it leaves.
            return

    async def _write(self, outcome: Outcome) -> None:
        self._written = True
        self._progress.stop()
        await self._records.write(self._progress, outcome)


def _outcome_of(error: BaseException | None) -> Outcome:
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return Outcome("cancelled")
    return Outcome("error", error.reason if isinstance(error, ServiceError) else "INTERNAL")


def _iso(instant: datetime) -> str:
    """ISO 8601 in UTC with milliseconds, ending in Z."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
