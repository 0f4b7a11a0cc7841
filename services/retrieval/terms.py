"""Defined terms, and where texts use them.

A term is compared folded: without case, quotes, punctuation and plural s.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

WORD = re.compile(r"[\w&]+(?:['’]\w+)*")


@lru_cache(maxsize=65_536)
def fold_word(word: str) -> str:
    """One word of a term without case, possessive and plural: `Fees` is `fee`."""
    word = re.sub(r"['’]s$", "", word.casefold()).replace("'", "").replace("’", "")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def fold_term(term: str) -> str:
    """What terms are compared by: `“Non-Professional Subscribers”` gives `non professional subscriber`.

    A fold is its own fold. A term without any letter or digit is compared as it is written.
    """
    return " ".join(fold_word(match.group()) for match in WORD.finditer(term)) or " ".join(term.split())


@dataclass(frozen=True, slots=True)
class TermUse:
    """A defined term that stands in a text."""

    term: str
    """Folded."""
    start: int
    """Code points of the text."""
    end: int


@dataclass(frozen=True, slots=True)
class DefinedTerms:
    """Folded terms, ready to be looked for in texts."""

    folded: frozenset[str]
    longest: dict[str, int]
    """Words of the longest term that begins with this word."""

    @classmethod
    def of(cls, folded: Iterable[str]) -> Self:
        """Prepare terms that `fold_term` has folded."""
        terms = frozenset(folded)
        longest: dict[str, int] = defaultdict(int)
        for term in terms:
            words = term.split()
            if words:
                longest[words[0]] = max(longest[words[0]], len(words))
        return cls(terms, dict(longest))

    def uses(self, text: str) -> list[TermUse]:
        """Where the terms stand in `text`: from the left, the longest at each place, none overlapping."""
        words = [fold_word(word) for word in WORD.findall(text)]
        places = self._places(words)
        if not places:
            return []
        spans = [match.span() for match in WORD.finditer(text)]
        return [TermUse(" ".join(words[at:end]), spans[at][0], spans[end - 1][1]) for at, end in places]

    def _places(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """First and end (exclusive) word of each use."""
        places, free = [], 0
        for at in [at for at, word in enumerate(words) if word in self.longest]:
            length = self._length_at(words, at) if at >= free else 0
            if length:
                free = at + length
                places.append((at, free))
        return places

    def _length_at(self, words: Sequence[str], at: int) -> int:
        for length in range(min(self.longest.get(words[at], 0), len(words) - at), 0, -1):
            if " ".join(words[at : at + length]) in self.folded:
                return length
        return 0
