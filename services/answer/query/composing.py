"""Builds an answer around its statements: clauses, definitions and notes, all quoted from stored text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from corpus.chunks import Chunk
from corpus.citations import Citation
from corpus.definitions import Definition
from corpus.documents import Document
from services.answer.answers import Answer, DefinitionInUse, Note, NoteKind, Statement, SupportingClause
from services.answer.corpus import ResolvedDefinition
from services.answer.evidence.grading import GradedCandidate, clause_of
from services.answer.query import notes
from services.answer.query.conflicts import find_conflicts
from services.answer.query.defining import conflicts_of, defines, term_asked_for
from services.answer.sentences import sentences_of
from services.answer.verification.citing import Citations, doubt_notes, quote_of_definition, quote_of_sentence


@dataclass(frozen=True, slots=True)
class Draft:
    """What goes with the statements of an answer if all of it is still in the index."""

    question: str
    kept: tuple[GradedCandidate, ...]
    """The passages behind the answer, best first."""
    definitions: tuple[ResolvedDefinition, ...]
    calibrated: bool
    """Whether the gate's threshold needs no caveat."""
    is_answer: bool | None = None
    """Whether what is quoted is an answer, and not only possibly related; None where grades tell."""

    def chunk_ids(self) -> tuple[str, ...]:
        """Every chunk that may be quoted, each once."""
        ids = [graded.candidate.chunk.chunk_id for graded in self.kept]
        return tuple(dict.fromkeys([*ids, *(definition.chunk_id for definition in self.all_definitions())]))

    def conflicts_of(self, resolved: ResolvedDefinition) -> tuple[Definition, ...]:
        """The other definitions of its term that a reader must see."""
        return conflicts_of(resolved, (kept.candidate.chunk.document_id for kept in self.kept))

    def asked_definitions(self) -> tuple[Definition, ...]:
        """Definitions of the very term that is asked for, those that disagree beside the first."""
        term = term_asked_for(self.question)
        own = [resolved for resolved in self.definitions if defines(resolved.definition, term)]
        return tuple(
            found for resolved in own for found in (resolved.definition, *self.conflicts_of(resolved))
        )

    def all_definitions(self) -> Iterator[Definition]:
        """Every definition that comes along, those that disagree behind the one they disagree with."""
        for resolved in self.definitions:
            yield from (resolved.definition, *self.conflicts_of(resolved))


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
    clauses = tuple(_clauses(draft, quoted, chunks, citations.labels))
    told = [*notes.begins_earlier_notes(quoted, chunks), *_cut_definitions(draft, citations)]
    told += _notes(draft, citations, quoted, definitions, clauses, documents)
    told += doubt_notes(citations.all, chunks)
    return Answer(citations.all, _headed(statements, told), clauses, definitions, tuple(told))


def _headed(statements: tuple[Statement, ...], told: Iterable[Note]) -> tuple[Statement, ...]:
    """The statements; all of them only possibly related when the evidence of each is weak."""
    weak = {n for note in told if note.kind is NoteKind.WEAK_EVIDENCE for n in note.citation_numbers}
    if any(not weak.issuperset(statement.citation_numbers) for statement in statements):
        return statements
    return tuple(replace(statement, possibly_related=True) for statement in statements)


def _clauses(
    draft: Draft, quoted: tuple[Citation, ...], chunks: Mapping[str, Chunk], labels: Mapping[str, str]
) -> Iterator[SupportingClause]:
    for graded in draft.kept:
        chunk = chunks.get(graded.candidate.chunk.chunk_id)
        if chunk is not None:
            own = [
                citation
                for citation in quoted
                if citation.document == chunk.document_id and citation.span in chunk.span
            ]
            spans = {part.span for citation in own for part in citation.parts if part.span in chunk.span}
            starts = [citation.span.start for citation in own]
            section = chunk.section_at(min(starts)) if starts else chunk.section
            ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end)))
            yield replace(clause_of(graded, chunk, labels), quoted=ordered, section=section)


def _definitions(draft: Draft, citations: Citations) -> Iterator[DefinitionInUse]:
    for resolved in draft.definitions:
        citation = citations.cite(quote_of_definition(resolved.definition))
        if citation is not None:
            others = [citations.cite(quote_of_definition(other)) for other in draft.conflicts_of(resolved)]
            numbers = tuple(other.number for other in others if other and other.number != citation.number)
            yield DefinitionInUse(
                resolved.definition.term, citation.number, numbers, resolved.depth, resolved.used_by
            )


def _cut_definitions(draft: Draft, citations: Citations) -> Iterator[Note]:
    cited = {(citation.document, citation.span.start): citation for citation in citations.all}
    for definition in draft.all_definitions():
        citation = cited.get((definition.document_id, definition.span.start))
        if citation is not None and definition.text[citation.span.end - definition.span.start :].strip():
            yield notes.definition_goes_on_note(definition.term, citation)


def _notes(
    draft: Draft,
    citations: Citations,
    quoted: tuple[Citation, ...],
    definitions: tuple[DefinitionInUse, ...],
    clauses: tuple[SupportingClause, ...],
    documents: Mapping[str, Document],
) -> Iterator[Note]:
    by_number = {citation.number: citation for citation in citations.all}
    yield from notes.weak_evidence_notes(clauses, quoted, draft.is_answer)
    if not draft.calibrated:
        yield notes.UNCALIBRATED
    for definition in definitions:
        if definition.conflicting_citation_numbers:
            numbers = (definition.citation_number, *definition.conflicting_citation_numbers)
            yield notes.definition_conflict_note(definition.term, [by_number[number] for number in numbers])
    yield from _value_conflicts(draft, citations)
    yield from notes.cross_reference_notes(quoted)
    yield from notes.unreadable_page_notes(citations.all, documents.values())
    yield from notes.hidden_text_notes(citations.all, documents.values())
    yield from notes.scanned_page_notes(citations.all, documents)
    yield from notes.left_out_notes(citations.all, documents.values())


def _value_conflicts(draft: Draft, citations: Citations) -> Iterator[Note]:
    if len({graded.candidate.chunk.document_id for graded in draft.kept}) < 2:
        return
    sentences = [sentence for graded in draft.kept for sentence in sentences_of(graded.candidate.chunk)]
    for conflict in find_conflicts(sentences):
        left, right = quote_of_sentence(conflict.left), quote_of_sentence(conflict.right)
        if citations.find(left) and citations.find(right):
            cited = [citation for quote in (left, right) if (citation := citations.cite(quote))]
            yield notes.value_conflict_note(conflict, *cited)
