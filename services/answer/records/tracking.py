"""What is known of one call while it runs: what its records say of it, however it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from chassis.auth import Caller
from services.answer.records.usage import Ledger


@dataclass(frozen=True, slots=True)
class Clock:
    """Where times and ids come from."""

    now: Callable[[], datetime]
    """The time of day, with its zone."""
    seconds: Callable[[], float]
    """Monotonic, for durations."""
    new_id: Callable[[], str]
    """A fresh query id."""
    new_code: Callable[[], str]
    """A fresh random code, 16 hexadecimal digits: what documents cannot know, see `context`."""


class TaskName(StrEnum):
    """What a call of this service asks for, as its audit record names it."""

    QUERY = "query"
    SNIPPETS = "snippets"
    ARTICLE = "article"
    QUERIES = "queries"
    REWRITE = "rewrite"
    GROUNDING = "grounding"
    CITATION = "citation"


@dataclass(slots=True)
class Run:
    """One call of a task: what its records say of it, however it ends."""

    task: TaskName
    text: str
    """The words of the caller: the question, the topic, the text to check."""
    sources: tuple[str, ...]
    caller: Caller
    trace_id: str
    """The trace that this call belongs to; empty outside any."""
    clock: Clock
    ledger: Ledger
    chunks_retrieved: int = 0
    """Set once that is known, so that the record of a later failure has it as well."""
    debug: Callable[[], Mapping[str, object]] | None = None
    """Describes the call for the log of debug records when it has ended; only queries have one."""
    latency_seconds: float | None = None
    """Set by `stop`."""
    measured: bool = False
    """Whether telemetry has counted it."""
    query_id: str = field(init=False)
    """Names this call in its records."""
    began_at: datetime = field(init=False)
    began_seconds: float = field(init=False)

    def __post_init__(self) -> None:
        """The clock runs from here."""
        self.query_id = self.clock.new_id()
        self.began_at = self.clock.now()
        self.began_seconds = self.clock.seconds()

    def stop(self) -> float:
        """Seconds from the beginning to the first call of this."""
        if self.latency_seconds is None:
            self.latency_seconds = self.clock.seconds() - self.began_seconds
        return self.latency_seconds
