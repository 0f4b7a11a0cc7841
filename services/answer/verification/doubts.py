"""Tells why the text of a quote may not be what the file shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.answer.answers import Citation, Note, NoteKind
from services.answer.corpus import Chunk, TextDoubtKind
from services.answer.parts import doubts_of

_DOUBTS = {
    TextDoubtKind.READING_ORDER: (
        NoteKind.READING_ORDER,
        "The reading order of this part of the page is uncertain: compare with the original.",
    ),
    TextDoubtKind.MISSING_WORDS: (
        NoteKind.MISSING_WORDS,
        "Words of this sentence could not be read, and may turn it round: compare with the original.",
    ),
    TextDoubtKind.UNKNOWN: (
        NoteKind.DOUBTFUL_TEXT,
        "This part of the text may not be what the page shows: compare with the original.",
    ),
}


def doubt_notes(citations: Iterable[Citation], chunks: Mapping[str, Chunk]) -> tuple[Note, ...]:
    """One note for each reason to doubt the text of quotes."""
    doubted: dict[TextDoubtKind, list[int]] = {}
    for citation in citations:
        for kind in doubts_of(chunks[citation.chunk_id], citation.parts):
            doubted.setdefault(kind, []).append(citation.number)
    return tuple(doubt_note(kind, tuple(numbers)) for kind, numbers in doubted.items())


def doubt_note(kind: TextDoubtKind, numbers: tuple[int, ...]) -> Note:
    """Why the text of quotes may not be what the file shows."""
    return Note(*_DOUBTS[kind], numbers)
