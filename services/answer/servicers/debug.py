"""The debug record of a query on the wire (LI-50), and what explains it to a person."""

from __future__ import annotations

from dataclasses import asdict

from google.protobuf.timestamp_pb2 import Timestamp

from clausegate.answer.v1 import answer_pb2, debug_pb2, grounding_service_pb2
from services.answer import answers
from services.answer.query.stating import Dropped
from services.answer.records import explaining, tracking


def debug_to_wire(
    one: tracking.DebugRecord, explanation: explaining.Explanation | None
) -> debug_pb2.DebugRecord:
    """The record with its explanation."""
    gate, budget, found, ranking = one.confidence_gate, one.budget, one.retrieval, one.reranking
    began = Timestamp()
    began.FromDatetime(one.timestamp)
    return debug_pb2.DebugRecord(
        timestamp=began,
        original_query=one.original_query,
        normalized_query=one.normalized_query,
        retrieval=debug_pb2.DebugRetrieval(
            vector=debug_pb2.DebugLeg(**asdict(found.vector)),
            bm25=debug_pb2.DebugLeg(**asdict(found.bm25)),
            merged=debug_pb2.DebugMerged(**asdict(found.merged)),
        ),
        reranking=debug_pb2.DebugReranking(
            input_chunks=ranking.input_chunks,
            kept_chunks=ranking.kept_chunks,
            dropped_chunks=ranking.dropped_chunks,
            scores=[debug_pb2.DebugScore(**asdict(score)) for score in ranking.scores],
        ),
        confidence_gate=debug_pb2.DebugConfidenceGate(**asdict(gate)) if gate else None,
        budget=debug_pb2.DebugBudget(**asdict(budget)) if budget else None,
        llm=debug_pb2.DebugLlm(**asdict(one.llm)),
        answer_generated=one.answer_generated,
        latency_ms=one.latency_ms,
        query_id=one.query_id,
        trace_id=one.trace_id,
        explanation=_explanation(explanation) if explanation else None,
    )


def gate_to_wire(one: answers.GateDecision) -> answer_pb2.GateDecision:
    """What the gate decided."""
    return answer_pb2.GateDecision(
        enabled=one.enabled,
        passed=one.passed,
        tier=answer_pb2.GateTier.Value(f"GATE_TIER_{one.tier.name}"),
        rule=answer_pb2.GateRule.Value(f"GATE_RULE_{one.rule.name}"),
        top_score=one.top_score,
        threshold=one.threshold,
        min_chunks_required=one.min_chunks_required,
        chunks_above_threshold=one.chunks_above_threshold,
        ratio=one.ratio,
        calibrated=one.calibrated,
    )


def _explanation(one: explaining.Explanation) -> debug_pb2.DebugExplanation:
    routed = [debug_pb2.DebugRoute(document_id=name, share=share) for name, share in one.routed.items()]
    stages = [debug_pb2.DebugStage(name=name, latency_ms=took * 1000) for name, took in one.seconds.items()]
    return debug_pb2.DebugExplanation(
        routed=routed,
        candidates=map(_candidate, one.candidates),
        gate=gate_to_wire(one.gate) if one.gate else None,
        background_mean=one.background_mean,
        definitions=map(_definition, one.definitions),
        dropped_statements=map(_dropped, one.dropped),
        stages=stages,
    )


def _candidate(one: explaining.ExplainedCandidate) -> debug_pb2.DebugCandidate:
    graded, candidate, chunk = one.graded, one.graded.candidate, one.graded.candidate.chunk
    return debug_pb2.DebugCandidate(
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        section=chunk.section,
        similarity=candidate.similarity,
        bm25=candidate.bm25,
        combined=candidate.combined,
        grade=graded.grade,
        score=graded.score,
        probability=graded.probability,
        fate=debug_pb2.CandidateFate.Value(f"CANDIDATE_FATE_{one.fate.name}"),
    )


def _definition(one: explaining.ExplainedDefinition) -> debug_pb2.DebugDefinition:
    found = one.resolved
    return debug_pb2.DebugDefinition(
        term=found.definition.term,
        document_id=found.definition.document_id,
        depth=found.depth,
        kept=one.kept,
    )


def _dropped(one: Dropped) -> debug_pb2.DebugDropped:
    return debug_pb2.DebugDropped(
        number=one.number,
        reason=debug_pb2.DroppedReason.Value(f"DROPPED_REASON_{one.why.name}"),
        rules=[grounding_service_pb2.LintRule.Value(f"LINT_RULE_{rule.name}") for rule in one.rules],
    )
