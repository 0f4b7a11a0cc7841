"""Puts answers one behind the other: what they say in their order, with citations numbered anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.answer.answers import Answer


def merged(answers: Sequence[Answer]) -> Answer:
    """One answer with all statements, then all definitions, then all notes; a note that cites nothing once.

    Citations are numbered by first use, as in every answer.
    """
    numbers: dict[tuple[int, int], int] = {}

    def renumbered(place: int, old: Sequence[int]) -> tuple[int, ...]:
        return tuple(numbers.setdefault((place, number), len(numbers) + 1) for number in old)

    placed = list(enumerate(answers))
    statements = [
        replace(statement, citation_numbers=renumbered(place, statement.citation_numbers))
        for place, answer in placed
        for statement in answer.statements
    ]
    summary = [
        replace(sentence, citation_numbers=renumbered(place, sentence.citation_numbers))
        for place, answer in placed
        for sentence in answer.summary
    ]
    definitions = [
        replace(
            definition,
            citation_number=renumbered(place, [definition.citation_number])[0],
            conflicting_citation_numbers=renumbered(place, definition.conflicting_citation_numbers),
        )
        for place, answer in placed
        for definition in answer.definitions
    ]
    notes = [
        replace(note, citation_numbers=renumbered(place, note.citation_numbers))
        for place, answer in placed
        for note in answer.notes
    ]
    citations = [
        replace(citation, number=renumbered(place, [citation.number])[0])
        for place, answer in placed
        for citation in answer.citations
    ]
    return Answer(
        citations=tuple(sorted(citations, key=lambda citation: citation.number)),
        statements=tuple(statements),
        supporting_clauses=tuple(clause for answer in answers for clause in answer.supporting_clauses),
        definitions=tuple(definitions),
        notes=tuple(dict.fromkeys(notes)),
        summary=tuple(summary),
        definitions_left_out=sum(answer.definitions_left_out for answer in answers),
    )
