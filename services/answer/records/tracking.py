"""What is known of one call while it runs, and the debug record made of a query (LI-50)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from opentelemetry.trace import Span

from chassis.auth import Caller
from chassis.telemetry import stage
from inference.chat.model import TokenUsage
from services.answer.answers import Answer, GateDecision, GateTier
from services.answer.corpus import Found, Leg, ResolvedDefinition
from services.answer.evidence.budget import BudgetReport
from services.answer.evidence.grading import GradedCandidate
from services.answer.questions import Question
from services.answer.records.usage import Ledger

if TYPE_CHECKING:
    from services.answer.query.stating import Dropped


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
    clock: Clock
    ledger: Ledger
    chunks_retrieved: int = 0
    """Set once that is known, so that the record of a later failure has it as well."""
    debug: Callable[[], DebugRecord] | None = None
    """Makes the debug record when the call has ended; only queries have one."""
    latency_seconds: float | None = None
    """Set by `stop`."""
    measured: bool = False
    """Whether telemetry has counted it."""
    query_id: str = field(init=False)
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


@dataclass(slots=True)
class Progress:
    """How far a query has come; filled step by step, read by its debug record at every exit."""

    run: Run
    question: Question
    model: str
    """The model that writes the answer; `extractive` without one."""
    found: Found | None = None
    ranked: tuple[GradedCandidate, ...] = ()
    kept: tuple[GradedCandidate, ...] = ()
    grader: str = ""
    grading_failure: str = ""
    gate: GateDecision | None = None
    budget: BudgetReport | None = None
    prompt_version: str = ""
    """Of the prompt that the answer model was shown; empty before, and without one."""
    dropped_statements: int = 0
    strong: tuple[GradedCandidate, ...] = ()
    """What would be kept if there were no bound of how many."""
    packed: tuple[GradedCandidate, ...] | None = None
    """What fitted the budget; None before."""
    resolved: tuple[ResolvedDefinition, ...] = ()
    """Definitions that were found."""
    defined: tuple[ResolvedDefinition, ...] = ()
    """Those of them in the context."""
    dropped: tuple[Dropped, ...] = ()
    """Statements of the model that did not leave, and why."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time of each stage so far."""
    answer: Answer | None = None

    @contextmanager
    def stage(self, name: str) -> Iterator[Span]:
        """A stage of this query, whose time is kept by the query's own clock."""
        clock = self.run.clock
        began = clock.seconds()
        try:
            with stage(name) as span:
                yield span
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + clock.seconds() - began


@dataclass(frozen=True, slots=True)
class DebugLeg:
    """Hits of one leg."""

    count: int = 0
    top_score: float | None = None


@dataclass(frozen=True, slots=True)
class DebugMerged:
    """Hits of both legs together."""

    count: int = 0
    unique_chunks: int = 0


@dataclass(frozen=True, slots=True)
class DebugRetrieval:
    """What was found."""

    vector: DebugLeg = field(default_factory=DebugLeg)
    bm25: DebugLeg = field(default_factory=DebugLeg)
    merged: DebugMerged = field(default_factory=DebugMerged)


@dataclass(frozen=True, slots=True)
class DebugScore:
    """One candidate."""

    chunk_id: str
    score: float
    kept: bool


@dataclass(frozen=True, slots=True)
class DebugReranking:
    """What grading kept."""

    input_chunks: int = 0
    kept_chunks: int = 0
    dropped_chunks: int = 0
    scores: tuple[DebugScore, ...] = ()


@dataclass(frozen=True, slots=True)
class DebugConfidenceGate:
    """What the gate decided; `tier` is 1 for graded candidates, 2 for raw scores."""

    enabled: bool
    passed: bool
    tier: int
    top_score: float | None
    threshold: float
    min_chunks_required: int
    chunks_above_threshold: int


@dataclass(frozen=True, slots=True)
class DebugBudget:
    """What fitted the token budget."""

    target_tokens: int
    final_tokens: int
    chunks_kept: int
    chunks_dropped: int
    under_budget: bool


@dataclass(frozen=True, slots=True)
class DebugLlm:
    """The chat models' part: who writes the answer, and the tokens of all stages."""

    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


@dataclass(frozen=True, slots=True)
class DebugRecord:
    """How one query came to its answer, step by step; parts that were not reached are None."""

    timestamp: datetime
    query_id: str
    trace_id: str
    original_query: str
    normalized_query: str
    retrieval: DebugRetrieval
    reranking: DebugReranking
    confidence_gate: DebugConfidenceGate | None
    budget: DebugBudget | None
    llm: DebugLlm
    answer_generated: bool
    latency_ms: float


def debug_record(progress: Progress) -> DebugRecord:
    """The record of a query as far as it has come."""
    run, found, answer = progress.run, progress.found, progress.answer
    return DebugRecord(
        timestamp=run.began_at,
        query_id=run.query_id,
        trace_id=run.trace_id,
        original_query=progress.question.query,
        normalized_query=found.normalized_query if found else "",
        retrieval=_retrieval(found) if found else DebugRetrieval(),
        reranking=_reranking(progress),
        confidence_gate=_gate(progress.gate) if progress.gate else None,
        budget=_budget(progress.budget) if progress.budget else None,
        llm=_llm(progress.model, run.ledger.tokens),
        answer_generated=answer is not None and answer.refusal is None,
        latency_ms=round(run.stop() * 1000, 3),
    )


def _retrieval(found: Found) -> DebugRetrieval:
    return DebugRetrieval(
        _leg(found.vector), _leg(found.keyword), DebugMerged(found.merged_count, found.unique_chunks)
    )


def _leg(leg: Leg) -> DebugLeg:
    return DebugLeg(leg.count, leg.top_score)


def _llm(model: str, tokens: TokenUsage) -> DebugLlm:
    total = tokens.prompt_tokens + tokens.completion_tokens
    return DebugLlm(model, tokens.prompt_tokens, tokens.completion_tokens, total)


def _reranking(progress: Progress) -> DebugReranking:
    kept = {one.candidate.chunk.chunk_id for one in progress.kept}
    chunks = [(one.candidate.chunk.chunk_id, one.score) for one in progress.ranked]
    scores = tuple(DebugScore(chunk_id, score, chunk_id in kept) for chunk_id, score in chunks)
    return DebugReranking(len(scores), len(kept), len(scores) - len(kept), scores)


def _gate(decision: GateDecision) -> DebugConfidenceGate:
    return DebugConfidenceGate(
        enabled=decision.enabled,
        passed=decision.passed,
        tier=1 if decision.tier is GateTier.GRADED else 2,
        top_score=decision.top_score,
        threshold=decision.threshold,
        min_chunks_required=decision.min_chunks_required,
        chunks_above_threshold=decision.chunks_above_threshold,
    )


def _budget(report: BudgetReport) -> DebugBudget:
    return DebugBudget(
        target_tokens=report.target_tokens,
        final_tokens=report.final_tokens,
        chunks_kept=report.chunks_kept,
        chunks_dropped=report.chunks_dropped,
        under_budget=report.under_budget,
    )
