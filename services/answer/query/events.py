"""The events of an answer. They tell all of it: folded together again they are the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from corpus.citations import Citation
from services.answer.answers import (
    Answer,
    DefinitionInUse,
    DocumentAnswer,
    DryRun,
    GateDecision,
    Metadata,
    Note,
    Outcome,
    Refusal,
    Statement,
    SummarySentence,
    SupportingClause,
)
from services.answer.records.usage import StageUsage

Content = Statement | DefinitionInUse | Note


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Candidates were found."""

    normalized_query: str
    candidates: int
    routed_documents: tuple[str, ...]
    index_revision: str


@dataclass(frozen=True, slots=True)
class GradedChunk:
    """One candidate after grading."""

    chunk_id: str
    chunk_alias: str
    grade: int
    score: float
    probability: float | None
    kept: bool


@dataclass(frozen=True, slots=True)
class Graded:
    """Candidates were graded; best first."""

    chunks: tuple[GradedChunk, ...]


@dataclass(frozen=True, slots=True)
class Gated:
    """The gate has decided."""

    decision: GateDecision


@dataclass(frozen=True, slots=True)
class SupportingClauses:
    """The passages behind what follows, best first."""

    clauses: tuple[SupportingClause, ...]
    outcome: Outcome
    """What the statements that follow come to."""
    definitions_left_out: int = 0
    """See `Answer`."""
    documents: tuple[DocumentAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class Validated:
    """A statement, definition or note whose quotes stand, with the citations it is the first to use."""

    content: Content
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class ValidatedSummary:
    """What a model makes of the statements before it, as far as their quotes bear it out."""

    sentences: tuple[SummarySentence, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The question is not answered."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Estimated:
    """A dry run ends here."""

    dry_run: DryRun


@dataclass(frozen=True, slots=True)
class Response:
    """The whole: the answer, what was made of it for people, and how it came about."""

    answer: Answer
    text: str
    markdown: str
    """What a reader needs first."""
    markdown_full: str
    """All of it."""
    metadata: Metadata
    debug: Mapping[str, object] | None
    """How the query came to its answer, see `progress.explained`; set when asked for."""
    usage: tuple[StageUsage, ...] = ()
    """Tokens and cost by stage; empty when no model was called."""
    dry_run: DryRun | None = None
    """Set when asked for: then the answer is empty."""

    @property
    def outcome(self) -> Outcome | None:
        """How the question came out; None for a dry run."""
        return None if self.dry_run else self.answer.outcome


@dataclass(frozen=True, slots=True)
class Completed:
    """The end."""

    response: Response


AnswerEvent = SupportingClauses | Validated | ValidatedSummary | Refused
StageEvent = Retrieved | Graded | Gated | Estimated
Event = StageEvent | AnswerEvent | Completed


def unfold(answer: Answer) -> Iterator[AnswerEvent]:
    """The events that tell an answer, in order of number; each citation comes with what uses it first."""
    if answer.refusal is not None:
        yield Refused(answer.refusal)
        return
    yield SupportingClauses(
        answer.supporting_clauses, answer.outcome, answer.definitions_left_out, answer.documents
    )
    contents: tuple[Content, ...] = (*answer.statements, *answer.definitions, *answer.notes)
    validated = list(_validated(contents, answer.citations))
    yield from validated[: len(answer.statements)]
    if answer.summary:
        yield ValidatedSummary(answer.summary)
    yield from validated[len(answer.statements) :]


def _validated(contents: Iterable[Content], citations: Sequence[Citation]) -> Iterator[Validated]:
    told = 0
    for content in contents:
        highest = max(numbers_of(content), default=told)
        yield Validated(content, tuple(citations[told:highest]))
        told = max(told, highest)


def numbers_of(content: Content) -> tuple[int, ...]:
    """The citations that a part of an answer refers to."""
    if isinstance(content, DefinitionInUse):
        return (content.citation_number, *content.conflicting_citation_numbers)
    return content.citation_numbers
