"""Logs as JSON lines on standard error: one event a line, with its trace and its caller."""

from __future__ import annotations

import json
import logging
import sqlite3
from datetime import UTC, datetime
from traceback import extract_tb

from opentelemetry import trace

from chassis.auth import current_caller

RECORD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
"""What every record has; what else one has came with `extra`."""
MADE_BY_CODE = (OSError, sqlite3.Error, MemoryError, ImportError, NameError, AttributeError, TypeError)
"""Errors whose words are those of the machine, the database and the code. Others may repeat a document."""


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time (ISO 8601, UTC), level, logger, event, trace and span id, and `extra`.

    Where somebody calls, also tenant and subject.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "event": _event(record),
            **_trace(),
            **_caller(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in RECORD_FIELDS}
        if record.exc_info:
            line["exception"] = _frames(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, default=str)


def _event(record: logging.LogRecord) -> str:
    """What happened. Beside an exception one line: asyncio repeats the exception's words below the first."""
    message = record.getMessage()
    return message.partition("\n")[0] if record.exc_info else message


def _frames(error: BaseException | None) -> list[str]:
    """The exceptions that led to each other, the first one first: type, words of `MADE_BY_CODE`, frames."""
    lines: list[str] = []
    while error is not None:
        words = f": {error}" if isinstance(error, MADE_BY_CODE) else ""
        stack = extract_tb(error.__traceback__)
        frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in stack]
        lines = [f"{type(error).__qualname__}{words}", *frames, *lines]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return lines


def _trace() -> dict[str, str]:
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {"trace_id": "", "span_id": ""}
    return {
        "trace_id": trace.format_trace_id(context.trace_id),
        "span_id": trace.format_span_id(context.span_id),
    }


def _caller() -> dict[str, str]:
    try:
        caller = current_caller()
    except LookupError:
        return {}
    return {"tenant": caller.tenant, "subject": caller.subject}


def configure_logs(level: int = logging.INFO) -> None:
    """Send all logs to standard error as JSON lines, Python's warnings too."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.captureWarnings(True)
