"""Between the messages of `clausegate.answer.v1` and the values of this service; nothing is decided here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, cast

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from clausegate.answer.v1 import answer_pb2, debug_pb2
from clausegate.answer.v1 import query_service_pb2 as query_pb2
from clausegate.corpus.v1 import citation_pb2, span_pb2
from services.answer import answers
from services.answer.corpus import Span
from services.answer.parts import QuotePart
from services.answer.query import events
from services.answer.questions import Question
from services.answer.records.usage import StageUsage


def question_of(request: query_pb2.QueryRequest | query_pb2.StreamQueryRequest) -> Question:
    """What is asked; nothing is checked yet."""
    return Question(
        query=request.query,
        sources=tuple(request.sources),
        document_ids=tuple(request.document_ids),
        gate=request.gate if request.HasField("gate") else True,
        grading=request.grading if request.HasField("grading") else True,
        debug=request.debug,
        max_cost_usd=request.max_cost_usd if request.HasField("max_cost_usd") else None,
        dry_run=request.dry_run,
    )


def response_to_wire(response: events.Response) -> query_pb2.QueryResponse:
    """The whole response."""
    answer = response.answer
    return query_pb2.QueryResponse(
        answer=response.text,
        citations=[citation_to_wire(one) for one in answer.citations],
        metadata=metadata_to_wire(response.metadata),
        refusal=_refusal(answer.refusal) if answer.refusal else None,
        statements=[_statement(one) for one in answer.statements],
        supporting_clauses=[clause_to_wire(one) for one in answer.supporting_clauses],
        definitions=[_definition(one) for one in answer.definitions],
        notes=map(note_to_wire, answer.notes),
        markdown=response.markdown,
        usage=usage_to_wire(response.usage),
        debug=_debug(response.debug) if response.debug else None,
        dry_run=_dry_run(response.dry_run) if response.dry_run else None,
    )


def _debug(told: Mapping[str, object]) -> debug_pb2.DebugRecord:
    """What is told has the names of the message, see `query.progress`; a wrong one is a `ValueError`."""
    return debug_pb2.DebugRecord(**cast("Mapping[str, Any]", told))


def event_to_wire(event: events.Event) -> query_pb2.StreamQueryResponse:
    """One event."""
    message = query_pb2.StreamQueryResponse
    match event:
        case events.SupportingClauses(clauses):
            passages = [clause_to_wire(clause) for clause in clauses]
            return message(supporting_clauses=query_pb2.SupportingClauses(clauses=passages))
        case events.Validated():
            return _validated(event)
        case events.Refused(refusal):
            return message(refused=query_pb2.Refused(refusal=_refusal(refusal)))
        case events.Completed(response):
            return message(completed=query_pb2.Completed(response=response_to_wire(response)))
        case _:
            return _stage(event)


def _stage(event: events.StageEvent) -> query_pb2.StreamQueryResponse:
    message = query_pb2.StreamQueryResponse
    match event:
        case events.Retrieved():
            return message(retrieved=query_pb2.Retrieved(**asdict(event)))
        case events.Graded(chunks):
            graded = [answer_pb2.GradedChunk(**asdict(chunk)) for chunk in chunks]
            return message(graded=query_pb2.Graded(chunks=graded))
        case events.Gated(decision):
            return message(gated=query_pb2.Gated(decision=gate_to_wire(decision)))
        case events.Estimated(dry_run):
            return message(estimated=query_pb2.Estimated(dry_run=_dry_run(dry_run)))


def _validated(event: events.Validated) -> query_pb2.StreamQueryResponse:
    citations = [citation_to_wire(one) for one in event.citations]
    match event.content:
        case answers.Statement() as one:
            statement = query_pb2.ValidatedStatement(statement=_statement(one), citations=citations)
            return query_pb2.StreamQueryResponse(statement=statement)
        case answers.DefinitionInUse() as one:
            definition = query_pb2.ValidatedDefinition(definition=_definition(one), citations=citations)
            return query_pb2.StreamQueryResponse(definition=definition)
        case answers.Note() as one:
            note = query_pb2.ValidatedNote(note=note_to_wire(one), citations=citations)
            return query_pb2.StreamQueryResponse(note=note)


def span_to_wire(span: Span) -> span_pb2.Span:
    """A stretch of a document."""
    return span_pb2.Span(start=span.start, end=span.end)


def match_level_to_wire(level: answers.MatchLevel) -> citation_pb2.MatchLevel.ValueType:
    """How a quote was found."""
    return citation_pb2.MatchLevel.Value(f"MATCH_LEVEL_{level.name}")


def citation_to_wire(one: answers.Citation) -> citation_pb2.Citation:
    """A citation with its certificate."""
    certificate = one.certificate
    return citation_pb2.Citation(
        number=one.number,
        document=one.document,
        source=one.source,
        title=one.title,
        section=one.section,
        page=one.page,
        last_page=one.last_page,
        quote=one.quote,
        span=span_to_wire(one.span),
        chunk_id=one.chunk_id,
        chunk_alias=one.chunk_alias,
        match_level=match_level_to_wire(one.match_level),
        certificate=citation_pb2.Certificate(
            document_sha256=certificate.document_sha256,
            quote_sha256=certificate.quote_sha256,
            generation=certificate.generation,
            model=certificate.model,
            prompt_version=certificate.prompt_version,
            prompt_sha256=certificate.prompt_sha256,
            config_sha256=certificate.config_sha256,
            key_id=certificate.key_id,
            signature=certificate.signature,
        ),
        parts=map(part_to_wire, one.parts),
    )


def part_to_wire(one: QuotePart) -> citation_pb2.QuotePart:
    """A part of a quote."""
    return citation_pb2.QuotePart(
        span=span_to_wire(one.span), text=one.text, page=one.page, last_page=one.last_page
    )


def _statement(one: answers.Statement) -> answer_pb2.Statement:
    return answer_pb2.Statement(
        text=one.text,
        source_prefixes=one.source_prefixes,
        citation_numbers=one.citation_numbers,
        possibly_related=one.possibly_related,
    )


def clause_to_wire(one: answers.SupportingClause) -> answer_pb2.SupportingClause:
    """A passage."""
    return answer_pb2.SupportingClause(
        chunk_id=one.chunk_id,
        chunk_alias=one.chunk_alias,
        document=one.document,
        source=one.source,
        title=one.title,
        section=one.section,
        page=one.page,
        last_page=one.last_page,
        text=one.text,
        span=span_to_wire(one.span),
        quoted=[span_to_wire(span) for span in one.quoted],
        grade=one.grade,
        probability=one.probability,
        score=one.score,
        context_before=map(part_to_wire, one.context_before),
        context_after=map(part_to_wire, one.context_after),
    )


def _definition(one: answers.DefinitionInUse) -> answer_pb2.DefinitionInUse:
    return answer_pb2.DefinitionInUse(
        term=one.term,
        citation_number=one.citation_number,
        conflicting_citation_numbers=one.conflicting_citation_numbers,
        depth=one.depth,
        used_by=one.used_by,
    )


def note_to_wire(one: answers.Note) -> answer_pb2.Note:
    """What a careful reader should know."""
    kind = answer_pb2.NoteKind.Value(f"NOTE_KIND_{one.kind.name}")
    return answer_pb2.Note(kind=kind, text=one.text, citation_numbers=one.citation_numbers)


def _refusal(one: answers.Refusal) -> answer_pb2.Refusal:
    absence = one.absence
    return answer_pb2.Refusal(
        reason=answer_pb2.RefusalReason.Value(f"REFUSAL_REASON_{one.reason.name}"),
        message=one.message,
        missing=one.missing,
        gate=gate_to_wire(one.gate),
        nearest_clauses=[clause_to_wire(clause) for clause in one.nearest_clauses],
        absence=answer_pb2.AbsenceEvidence(
            index_revision=absence.index_revision,
            documents_searched=absence.documents_searched,
            pages_searched=absence.pages_searched,
            unreadable_pages=absence.unreadable_pages,
            term_hits=[answer_pb2.TermHits(term=hits.term, chunks=hits.chunks) for hits in absence.term_hits],
        ),
        declined_by_model=one.declined_by_model,
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


def metadata_to_wire(one: answers.Metadata) -> answer_pb2.Metadata:
    """About a response."""
    latency = Duration()
    latency.FromTimedelta(timedelta(seconds=one.latency_seconds))
    return answer_pb2.Metadata(
        query_id=one.query_id,
        trace_id=one.trace_id,
        context_tokens=one.context_tokens,
        token_encoding=one.token_encoding,
        model=one.model,
        grader=one.grader,
        index_revision=one.index_revision,
        normalized_query=one.normalized_query,
        finished_at=timestamp_to_wire(one.finished_at),
        latency=latency,
        prompt_version=one.prompt_version,
        grading_failure=one.grading_failure,
        dropped_statements=one.dropped_statements,
    )


def _dry_run(one: answers.DryRun) -> answer_pb2.DryRun:
    stages = [answer_pb2.StageEstimate(**asdict(stage)) for stage in one.stages]
    return answer_pb2.DryRun(stages=stages, max_cost_usd=one.max_cost_usd)


def usage_to_wire(stages: Sequence[StageUsage]) -> list[answer_pb2.StageUsage]:
    """Tokens and cost, stage by stage."""
    return [answer_pb2.StageUsage(**asdict(stage)) for stage in stages]


def timestamp_to_wire(instant: datetime) -> Timestamp:
    """An instant with its zone."""
    timestamp = Timestamp()
    timestamp.FromDatetime(instant)
    return timestamp
