"""Answers a question in each of the documents that it names or asks for, and puts the answers together.

Each document is searched, graded, gated and quoted on its own: what another one says more clearly does not
silence it, and nothing quotes a document that the question does not name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from services.answer.answers import Answer, DocumentAnswer, GateDecision, Outcome, RefusalReason
from services.answer.corpus import Found
from services.answer.evidence.budget import BudgetReport
from services.answer.query.choosing import Chosen
from services.answer.query.merging import merged
from services.answer.query.notes import asked_of_each_note, document_silent_note
from services.answer.query.progress import Progress

_T = TypeVar("_T")


@dataclass(slots=True)
class Part:
    """What is made of the question in one document, or in all that were searched together."""

    progress: Progress
    found: Found
    result: Answer | RefusalReason | None = None
    """None before."""

    @property
    def decision(self) -> GateDecision:
        """What the gate decided; not before it has."""
        assert self.progress.gate is not None
        return self.progress.gate

    @property
    def document_id(self) -> str:
        """The document that was asked."""
        return self.progress.question.document_ids[0]

    @property
    def label(self) -> str:
        """What people call the document; its path when it is not there any more."""
        return self.progress.labels.get(self.document_id, self.document_id.partition("/")[2])


def part_of(progress: Progress, document_id: str, asked: str, labels: Mapping[str, str]) -> Progress:
    """The progress of what is `asked` in one of the documents, on the same clock; `labels` of all, by id."""
    question = replace(progress.question, query=asked, sources=(), document_ids=(document_id,))
    return Progress(progress.run, question, progress.model, labels=labels, seconds=progress.seconds)


def best_of(parts: Sequence[Part]) -> Part:
    """The first that passed the gate; the first of all when none did."""
    return next((part for part in parts if part.decision.passed), parts[0])


def gather(progress: Progress, parts: Sequence[Part]) -> None:
    """Tell of the whole query what its parts have come to so far; a single one tells of itself."""
    if len(parts) == 1:
        return
    of_parts = [part.progress for part in parts]
    best = best_of(parts).progress
    progress.gate, progress.grader, progress.model = best.gate, best.grader, best.model
    progress.signs, progress.estimate = best.signs, best.estimate
    progress.prompt_version = next(filter(None, (part.prompt_version for part in of_parts)), "")
    progress.grading_failure = next(filter(None, (part.grading_failure for part in of_parts)), "")
    progress.ranked = _joined(part.ranked for part in of_parts)
    progress.strong = _joined(part.strong for part in of_parts)
    progress.kept = _joined(part.kept for part in of_parts)
    packed = [part.packed for part in of_parts if part.packed is not None]
    progress.packed = _joined(packed) if packed else None
    progress.resolved = _joined(part.resolved for part in of_parts)
    progress.defined = _joined(part.defined for part in of_parts)
    progress.dropped = _joined(part.dropped for part in of_parts)
    progress.dropped_sentences = _joined(part.dropped_sentences for part in of_parts)
    budgets = [part.budget for part in of_parts if part.budget]
    progress.budget = _sum(budgets) if budgets else None


def together(parts: Sequence[Part], chosen: Chosen | None) -> Answer | RefusalReason:
    """The answers of several documents as one, in the order given; that of a single part as it is.

    Of documents that bear one name those come first that answer. Why there is none, when all are refused.
    """
    if len(parts) == 1 and parts[0].result is not None:
        return parts[0].result
    assert chosen is not None
    if chosen.by_one_name:
        parts = sorted(parts, key=_outcome_first)
    answers = [part.result if isinstance(part.result, Answer) else Answer() for part in parts]
    if not any(answer.statements for answer in answers):
        refused = best_of(parts).result
        assert isinstance(refused, RefusalReason)
        return refused
    if not chosen.is_named:
        answers = [_cell(answer) for answer in answers]
    whole = merged(answers)
    documents = tuple(_document_answers(parts, answers))
    outcomes = Counter(document.outcome for document in documents)
    silent = [document for document in documents if document.outcome is Outcome.REFUSED]
    told = (
        map(document_silent_note, (document.label for document in silent))
        if chosen.is_named
        else [asked_of_each_note(outcomes, chosen.not_asked)]
    )
    return replace(whole, documents=documents, notes=(*told, *whole.notes))


def _outcome_first(part: Part) -> int:
    """Sorts answers first, then what is only related."""
    outcome = part.result.outcome if isinstance(part.result, Answer) else Outcome.REFUSED
    return list(Outcome).index(outcome)


def _cell(answer: Answer) -> Answer:
    """The first statement of an answer, with what it cites, and without what only many statements need."""
    statements = answer.statements[:1]
    cited = {number for statement in statements for number in statement.citation_numbers}
    citations = tuple(citation for citation in answer.citations if citation.number in cited)
    chunks = {citation.chunk_id for citation in citations}
    return replace(
        answer,
        citations=citations,
        statements=statements,
        supporting_clauses=tuple(clause for clause in answer.supporting_clauses if clause.chunk_id in chunks),
        definitions=(),
        summary=tuple(said for said in answer.summary if cited.issuperset(said.citation_numbers)),
        notes=tuple(note for note in answer.notes if cited.issuperset(note.citation_numbers)),
        definitions_left_out=answer.definitions_left_out + len(answer.definitions),
    )


def _document_answers(parts: Sequence[Part], answers: Sequence[Answer]) -> Iterator[DocumentAnswer]:
    said = 0
    for part, answer in zip(parts, answers, strict=True):
        numbers = tuple(range(said + 1, said + 1 + len(answer.statements)))
        outcome = answer.outcome if numbers else Outcome.REFUSED
        yield DocumentAnswer(part.document_id, part.label, outcome, numbers)
        said += len(numbers)


def _sum(budgets: Sequence[BudgetReport]) -> BudgetReport:
    return BudgetReport(
        target_tokens=sum(budget.target_tokens for budget in budgets),
        final_tokens=sum(budget.final_tokens for budget in budgets),
        chunks_kept=sum(budget.chunks_kept for budget in budgets),
        chunks_dropped=sum(budget.chunks_dropped for budget in budgets),
    )


def _joined(parts: Iterable[Iterable[_T]]) -> tuple[_T, ...]:
    return tuple(chain.from_iterable(parts))
