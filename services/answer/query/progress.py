"""How far a query has come, and how that is told: to the log of debug records, and to who asks.

What is told has the names, the shape and the enum names of `clausegate.answer.v1.DebugRecord`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from opentelemetry.trace import Span

from chassis.telemetry import stage
from services.answer.answers import Answer, GateDecision, GateTier
from services.answer.corpus import Found, Leg, ResolvedDefinition
from services.answer.evidence.budget import BudgetReport
from services.answer.evidence.extraction import ScoredSentence
from services.answer.evidence.grading import GradedCandidate
from services.answer.evidence.probability import Estimate, Signs
from services.answer.query.stating import Dropped
from services.answer.questions import Question
from services.answer.records.tracking import Run


@dataclass(slots=True)
class Progress:
    """How far a query has come; filled step by step, and told at every exit."""

    run: Run
    question: Question
    model: str
    """The model that writes the answer; `extractive` without one."""
    found: Found | None = None
    ranked: tuple[GradedCandidate, ...] = ()
    kept: tuple[GradedCandidate, ...] = ()
    ranked_sentences: tuple[ScoredSentence, ...] = ()
    """The sentences of the kept passages, best first; none where a model answers."""
    signs: Signs = field(default_factory=dict)
    """What the estimate was worked out from."""
    estimate: Estimate | None = None
    """See `Ranking.estimate`."""
    grader: str = ""
    grading_failure: str = ""
    gate: GateDecision | None = None
    budget: BudgetReport | None = None
    prompt_version: str = ""
    """Version of the prompt that the answer model was shown; empty before, and without a model."""
    strong: tuple[GradedCandidate, ...] = ()
    """What would be kept if there were no bound of how many."""
    packed: tuple[GradedCandidate, ...] | None = None
    """What fitted the budget; None before."""
    resolved: tuple[ResolvedDefinition, ...] = ()
    """Definitions that were found."""
    defined: tuple[ResolvedDefinition, ...] = ()
    """Definitions that are in the context."""
    dropped: tuple[Dropped, ...] = ()
    """Quotes of the model that did not leave, and why."""
    dropped_sentences: tuple[Dropped, ...] = ()
    """Sentences of its summary that did not leave, and why."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What to call documents that are shown together with others, by id; those that are not called by their
    own."""
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


def describe(progress: Progress) -> Mapping[str, object]:
    """How the query came to its answer, step by step; what it has not reached is None."""
    run, found, answer = progress.run, progress.found, progress.answer
    tokens = run.ledger.tokens
    return {
        "timestamp": run.began_at,
        "query_id": run.query_id,
        "trace_id": run.trace_id,
        "original_query": progress.question.query,
        "normalized_query": found.normalized_query if found else "",
        "retrieval": {
            "vector": _leg(found.vector if found else None),
            "bm25": _leg(found.keyword if found else None),
            "merged": {
                "count": found.merged_count if found else 0,
                "unique_chunks": found.unique_chunks if found else 0,
            },
        },
        "reranking": _reranking(progress),
        "confidence_gate": _confidence_gate(progress.gate) if progress.gate else None,
        "budget": _budget(progress.budget) if progress.budget else None,
        "llm": {
            "model": progress.model,
            "prompt_tokens": tokens.prompt_tokens,
            "completion_tokens": tokens.completion_tokens,
            "total_tokens": tokens.prompt_tokens + tokens.completion_tokens,
        },
        "answer_generated": answer is not None and answer.refusal is None,
        "latency_ms": round(run.stop() * 1000, 3),
        "outcome": f"OUTCOME_{answer.outcome.name if answer else 'UNSPECIFIED'}",
    }


def explained(progress: Progress) -> Mapping[str, object]:
    """The same with why the query came out as it did, for a person.

    Never for the log of debug records: it names documents and terms that the question is about.
    """
    found = progress.found
    background, routed = (found.background, found.routed) if found else (None, {})
    explanation = {
        "routed": [{"document_id": document, "share": share} for document, share in routed.items()],
        "candidates": [_candidate(graded, progress) for graded in progress.ranked],
        "gate": _gate(progress.gate) if progress.gate else None,
        "background_mean": background.mean if background and background.calibrated else None,
        "definitions": [_definition(resolved, progress) for resolved in progress.resolved],
        "dropped_statements": list(map(_dropped, progress.dropped)),
        "dropped_summary_sentences": list(map(_dropped, progress.dropped_sentences)),
        "probability": progress.estimate.probability if progress.estimate else None,
        "signs": [{"name": name, "value": value} for name, value in progress.signs.items()],
        "stages": [{"name": name, "latency_ms": took * 1000} for name, took in progress.seconds.items()],
    }
    return {**describe(progress), "explanation": explanation}


def _leg(leg: Leg | None) -> Mapping[str, object]:
    return {"count": leg.count if leg else 0, "top_score": leg.top_score if leg else None}


def _reranking(progress: Progress) -> Mapping[str, object]:
    kept = {graded.candidate.chunk.chunk_id for graded in progress.kept}
    chunks = [(graded.candidate.chunk.chunk_id, graded.score) for graded in progress.ranked]
    return {
        "input_chunks": len(chunks),
        "kept_chunks": len(kept),
        "dropped_chunks": len(chunks) - len(kept),
        "scores": [
            {"chunk_id": chunk_id, "score": score, "kept": chunk_id in kept} for chunk_id, score in chunks
        ],
    }


def _confidence_gate(decision: GateDecision) -> Mapping[str, object]:
    return {
        "enabled": decision.enabled,
        "passed": decision.passed,
        "tier": 1 if decision.tier is GateTier.GRADED else 2,
        "top_score": decision.top_score,
        "threshold": decision.threshold,
        "min_chunks_required": decision.min_chunks_required,
        "chunks_above_threshold": decision.chunks_above_threshold,
    }


def _gate(decision: GateDecision) -> Mapping[str, object]:
    names = {"tier": f"GATE_TIER_{decision.tier.name}", "rule": f"GATE_RULE_{decision.rule.name}"}
    return asdict(decision) | names


def _budget(report: BudgetReport) -> Mapping[str, object]:
    return asdict(report) | {"under_budget": report.under_budget}


def _candidate(graded: GradedCandidate, progress: Progress) -> Mapping[str, object]:
    candidate, chunk = graded.candidate, graded.candidate.chunk
    return {
        "chunk_id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "section": chunk.section,
        "similarity": candidate.similarity,
        "bm25": candidate.bm25,
        "combined": candidate.combined,
        "grade": graded.grade,
        "score": graded.score,
        "probability": graded.probability,
        "fate": f"CANDIDATE_FATE_{_fate(graded, progress)}",
    }


def _fate(graded: GradedCandidate, progress: Progress) -> str:
    if graded in progress.kept:
        if progress.gate and not progress.gate.passed:
            return "REFUSED"
        over = progress.packed is not None and graded not in progress.packed
        return "OVER_BUDGET" if over else "KEPT"
    return "BEYOND_LIMIT" if graded in progress.strong else "TOO_WEAK"


def _definition(resolved: ResolvedDefinition, progress: Progress) -> Mapping[str, object]:
    return {
        "term": resolved.definition.term,
        "document_id": resolved.definition.document_id,
        "depth": resolved.depth,
        "kept": any(resolved.definition == kept.definition for kept in progress.defined),
    }


def _dropped(dropped: Dropped) -> Mapping[str, object]:
    return {
        "number": dropped.number,
        "reason": f"DROPPED_REASON_{dropped.why.name}",
        "rules": [f"LINT_RULE_{rule.name}" for rule in dropped.rules],
    }
