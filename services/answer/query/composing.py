"""Builds an answer around its statements: clauses, definitions and notes, all quoted from stored text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from services.answer.answers import (
    Answer,
    Citation,
    DefinitionInUse,
    Note,
    NoteKind,
    Statement,
    SupportingClause,
)
from services.answer.corpus import Chunk, Definition, Document, ResolvedDefinition
from services.answer.evidence.grading import GradedCandidate, clause_of
from services.answer.query import notes
from services.answer.query.conflicts import find_conflicts
from services.answer.query.defining import conflicts_of, defines, term_asked_for
from services.answer.sentences import sentences_of
from services.answer.verification.citing import Citations, quote_of_definition, quote_of_sentence
from services.answer.verification.doubts import doubt_notes


@dataclass(frozen=True, slots=True)
class Draft:
    """What goes with the statements of an answer if all of it is still in the index."""

    question: str
    kept: tuple[GradedCandidate, ...]
    """The passages behind the answer, best first."""
    definitions: tuple[ResolvedDefinition, ...]
    calibrated: bool
    """Whether the gate's threshold needs no caveat."""

    def chunk_ids(self) -> tuple[str, ...]:
        """Every chunk that may be quoted, each once."""
        ids = [one.candidate.chunk.chunk_id for one in self.kept]
        return tuple(dict.fromkeys([*ids, *(one.chunk_id for one in self.all_definitions())]))

    def conflicts_of(self, one: ResolvedDefinition) -> tuple[Definition, ...]:
        """The other definitions of its term that a reader must see."""
        return conflicts_of(one, (kept.candidate.chunk.document_id for kept in self.kept))

    def asked_definitions(self) -> tuple[Definition, ...]:
        """Definitions of the very term that is asked for, those that disagree beside the first."""
        term = term_asked_for(self.question)
        own = [one for one in self.definitions if defines(one.definition, term)]
        return tuple(found for one in own for found in (one.definition, *self.conflicts_of(one)))

    def all_definitions(self) -> Iterator[Definition]:
        """Every definition that comes along, those that disagree behind the one they disagree with."""
        for one in self.definitions:
            yield from (one.definition, *self.conflicts_of(one))


def compose(
    draft: Draft,
    statements: tuple[Statement, ...],
    citations: Citations,
    chunks: Mapping[str, Chunk],
    documents: Mapping[str, Document],
) -> Answer:
    """The answer: statements, which alone are cited so far, and what code adds to them.

    What the citations do not hold is dropped.
    """
    quoted = citations.all
    definitions = tuple(_definitions(draft, citations))
    clauses = tuple(_clauses(draft, quoted, chunks))
    told = [*notes.begins_earlier_notes(quoted, chunks), *_cut_definitions(draft, citations)]
    told += _notes(draft, citations, quoted, definitions, clauses, documents)
    told += doubt_notes(citations.all, chunks)
    return Answer(citations.all, _headed(statements, told), clauses, definitions, tuple(told))


def _headed(statements: tuple[Statement, ...], told: Iterable[Note]) -> tuple[Statement, ...]:
    """The statements; all of them only possibly related when the evidence of each is weak."""
    weak = {n for note in told if note.kind is NoteKind.WEAK_EVIDENCE for n in note.citation_numbers}
    if any(not weak.issuperset(one.citation_numbers) for one in statements):
        return statements
    return tuple(replace(one, possibly_related=True) for one in statements)


def _clauses(
    draft: Draft, quoted: tuple[Citation, ...], chunks: Mapping[str, Chunk]
) -> Iterator[SupportingClause]:
    for graded in draft.kept:
        chunk = chunks.get(graded.candidate.chunk.chunk_id)
        if chunk is not None:
            own = [one for one in quoted if one.document == chunk.document_id and one.span in chunk.span]
            spans = {part.span for one in own for part in one.parts if part.span in chunk.span}
            starts = [one.span.start for one in own]
            section = chunk.section_at(min(starts)) if starts else chunk.section
            ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end)))
            yield replace(clause_of(graded, chunk), quoted=ordered, section=section)


def _definitions(draft: Draft, citations: Citations) -> Iterator[DefinitionInUse]:
    for one in draft.definitions:
        citation = citations.cite(quote_of_definition(one.definition))
        if citation is not None:
            others = [citations.cite(quote_of_definition(other)) for other in draft.conflicts_of(one)]
            numbers = tuple(other.number for other in others if other and other.number != citation.number)
            yield DefinitionInUse(one.definition.term, citation.number, numbers, one.depth, one.used_by)


def _cut_definitions(draft: Draft, citations: Citations) -> Iterator[Note]:
    cited = {(one.document, one.span.start): one for one in citations.all}
    for one in draft.all_definitions():
        citation = cited.get((one.document_id, one.span.start))
        if citation is not None and one.text[citation.span.end - one.span.start :].strip():
            yield notes.definition_goes_on_note(one.term, citation)


def _notes(
    draft: Draft,
    citations: Citations,
    quoted: tuple[Citation, ...],
    definitions: tuple[DefinitionInUse, ...],
    clauses: tuple[SupportingClause, ...],
    documents: Mapping[str, Document],
) -> Iterator[Note]:
    by_number = {one.number: one for one in citations.all}
    yield from notes.weak_evidence_notes(clauses, quoted)
    if not draft.calibrated:
        yield notes.UNCALIBRATED
    for one in definitions:
        if one.conflicting_citation_numbers:
            numbers = (one.citation_number, *one.conflicting_citation_numbers)
            yield notes.definition_conflict_note(one.term, [by_number[number] for number in numbers])
    yield from _value_conflicts(draft, citations)
    yield from notes.cross_reference_notes(quoted)
    yield from notes.unreadable_page_notes(citations.all, documents.values())
    yield from notes.hidden_text_notes(citations.all, documents.values())
    yield from notes.scanned_page_notes(citations.all, documents)
    yield from notes.left_out_notes(citations.all, documents.values())


def _value_conflicts(draft: Draft, citations: Citations) -> Iterator[Note]:
    if len({one.candidate.chunk.document_id for one in draft.kept}) < 2:
        return
    sentences = [sentence for one in draft.kept for sentence in sentences_of(one.candidate.chunk)]
    for conflict in find_conflicts(sentences):
        left, right = quote_of_sentence(conflict.left), quote_of_sentence(conflict.right)
        if citations.find(left) and citations.find(right):
            cited = [one for quote in (left, right) if (one := citations.cite(quote))]
            yield notes.value_conflict_note(conflict, *cited)
