"""Words a refusal, and gathers what shows that the documents are silent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus.stems import stems_of
from services.answer.answers import AbsenceEvidence, GateDecision, GateRule, Refusal, RefusalReason, TermHits
from services.answer.corpus import Census, Found

MAX_NAMED_SOURCES = 5
MAX_TERMS = 50
MAX_TERM_CHARACTERS = 200
_WORD = re.compile(r"\w[\w'’&.-]*\w")


def refusal_message(sources: Sequence[str]) -> str:
    """The one sentence of every refusal; more than five sources, or none, are not named."""
    named = ", ".join(source.upper() for source in sources) if len(sources) <= MAX_NAMED_SOURCES else ""
    return f"This is not addressed in the provided {named + ' ' if named else ''}documents."


def content_words(found: Found) -> tuple[str, ...]:
    """The words of the question that carry it, as written, each once, at most 50: what is counted."""
    counted = set(found.keyword_stems)
    words: dict[str, str] = {}
    for word in _WORD.findall(found.clause_question):
        if len(word) <= MAX_TERM_CHARACTERS and counted.intersection(stems_of(word)):
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
        return f"No passage mentions {_either(unknown)}."
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


def _either(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"


def refuse(
    reason: RefusalReason, gate: GateDecision, sources: Sequence[str], absence: AbsenceEvidence
) -> Refusal:
    """A refusal without its nearest clauses. What passed the gate is too weak only by a model's word."""
    return Refusal(
        reason=reason,
        message=refusal_message(sources),
        missing=missing_sentence(reason, gate, absence.term_hits),
        gate=gate,
        nearest_clauses=(),
        absence=absence,
        declined_by_model=gate.passed and reason is RefusalReason.CONFIDENCE_TOO_LOW,
    )
