"""Places in a document: spans of its extracted text, and the pages and sections that they run through."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORDS = re.compile(r"[^\W\d_]{3}")
"""Three letters in a row: a heading without them, `9.1` or `(iv)`, is a mere number."""


@dataclass(frozen=True, slots=True)
class Span:
    """Code points `start` (from 0) to `end` (exclusive) of a document's extracted text."""

    start: int
    end: int

    def overlap(self, other: Span) -> int:
        """Code points that both spans hold."""
        return max(0, min(self.end, other.end) - max(self.start, other.start))

    def cut(self, other: Span) -> Span:
        """What both spans hold; they overlap."""
        return Span(max(self.start, other.start), min(self.end, other.end))

    def __contains__(self, other: Span) -> bool:
        """Whether this span holds all of another."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The part of a span that stands on page `page` (from 1)."""

    page: int
    span: Span


@dataclass(frozen=True, slots=True)
class SectionSpan:
    """The part of a span that stands under one heading."""

    heading_chain: tuple[str, ...]
    """Outermost first; empty before the first heading."""
    span: Span


def has_words(heading: str) -> bool:
    """Whether a heading says more than a number: `9. Audit`, and not `9.1`."""
    return _WORDS.search(heading) is not None


def section_name(chain: Sequence[str]) -> str:
    """What a citation names as the section: the innermost heading with words, and the numbers below it."""
    named = max((depth for depth, heading in enumerate(chain) if has_words(heading)), default=0)
    return " › ".join(chain[named:])
