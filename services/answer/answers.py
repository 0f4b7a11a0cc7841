"""The answer and its parts: plain values that mirror `clausegate.answer.v1`, one to one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from corpus.citations import Citation, QuotePart
from corpus.spans import Span
from corpus.wire import Wire


class Outcome(StrEnum):
    """How a question comes out."""

    ANSWERED = "answered"
    RELATED = "related"
    """There are statements, and it is not certain enough that one of them answers the question."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that the documents say; at least one citation."""

    text: str
    source_prefixes: tuple[str, ...]
    citation_numbers: tuple[int, ...]
    possibly_related: bool = False
    """Whether it is shown as possibly related, and never as an answer."""


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence in a model's own words that its quotes bear out; shown beside them only."""

    text: str
    citation_numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SupportingClause:
    """A passage behind the answer, or one near a refused question."""

    chunk_id: str
    chunk_alias: str
    document: str
    source: str
    title: str
    document_label: str
    """What people call the document."""
    section: str
    page: int | None
    last_page: int | None
    text: str
    span: Span
    quoted: tuple[Span, ...]
    grade: int | None
    probability: float | None
    score: float
    context_before: tuple[QuotePart, ...] = ()
    """Words outside `text` that lead into parts of it."""
    context_after: tuple[QuotePart, ...] = ()
    """Conditions outside `text` that parts of it stand under."""


@dataclass(frozen=True, slots=True)
class DefinitionInUse:
    """A defined term that the question or the statements use."""

    term: str
    citation_number: int
    conflicting_citation_numbers: tuple[int, ...]
    depth: int
    used_by: str


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """What one of several documents says that a question names, or asks for."""

    document_id: str
    label: str
    outcome: Outcome
    statement_numbers: tuple[int, ...] = ()
    """Places of its statements among those of the answer, from 1."""


class NoteKind(StrEnum):
    """What a note is about."""

    DEFINITION_CONFLICT = "definition_conflict"
    VALUE_CONFLICT = "value_conflict"
    CROSS_REFERENCE = "cross_reference"
    UNREADABLE_PAGES = "unreadable_pages"
    UNCALIBRATED = "uncalibrated"
    WEAK_EVIDENCE = "weak_evidence"
    HIDDEN_TEXT = "hidden_text"
    SCANNED_PAGES = "scanned_pages"
    CUT_QUOTE = "cut_quote"
    READING_ORDER = "reading_order"
    MISSING_WORDS = "missing_words"
    DOUBTFUL_TEXT = "doubtful_text"
    LEFT_OUT = "left_out"
    NOT_NAMED = "not_named"
    DOCUMENT_SILENT = "document_silent"
    FOUND_IN = "found_in"
    ASKED_OF_EACH = "asked_of_each"
    MODEL_REPLY_UNUSED = "model_reply_unused"
    MODEL_DECLINED = "model_declined"


@dataclass(frozen=True, slots=True)
class Note:
    """What a careful reader should know besides the answer, one sentence."""

    kind: NoteKind
    text: str
    citation_numbers: tuple[int, ...] = ()


class RefusalReason(StrEnum):
    """Why a question is refused."""

    NO_CHUNKS_RETRIEVED = "no_chunks_retrieved"
    CONFIDENCE_TOO_LOW = "confidence_too_low"
    EMPTY_CONTEXT_AFTER_BUDGET = "empty_context_after_budget"
    VALIDATION_FAILED = "validation_failed"
    NO_DOCUMENT_NAMED = "no_document_named"


class GateRule(StrEnum):
    """The rule of the gate that decided."""

    PASSED = "passed"
    NOTHING_RETRIEVED = "nothing_retrieved"
    BELOW_THRESHOLD = "below_threshold"
    TOO_FEW_CHUNKS = "too_few_chunks"
    SCORE_TOO_LOW = "score_too_low"
    RATIO_TOO_LOW = "ratio_too_low"


class GateTier(StrEnum):
    """Which of the gate's rules apply: to graded candidates or to raw scores."""

    GRADED = "graded"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What the gate decided and why, see `clausegate.answer.v1.GateDecision`."""

    enabled: bool
    passed: bool
    tier: GateTier
    rule: GateRule
    top_score: float | None
    threshold: float
    min_chunks_required: int
    chunks_above_threshold: int
    ratio: float | None
    calibrated: bool


@dataclass(frozen=True, slots=True)
class TermHits:
    """How often a word of the question stands in the documents searched."""

    term: str
    chunks: int


@dataclass(frozen=True, slots=True)
class AbsenceEvidence:
    """What was searched without finding an answer."""

    index_revision: str
    documents_searched: int
    pages_searched: int
    unreadable_pages: int
    term_hits: tuple[TermHits, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer. A normal response, never an error."""

    reason: RefusalReason
    message: str
    missing: str
    gate: GateDecision
    nearest_clauses: tuple[SupportingClause, ...]
    absence: AbsenceEvidence
    declined_by_model: bool = False
    """Whether the gate passed, and neither the answer model nor local evidence found an answer."""
    nearest_names: tuple[str, ...] = ()
    """Names that documents bear, when the question asks for one by a name that none bears."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """About one response; query id, trace id and times differ between a stream and its unary twin."""

    WIRE: ClassVar = Wire(names={"latency_seconds": "latency"})

    query_id: str
    trace_id: str
    context_tokens: int
    token_encoding: str
    model: str
    grader: str
    index_revision: str
    normalized_query: str
    finished_at: datetime
    latency_seconds: float
    prompt_version: str = ""
    grading_failure: str = ""
    """Reason of a model's grading that failed, so that local grading stood in; empty otherwise."""
    dropped_statements: int = 0
    """Quotes of the model that did not leave."""
    dropped_summary_sentences: int = 0
    """Sentences of its summary that did not leave."""


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """What one stage would send to a model at most, see `clausegate.answer.v1.StageEstimate`."""

    stage: str
    model: str
    prompt_tokens: int
    max_completion_tokens: int
    max_cost_usd: float
    priced: bool


@dataclass(frozen=True, slots=True)
class DryRun:
    """What answering would send to models; nothing was sent."""

    WIRE: ClassVar = Wire(derived=frozenset({"max_cost_usd"}))

    stages: tuple[StageEstimate, ...] = ()

    @property
    def max_cost_usd(self) -> float:
        """What all stages cost at most, in US dollars, as far as their models have prices."""
        return sum(stage.max_cost_usd for stage in self.stages)


@dataclass(frozen=True, slots=True)
class Answer:
    """The content of a response: an answer, or a refusal without statements. Everything else is derived."""

    citations: tuple[Citation, ...] = ()
    statements: tuple[Statement, ...] = ()
    supporting_clauses: tuple[SupportingClause, ...] = ()
    definitions: tuple[DefinitionInUse, ...] = ()
    notes: tuple[Note, ...] = ()
    refusal: Refusal | None = None
    definitions_left_out: int = 0
    """Definitions of other terms used that were left out."""
    documents: tuple[DocumentAnswer, ...] = ()
    """What each document says, in the order of naming, when the question names several."""
    summary: tuple[SummarySentence, ...] = ()
    """The answer in a model's words; empty unless the outcome is answered."""

    @property
    def outcome(self) -> Outcome:
        """Answered by a single statement that is more than possibly related."""
        if self.refusal is not None:
            return Outcome.REFUSED
        only_related = all(statement.possibly_related for statement in self.statements)
        return Outcome.RELATED if only_related else Outcome.ANSWERED
