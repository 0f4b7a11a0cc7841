"""Finds words that a chunk is said to hold: in its text, in a lead-in or condition, or joined of these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corpus.chunks import Chunk
from corpus.citations import MatchLevel, QuotePart
from corpus.spans import Span
from services.answer.parts import JOINT, quoted_text, texts_of
from services.answer.verification.quotes import QuoteMatch, find_quote, find_quotes

MAX_PIECES, MAX_PLACES = 20, 12
"""Pieces of joined words that are looked for, and places of each that are tried: enough for lists within
lists, and few enough that a text made of dots costs no more than others."""
_ELLIPSIS = JOINT.strip()
_STRICTEST_FIRST = tuple(MatchLevel)


@dataclass(frozen=True, slots=True)
class Place:
    """Where words stand, in code points of the document."""

    span: Span
    level: MatchLevel


def find_in(chunk: Chunk, words: str, near: int = 0) -> Place | None:
    """Where words stand that a chunk is said to hold; of several places in its text the closest to `near`.

    The place of joined words is that of the part which the others govern: `2. Share the Data` of `The
    Licensee shall not: … 2. Share the Data`. None unless all of them stand as a quote of that part has them.
    """
    match = find_quote(chunk.text, words, near=near - chunk.span.start)
    if match is not None:
        return _placed(match, chunk.span.start)
    return next(_in_context(chunk, words), None) or next(_joined(chunk, words, near), None)


def find_governed(chunk: Chunk, words: str, quote: str, near: int = 0) -> Place | None:
    """Where `words` of the chunk's text stand under the very lead-ins and conditions that `quote` has."""
    found = [_placed(match, chunk.span.start) for match in find_quotes(chunk.text, words)[:MAX_PLACES]]
    wholes = ((place, find_quote(quoted_text(chunk, place.span), quote)) for place in found)
    places = [Place(place.span, loosest(place.level, whole.level)) for place, whole in wholes if whole]
    return min(places, key=lambda place: abs(place.span.start - near), default=None)


def level_at(chunk: Chunk, part: QuotePart) -> MatchLevel | None:
    """How literally a part stands at its place in the chunk or in a context of it; None if it does not."""
    for where, text in texts_of(chunk):
        if part.span in where:
            match = find_quote(text, part.text, near=part.span.start - where.start)
            if match is not None and _placed(match, where.start).span == part.span:
                return match.level
    return None


def strictness(level: MatchLevel) -> int:
    """Orders levels, the strictest first."""
    return _STRICTEST_FIRST.index(level)


def loosest(*levels: MatchLevel) -> MatchLevel:
    """The level that all of them reach."""
    return max(levels, key=strictness)


def _in_context(chunk: Chunk, words: str) -> Iterator[Place]:
    for where, text in texts_of(chunk):
        match = find_quote(text, words)
        if match is not None:
            yield _placed(match, where.start)


def _joined(chunk: Chunk, words: str, near: int) -> Iterator[Place]:
    pieces = words.split(_ELLIPSIS)
    governed = bool(chunk.context_before or chunk.context_after)
    for piece in dict.fromkeys(pieces) if governed and 1 < len(pieces) <= MAX_PIECES else ():
        if place := find_governed(chunk, piece, words, near):
            yield place


def _placed(match: QuoteMatch, start: int) -> Place:
    return Place(Span(start + match.span.start, start + match.span.end), match.level)
