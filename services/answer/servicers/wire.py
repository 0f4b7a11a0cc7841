"""Between the messages of `clausegate.answer.v1` and the values of this service; nothing is decided here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from clausegate.answer.v1 import answer_pb2, debug_pb2
from clausegate.answer.v1 import query_service_pb2 as query_pb2
from clausegate.corpus.v1 import citation_pb2
from corpus.citations import Citation
from corpus.codec import to_message
from services.answer import answers
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
        citations=citations_to_wire(answer.citations),
        metadata=to_message(response.metadata, answer_pb2.Metadata),
        refusal=to_message(answer.refusal, answer_pb2.Refusal) if answer.refusal else None,
        statements=[to_message(statement, answer_pb2.Statement) for statement in answer.statements],
        supporting_clauses=clauses_to_wire(answer.supporting_clauses),
        definitions=[to_message(used, answer_pb2.DefinitionInUse) for used in answer.definitions],
        notes=[to_message(note, answer_pb2.Note) for note in answer.notes],
        markdown=response.markdown,
        usage=usage_to_wire(response.usage),
        debug=_debug(response.debug) if response.debug else None,
        dry_run=to_message(response.dry_run, answer_pb2.DryRun) if response.dry_run else None,
        outcome=answer_pb2.Outcome.Value(
            f"OUTCOME_{response.outcome.name if response.outcome else 'UNSPECIFIED'}"
        ),
    )


def _debug(told: Mapping[str, object]) -> debug_pb2.DebugRecord:
    """What is told has the names of the message, see `query.progress`; a wrong one is a `ValueError`."""
    return debug_pb2.DebugRecord(**cast("Mapping[str, Any]", told))


def event_to_wire(event: events.Event) -> query_pb2.StreamQueryResponse:
    """One event."""
    message = query_pb2.StreamQueryResponse
    match event:
        case events.SupportingClauses():
            return message(supporting_clauses=to_message(event, query_pb2.SupportingClauses))
        case events.Validated():
            return _validated(event)
        case events.Refused():
            return message(refused=to_message(event, query_pb2.Refused))
        case events.Completed(response):
            return message(completed=query_pb2.Completed(response=response_to_wire(response)))
        case _:
            return _stage(event)


def _stage(event: events.StageEvent) -> query_pb2.StreamQueryResponse:
    message = query_pb2.StreamQueryResponse
    match event:
        case events.Retrieved():
            return message(retrieved=to_message(event, query_pb2.Retrieved))
        case events.Graded():
            return message(graded=to_message(event, query_pb2.Graded))
        case events.Gated():
            return message(gated=to_message(event, query_pb2.Gated))
        case events.Estimated():
            return message(estimated=to_message(event, query_pb2.Estimated))


def _validated(event: events.Validated) -> query_pb2.StreamQueryResponse:
    message = query_pb2.StreamQueryResponse
    citations = citations_to_wire(event.citations)
    match event.content:
        case answers.Statement() as content:
            statement = to_message(content, answer_pb2.Statement)
            return message(statement=query_pb2.ValidatedStatement(statement=statement, citations=citations))
        case answers.DefinitionInUse() as content:
            used = to_message(content, answer_pb2.DefinitionInUse)
            return message(definition=query_pb2.ValidatedDefinition(definition=used, citations=citations))
        case answers.Note() as content:
            note = to_message(content, answer_pb2.Note)
            return message(note=query_pb2.ValidatedNote(note=note, citations=citations))


def clauses_to_wire(clauses: Sequence[answers.SupportingClause]) -> list[answer_pb2.SupportingClause]:
    """Passages."""
    return [to_message(clause, answer_pb2.SupportingClause) for clause in clauses]


def usage_to_wire(stages: Sequence[StageUsage]) -> list[answer_pb2.StageUsage]:
    """Tokens and cost, stage by stage."""
    return [to_message(stage, answer_pb2.StageUsage) for stage in stages]


def citations_to_wire(citations: Sequence[Citation]) -> list[citation_pb2.Citation]:
    """Citations with their certificates."""
    return [to_message(citation, citation_pb2.Citation) for citation in citations]
