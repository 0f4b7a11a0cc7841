"""How an answer came about, for people: a projection of one `QueryResponse` with its debug record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.text import Text

from clausegate.answer.v1.answer_pb2 import GateDecision, GateRule, GateTier, RefusalReason, StageUsage
from clausegate.answer.v1.debug_pb2 import (
    CandidateFate,
    DebugCandidate,
    DebugDropped,
    DebugExplanation,
    DebugRecord,
    DroppedReason,
)
from clausegate.answer.v1.grounding_service_pb2 import LintRule
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from cli.costs import dollars
from cli.output import counted
from cli.panels import broken_rule, why_refused
from cli.passages import visible
from cli.tables import print_table

FATES = {
    CandidateFate.CANDIDATE_FATE_KEPT: "kept",
    CandidateFate.CANDIDATE_FATE_TOO_WEAK: "dropped: too weak",
    CandidateFate.CANDIDATE_FATE_BEYOND_LIMIT: "dropped: enough better ones",
    CandidateFate.CANDIDATE_FATE_OVER_BUDGET: "dropped: over the token budget",
    CandidateFate.CANDIDATE_FATE_REFUSED: "not used: the gate refused",
}
DROPPED = {
    DroppedReason.DROPPED_REASON_NO_STORED_QUOTE: "it, or a quote of it, does not stand as an answer",
    DroppedReason.DROPPED_REASON_GUESS: "it guesses",
    DroppedReason.DROPPED_REASON_GOES_BEYOND: "it says more than its quotes",
    DroppedReason.DROPPED_REASON_SAYS_NOTHING: "it says nothing by itself",
}


def documents_of(why: DebugExplanation) -> set[str]:
    """The documents that an explanation speaks of."""
    found = {candidate.document_id for candidate in why.candidates}
    defining = {definition.document_id for definition in why.definitions}
    return found | defining | {named.document_id for named in why.routed}


def print_explanation(console: Console, response: QueryResponse, labels: Mapping[str, str]) -> None:
    """Everything that led to the answer or the refusal, in the order in which it happened.

    `labels` are those of the documents that it speaks of, by id.
    """
    record, why = response.debug, response.debug.explanation
    _section(console, "Understood", _understood(response, labels))
    _section(console, "Found", _found(record))
    _section(console, "Graded", _graded(response))
    _candidates(console, why, labels)
    if why.HasField("gate"):
        _section(console, "Gate", _gate(why.gate))
    _section(console, "Definitions", _definitions(why, labels))
    if record.HasField("budget"):
        _section(console, "Budget", _budget(record))
    _section(console, "Verification", _verified(response))
    if response.HasField("refusal"):
        _section(console, "Refused", [why_refused(response.refusal)])
    _section(console, "Time and cost", [*_times(record), *map(_cost, response.usage)])
    _section(console, "Records", [f"query {record.query_id}", f"trace {record.trace_id or 'none'}"])


def _section(console: Console, title: str, lines: Iterator[str] | list[str]) -> None:
    shown = list(lines)
    if shown:
        console.print(Text(title, "bold"))
        for line in shown:
            console.print(Text(f"  {visible(line)}"), soft_wrap=True)


def _understood(response: QueryResponse, labels: Mapping[str, str]) -> Iterator[str]:
    record, why = response.debug, response.debug.explanation
    yield f"searched for: {record.normalized_query}" if record.normalized_query else "nothing was searched"
    for named in why.routed:
        yield f"the question names {_called(named.document_id, labels)} ({named.share:.0%} of the best match)"
    if response.refusal.reason == RefusalReason.REFUSAL_REASON_NO_DOCUMENT_NAMED:
        yield f"nothing was searched: {response.refusal.message}"
    elif not why.routed:
        yield "it names no document: all in scope were searched"


def _found(record: DebugRecord) -> Iterator[str]:
    legs = (("vectors", "cosine", record.retrieval.vector), ("keywords", "BM25", record.retrieval.bm25))
    for name, unit, leg in legs:
        best = f", best {unit} {leg.top_score:.3f}" if leg.HasField("top_score") else ""
        yield f"{name}: {counted(leg.count, 'hit')}{best}"
    yield f"together: {record.retrieval.merged.unique_chunks} different chunks"


def _graded(response: QueryResponse) -> Iterator[str]:
    metadata, why = response.metadata, response.debug.explanation
    yield f"by {metadata.grader}" if metadata.grader else "not graded: candidates stand with their raw scores"
    if metadata.grading_failure:
        yield f"the model that was to grade failed: {metadata.grading_failure}"
    if why.HasField("background_mean"):
        yield f"background: elsewhere the question scores {why.background_mean:.3f} on average"


def _candidates(console: Console, why: DebugExplanation, labels: Mapping[str, str]) -> None:
    if why.candidates:
        console.print(Text(f"  the best {len(why.candidates)}: cosine, BM25, evidence, grade, score"))
        columns = ("#", "Cosine#", "BM25#", "Evidence#", "Grade#", "Score#", "Fate", "Where")
        print_table(
            console,
            columns,
            (_candidate(number, candidate, labels) for number, candidate in enumerate(why.candidates, 1)),
        )


def _candidate(number: int, candidate: DebugCandidate, labels: Mapping[str, str]) -> tuple[str, ...]:
    grade = str(candidate.grade) if candidate.HasField("grade") else "-"
    scores = (
        f"{candidate.similarity:.3f}",
        f"{candidate.bm25:.2f}",
        f"{candidate.combined:.3f}",
        grade,
        f"{candidate.score:.3f}",
    )
    fate = FATES.get(candidate.fate, "unknown to this version")
    return (str(number), *scores, fate, f"{_called(candidate.document_id, labels)} › {candidate.section}")


def _gate(gate: GateDecision) -> Iterator[str]:
    if gate.rule == GateRule.GATE_RULE_PASSED:
        yield "passed"
    else:
        broken = broken_rule(gate.rule, "candidate")
        yield f"refused: {broken}" if broken else "a rule that this version does not know"
    if not gate.enabled:
        yield "it was switched off: only finding nothing refuses"
    graded = gate.tier == GateTier.GATE_TIER_GRADED
    best = f"{gate.top_score:.3f}" if gate.HasField("top_score") else "none"
    yield f"best {'graded' if graded else 'raw'} score {best}, threshold {gate.threshold:.3f}"
    yield f"candidates that reach it: {gate.chunks_above_threshold}, needed: {gate.min_chunks_required}"
    if gate.HasField("ratio"):
        yield f"the best is {gate.ratio:.2f} times the second"
    if not gate.calibrated:
        yield "not calibrated for this embedding model"


def _called(document_id: str, labels: Mapping[str, str]) -> str:
    return labels.get(document_id, document_id)


def _definitions(why: DebugExplanation, labels: Mapping[str, str]) -> Iterator[str]:
    for definition in why.definitions:
        used = "in the context" if definition.kept else "left out"
        document = _called(definition.document_id, labels)
        yield f"{definition.term} ({document}), depth {definition.depth}: {used}"


def _budget(record: DebugRecord) -> Iterator[str]:
    budget = record.budget
    yield f"{budget.final_tokens:,} of {budget.target_tokens:,} tokens used"
    yield f"{counted(budget.chunks_kept, 'chunk')} fitted, {budget.chunks_dropped} did not"


def _verified(response: QueryResponse) -> Iterator[str]:
    if response.statements:
        statements, citations = len(response.statements), len(response.citations)
        yield f"{counted(statements, 'statement')} and {counted(citations, 'citation')} stand"
    for dropped in response.debug.explanation.dropped_statements:
        yield f"quote {dropped.number} of the model left out: {_dropped(dropped)}"
    for dropped in response.debug.explanation.dropped_summary_sentences:
        yield f"sentence {dropped.number} of the model's summary left out: {_dropped(dropped)}"


def _dropped(dropped: DebugDropped) -> str:
    rules = ", ".join(LintRule.Name(rule).removeprefix("LINT_RULE_").lower() for rule in dropped.rules)
    reason = DROPPED.get(dropped.reason, "for a reason that this version does not know")
    return f"{reason} ({rules})" if rules else reason


def _times(record: DebugRecord) -> Iterator[str]:
    for stage in record.explanation.stages:
        yield f"{stage.name}: {stage.latency_ms:,.1f} ms"
    yield f"in all: {record.latency_ms:,.1f} ms"


def _cost(stage: StageUsage) -> str:
    price = dollars(stage.cost_usd) if stage.priced else "no price"
    repairs = f", {counted(stage.repairs, 'repair')}" if stage.repairs else ""
    sent = f"{stage.prompt_tokens:,} tokens sent, {stage.completion_tokens:,} received"
    return f"{stage.stage} by {stage.model}: {counted(stage.calls, 'call')}{repairs}, {sent}, {price}"
