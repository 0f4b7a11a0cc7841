"""Every class that the codec turns into a message or back, with the message; values and messages of them."""

from __future__ import annotations

import ast
import importlib
from dataclasses import is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from clausegate.answer.v1 import answer_pb2, grounding_service_pb2, model_service_pb2, query_service_pb2
from clausegate.corpus.v1 import (
    article_pb2,
    chunk_pb2,
    citation_pb2,
    definition_pb2,
    document_pb2,
    profile_pb2,
    span_pb2,
)
from clausegate.ingest.v1 import ingest_service_pb2
from clausegate.retrieval.v1 import document_service_pb2, project_service_pb2, retrieval_service_pb2
from corpus import chunks, citations, definitions, documents, profiles, spans
from corpus.codec import Pair, pairs_of
from corpus.wire import SAME
from services.answer import answers, article, models
from services.answer import corpus as answer
from services.answer.checking import citations as checking
from services.answer.checking import texts
from services.answer.query import events
from services.answer.records import usage
from services.ingest import originals, records
from services.retrieval import corpus as retrieval
from services.retrieval import evidence, excerpts, routes, routing

ROOT = Path(__file__).resolve().parents[3]
PAIRS: list[tuple[type, Any]] = [
    (spans.Span, span_pb2.Span),
    (spans.PageSpan, span_pb2.PageSpan),
    (spans.SectionSpan, span_pb2.SectionSpan),
    (chunks.ContextPart, chunk_pb2.ContextPart),
    (chunks.TextDoubt, chunk_pb2.TextDoubt),
    (chunks.Chunk, chunk_pb2.Chunk),
    (documents.Document, document_pb2.Document),
    (definitions.Definition, definition_pb2.Definition),
    (profiles.ProfileTitle, profile_pb2.ProfileTitle),
    (profiles.OtherName, profile_pb2.OtherName),
    (profiles.Party, profile_pb2.Party),
    (profiles.StatedDate, profile_pb2.StatedDate),
    (profiles.AmendedAgreement, profile_pb2.AmendedAgreement),
    (profiles.DocumentProfile, profile_pb2.DocumentProfile),
    (citations.QuotePart, citation_pb2.QuotePart),
    (citations.Highlight, citation_pb2.Highlight),
    (citations.QuoteBox, citation_pb2.QuoteBox),
    (citations.Certificate, citation_pb2.Certificate),
    (citations.Citation, citation_pb2.Citation),
    (answer.Leg, retrieval_service_pb2.Leg),
    (answer.Background, retrieval_service_pb2.Background),
    (answer.Window, retrieval_service_pb2.WindowMatch),
    (answer.ResolvedDefinition, retrieval_service_pb2.ResolvedDefinition),
    (answer.TermCount, retrieval_service_pb2.TermCount),
    (answer.UnknownName, retrieval_service_pb2.UnknownName),
    (answer.Census, retrieval_service_pb2.CountTermsResponse),
    (answer.Project, project_service_pb2.Project),
    (article.ArticleClaim, article_pb2.ArticleClaim),
    (article.Article, article_pb2.Article),
    (answers.Statement, answer_pb2.Statement),
    (answers.SummarySentence, answer_pb2.SummarySentence),
    (answers.SupportingClause, answer_pb2.SupportingClause),
    (answers.DocumentAnswer, answer_pb2.DocumentAnswer),
    (answers.DefinitionInUse, answer_pb2.DefinitionInUse),
    (answers.Note, answer_pb2.Note),
    (answers.Refusal, answer_pb2.Refusal),
    (answers.Metadata, answer_pb2.Metadata),
    (answers.DryRun, answer_pb2.DryRun),
    (usage.StageUsage, answer_pb2.StageUsage),
    (events.Retrieved, query_service_pb2.Retrieved),
    (events.Graded, query_service_pb2.Graded),
    (events.Gated, query_service_pb2.Gated),
    (events.Estimated, query_service_pb2.Estimated),
    (events.ValidatedSummary, query_service_pb2.ValidatedSummary),
    (events.Refused, query_service_pb2.Refused),
    (events.SupportingClauses, query_service_pb2.SupportingClauses),
    (texts.Asked, grounding_service_pb2.CheckGroundingRequest),
    (texts.Checked, grounding_service_pb2.CheckGroundingResponse),
    (checking.Verification, grounding_service_pb2.VerifyCitationResponse),
    (records.Progress, ingest_service_pb2.IngestProgress),
    (excerpts.Excerpt, document_service_pb2.GetTextResponse),
    (originals.OriginalFile, ingest_service_pb2.OriginalFile),
    (evidence.WindowMatch, retrieval_service_pb2.WindowMatch),
    (routes.UnknownName, retrieval_service_pb2.UnknownName),
    (routing.Routed, retrieval_service_pb2.RoutedDocument),
    (routes.UnknownName, retrieval_service_pb2.UnknownName),
    (retrieval.Project, project_service_pb2.Project),
    (models.ModelsInForce, model_service_pb2.DescribeModelsResponse),
]

NUMBERS = st.integers(-(2**31), 2**31 - 1)
SIMPLE = {
    bool: st.booleans(),
    int: NUMBERS,
    float: st.floats(allow_nan=False),
    str: st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    bytes: st.binary(max_size=9),
    datetime: st.datetimes(timezones=st.just(UTC)),
    timedelta: st.timedeltas(timedelta(days=-999), timedelta(days=999)),
}
SECONDS = st.integers(-(10**6), 10**6).map(lambda milliseconds: milliseconds / 1000)
"""Whole microseconds, which is what a duration keeps of seconds."""


def values_of(of: type, descriptor: Any) -> st.SearchStrategy[Any]:
    """Values of a class, whatever its fields allow."""
    drawn = {pair.ours: _drawn(pair, _value(pair)) for pair in pairs_of(of, descriptor)}
    return st.builds(of, **drawn)


def messages_of(of: type, descriptor: Any) -> st.SearchStrategy[Any]:
    """Messages with what the class knows of; each message within one is set."""
    drawn = {pair.theirs.name: _drawn(pair, _content(pair)) for pair in pairs_of(of, descriptor)}
    return st.builds(GetMessageClass(descriptor), **drawn)


def _drawn(pair: Pair, item: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    if pair.theirs.is_repeated:
        return st.lists(item, max_size=2).map(tuple)
    return st.none() | item if pair.is_optional else item


def _value(pair: Pair) -> st.SearchStrategy[Any]:
    if pair.hint is float and pair.theirs.message_type:
        return SECONDS
    if is_dataclass(pair.hint):
        return values_of(pair.hint, pair.theirs.message_type)
    return st.sampled_from(pair.hint) if issubclass(pair.hint, Enum) else SIMPLE[pair.hint]


def _content(pair: Pair) -> st.SearchStrategy[Any]:
    if is_dataclass(pair.hint):
        return messages_of(pair.hint, pair.theirs.message_type)
    if issubclass(pair.hint, Enum):
        return st.sampled_from([value.number for value in pair.theirs.enum_type.values if value.number])
    if pair.theirs.message_type:
        return SIMPLE[timedelta if pair.hint is float else pair.hint]
    return st.floats(width=32) if pair.theirs.type == FieldDescriptor.TYPE_FLOAT else SIMPLE[pair.hint]


def converted_in_services() -> set[tuple[str, str]]:
    """Class and message of each call of the codec in the services: the one of the two that the call names."""
    found = set()
    for path in sorted((ROOT / "services").rglob("*.py")):
        tree = ast.parse(path.read_text())
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("to_message", "from_message"):
                found.add(eval(ast.unparse(call.args[1]), vars(module)))
    return found


def exceptions_of(of: type) -> tuple[set[str], set[str]]:
    """What a class names as fields of its own, and of the message alone."""
    wire = getattr(of, "WIRE", SAME)
    return {*wire.names, *wire.only_here}, {*wire.names.values(), *wire.only_there, *wire.derived}


def derives(of: type, descriptor: Any) -> bool:
    """Whether a message of the class holds what the class works out from the rest."""
    inner = [pair for pair in pairs_of(of, descriptor) if is_dataclass(pair.hint)]
    own = bool(getattr(of, "WIRE", SAME).derived)
    return own or any(derives(pair.hint, pair.theirs.message_type) for pair in inner)
