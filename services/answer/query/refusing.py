"""Words a refusal, and gathers what shows that the documents are silent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.stems import stems_of
from services.answer.answers import AbsenceEvidence, GateDecision, GateRule, Refusal, RefusalReason, TermHits
from services.answer.corpus import Census, Found, UnknownName
from services.answer.query import notes
from services.answer.query.language import is_english
from services.answer.questions import Question

ENGLISH_ONLY = "Questions and documents in English only."
"""What a refusal says of a question in another language: the words of the documents are no others."""
MAX_NAMED_SOURCES = 5
MAX_NAMED_DOCUMENTS = 3
FUNCTION_WORDS = """
a about after again all also am among an and any are as at be because been before being both but by can
could did do does doing done during each either else ever every few for from get gets had happen happens has
have having he her here him his how however i if in into is it its just long many may me might more most much
must my neither nor not of often on only or other others our per please shall she should since so some
soon such than that the their them then there these they this those though through to too under until
upon us very was we were what whatever when where whether which while who whom whose why will with
within without would you your
"""
"""Words of the asking: that no passage holds one of them says nothing about the documents."""
MAX_TERMS = 50
MAX_TERM_CHARACTERS = 200
SILENT = {RefusalReason.NO_CHUNKS_RETRIEVED, RefusalReason.CONFIDENCE_TOO_LOW}
"""Reasons that say something of the documents."""
_FUNCTION_WORDS = frozenset(FUNCTION_WORDS.split())
_WORD = re.compile(r"\w[\w'’&.-]*\w")


@dataclass(frozen=True, slots=True)
class Named:
    """The documents that a question names, within which alone it was searched."""

    labels: tuple[str, ...]
    """Empty when it names none."""
    total: int
    """Documents that could have been searched."""


def refusal_message(sources: Sequence[str]) -> str:
    """The one sentence of every refusal; more than five sources, or none, are not named."""
    named = ", ".join(source.upper() for source in sources) if len(sources) <= MAX_NAMED_SOURCES else ""
    return f"This is not addressed in the provided {named + ' ' if named else ''}documents."


def content_words(found: Found) -> tuple[str, ...]:
    """The words of the question that carry it, as written, each once, at most 50: what is counted."""
    counted = set(found.keyword_stems)
    words: dict[str, str] = {}
    for word in _WORD.findall(found.clause_question):
        carries = word.lower() not in _FUNCTION_WORDS and counted.intersection(stems_of(word))
        if len(word) <= MAX_TERM_CHARACTERS and carries:
            words.setdefault(word.lower(), word)
    return tuple(words.values())[:MAX_TERMS]


def absence_evidence(census: Census) -> AbsenceEvidence:
    """What was searched and how often the question's words stand in it."""
    return AbsenceEvidence(
        index_revision=census.index_revision,
        documents_searched=census.documents,
        pages_searched=census.pages,
        unreadable_pages=census.unreadable_pages,
        term_hits=tuple(TermHits(count.term, count.chunks) for count in census.counts),
    )


def missing_sentence(reason: RefusalReason, gate: GateDecision, hits: Sequence[TermHits]) -> str:
    """What is missing, in one sentence; words that stand nowhere say most."""
    if reason is RefusalReason.EMPTY_CONTEXT_AFTER_BUDGET:
        return "No relevant clause fits into the token budget."
    if reason is RefusalReason.VALIDATION_FAILED:
        return "No statement stood the check of its quotes against the stored documents."
    if unknown := [f"“{hit.term}”" for hit in hits if hit.chunks == 0]:
        return f"No passage mentions {notes.either(unknown)}."
    if reason is RefusalReason.NO_CHUNKS_RETRIEVED or gate.top_score is None:
        return "No passage has anything to do with the question."
    if gate.passed:
        return "A model that was shown the nearest clauses found no answer in them."
    if gate.rule is GateRule.RATIO_TOO_LOW:
        return "No passage stands out from the others as the one that answers."
    if gate.rule is GateRule.TOO_FEW_CHUNKS:
        close, needed = gate.chunks_above_threshold, gate.min_chunks_required
        return f"Too few passages come close enough to the question: {close}, and {needed} are needed."
    return (
        "No passage comes close enough to the question: the best reaches "
        f"{gate.top_score:.2f} where {gate.threshold:.2f} is needed."
    )


def silence(named: Named, searched: int) -> str:
    """That the documents which the question names say nothing of it, and how to ask the others."""
    labels = [f"“{label}”" for label in named.labels]
    if len(labels) == 1:
        who = f"{labels[0]} does"
    elif len(labels) <= MAX_NAMED_DOCUMENTS:
        who = f"{', '.join(labels[:-1])} and {labels[-1]} do"
    else:
        who = f"The {len(labels)} documents that the question names do"
    return (
        f"{who} not address this ({searched:,} of {named.total:,} documents searched; "
        "to search all, ask with --everywhere, or everywhere: true)."
    )


def refuse_unknown(
    names: Sequence[UnknownName], gate: GateDecision, absence: AbsenceEvidence, *, chosen: bool
) -> Refusal:
    """The refusal of a question for documents that are not there; `chosen`: of those that it was asked of."""
    return Refusal(
        reason=RefusalReason.NO_DOCUMENT_NAMED,
        message=notes.no_document_names(names, chosen=chosen),
        missing=notes.nearest_sentence(names),
        gate=gate,
        nearest_clauses=(),
        absence=absence,
        nearest_names=tuple(dict.fromkeys(near for name in names for near in name.nearest)),
    )


def refuse(
    reason: RefusalReason,
    gate: GateDecision,
    question: Question,
    absence: AbsenceEvidence,
    named: Named,
) -> Refusal:
    """A refusal without its nearest clauses. What passed the gate is too weak only by a model's word."""
    missing = missing_sentence(reason, gate, absence.term_hits)
    if not is_english(question.query):
        missing = ENGLISH_ONLY
    elif named.labels and reason in SILENT:
        missing = f"{silence(named, absence.documents_searched)} {missing}"
    return Refusal(
        reason=reason,
        message=refusal_message(question.sources),
        missing=missing,
        gate=gate,
        nearest_clauses=(),
        absence=absence,
        declined_by_model=gate.passed and reason is RefusalReason.CONFIDENCE_TOO_LOW,
    )
