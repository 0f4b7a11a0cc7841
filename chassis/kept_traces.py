"""Traces kept in a file of this machine, for who has no collector: see `clausegate trace`.

A line is a span. They hold what spans that are exported hold, and so no words of callers and documents, but
with `CLAUSEGATE_MODEL_TEXT_IN_SPANS`.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased, Sampler, SamplingResult

FILE_BYTES = 10_000_000
"""Of each of two files, the newer one and the one before it: some 500 questions each."""
WRITE_MILLISECONDS = 500.0
"""How long a span waits to be written; a thread of its own does it."""


class Switch(Sampler):
    """Samples nothing until somebody keeps what is sampled."""

    def __init__(self) -> None:
        self._sampler: Sampler = ALWAYS_OFF

    def on(self) -> None:
        """From now on every trace is sampled, unless its caller says that it is not."""
        self._sampler = ParentBased(ALWAYS_ON)

    def should_sample(self, *arguments: object, **named: object) -> SamplingResult:
        """As the sampler of now does."""
        return self._sampler.should_sample(*arguments, **named)  # type: ignore[arg-type]

    def get_description(self) -> str:
        """What it is called among a provider's settings."""
        return f"Switch({self._sampler.get_description()})"


@dataclass(frozen=True, slots=True)
class KeptSpan:
    """A span as it was kept."""

    trace_id: str
    span_id: str
    parent_id: str
    """Empty for the first of a trace."""
    name: str
    start_ns: int
    """Nanoseconds since 1970."""
    milliseconds: float
    failed: bool
    attributes: Mapping[str, object]


class _Lines(RotatingFileHandler):
    """Two files that others of the machine cannot read. A disk that is full costs spans and nothing else."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", opener=_private)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - a name of the library
        """The span is lost."""


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o640)


class _File(SpanExporter):
    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _Lines(path, maxBytes=FILE_BYTES, backupCount=1, delay=True)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        for span in spans:
            self._file.emit(logging.makeLogRecord({"msg": _line(span)}))
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        self._file.close()


def _line(span: ReadableSpan) -> str:
    context, start = span.get_span_context() or trace.INVALID_SPAN_CONTEXT, span.start_time or 0
    return json.dumps(
        {
            "trace_id": trace.format_trace_id(context.trace_id),
            "span_id": trace.format_span_id(context.span_id),
            "parent_id": trace.format_span_id(span.parent.span_id) if span.parent else "",
            "name": span.name,
            "start_ns": start,
            "milliseconds": round(((span.end_time or start) - start) / 1e6, 3),
            "failed": span.status.status_code is trace.StatusCode.ERROR,
            "attributes": dict(span.attributes or {}),
        },
        ensure_ascii=False,
    )


@contextmanager
def traces_kept(path: Path) -> Iterator[None]:
    """Keep the spans of this process in a file as long as the context lasts. Raises `OSError`."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        yield
        return
    keeping = BatchSpanProcessor(_File(path), schedule_delay_millis=WRITE_MILLISECONDS)
    provider.add_span_processor(keeping)
    if isinstance(provider.sampler, Switch):
        provider.sampler.on()
    try:
        yield
    finally:
        keeping.shutdown()  # type: ignore[no-untyped-call]


def read_trace(path: Path, trace_id: str) -> list[KeptSpan]:
    """The spans of a trace, by their start; none when it is not kept. What is no span is left out."""
    found = []
    for file in (path.with_name(f"{path.name}.1"), path):
        if file.is_file():
            with file.open(encoding="utf-8", errors="replace") as lines:
                found += [span for line in lines if trace_id in line and (span := _span(line))]
    return sorted((span for span in found if span.trace_id == trace_id), key=lambda span: span.start_ns)


def _span(line: str) -> KeptSpan | None:
    try:
        return KeptSpan(**json.loads(line))
    except (ValueError, TypeError):  # torn by a process that was killed
        return None
