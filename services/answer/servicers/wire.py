"""Between the messages of `clausegate.answer.v1` and the values of this service; nothing is decided here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from clausegate.answer.v1 import answer_pb2, debug_pb2
from clausegate.answer.v1 import query_service_pb2 as query_pb2
from clausegate.corpus.v1 import citation_pb2
from corpus.citations import Citation
from corpus.codec import to_message
from corpus.labels import labels_of
from services.answer import answers
from services.answer.query import each, events
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
        everywhere=request.everywhere,
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
        markdown_full=response.markdown_full,
        usage=usage_to_wire(response.usage),
        debug=_debug(response.debug) if response.debug else None,
        dry_run=to_message(response.dry_run, answer_pb2.DryRun) if response.dry_run else None,
        outcome=outcome_to_wire(response.outcome),
        definitions_left_out=answer.definitions_left_out,
        documents=[to_message(document, answer_pb2.DocumentAnswer) for document in answer.documents],
        summary=[to_message(sentence, answer_pb2.SummarySentence) for sentence in answer.summary],
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
        case events.ValidatedSummary():
            return message(summary=to_message(event, query_pb2.ValidatedSummary))
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


def each_question_of(request: query_pb2.QueryEachRequest) -> each.EachQuestion:
    """What is asked of each document; nothing is checked yet."""
    return each.EachQuestion(
        queries=tuple(request.queries),
        sources=tuple(request.sources),
        document_ids=tuple(request.document_ids),
        max_cost_usd=request.max_cost_usd if request.HasField("max_cost_usd") else None,
    )


def each_event_to_wire(event: each.EachEvent) -> query_pb2.QueryEachResponse:
    """One event of asking each document."""
    message = query_pb2.QueryEachResponse
    match event:
        case each.EachBegun(documents, cells):
            named = [
                query_pb2.EachDocument(document_id=document_id, label=label)
                for document_id, label in labels_of(documents).items()
            ]
            return message(begun=query_pb2.EachBegun(documents=named, cells=cells))
        case each.EachCompleted(outcomes):
            counts = {outcome.value if outcome else "failed": count for outcome, count in outcomes.items()}
            return message(completed=query_pb2.EachCompleted(**counts))
        case each.EachCell():
            return message(cell=_cell(event))


def _cell(cell: each.EachCell) -> query_pb2.EachCell:
    error, statement = cell.error, cell.statement
    return query_pb2.EachCell(
        query=cell.query,
        document_id=cell.document_id,
        outcome=outcome_to_wire(cell.outcome),
        statement=to_message(statement, answer_pb2.Statement) if statement else None,
        citations=citations_to_wire(cell.citations),
        query_id=cell.query_id,
        error_reason=error.reason if error else "",
        error_message=error.message if error else "",
    )


def outcome_to_wire(outcome: answers.Outcome | None) -> answer_pb2.Outcome.ValueType:
    """How a question came out; None is unset."""
    return answer_pb2.Outcome.Value(f"OUTCOME_{outcome.name if outcome else 'UNSPECIFIED'}")
