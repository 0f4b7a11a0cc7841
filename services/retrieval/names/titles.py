"""Finds what a question calls a document by its title, whatever its capitals: `the market data licence`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from corpus.spans import Span
from services.retrieval.names.asking import goes_on
from services.retrieval.names.lists import AGREEMENT_NOUNS, DETERMINERS, VERSIONS
from services.retrieval.names.words import Word, words_of

LONGEST_TITLE = 6
"""Words before the noun that may be of a title."""


class TitleIndex:
    """The words of all titles."""

    def __init__(self, titles: Sequence[frozenset[str]]) -> None:
        """`titles` are the stems of each."""
        self._titled: defaultdict[str, set[int]] = defaultdict(set)
        for number, stems in enumerate(titles):
            for stem in stems:
                self._titled[stem].add(number)

    def called(self, question: str) -> list[tuple[Span, frozenset[int]]]:
        """Where a question calls a document by its title, in its order, and the titles that it may mean.

        Those hold every word between `the` or `our` and the noun (`agreement`, `licence`). People choose the
        noun freely, so titles need not have it.
        """
        words = words_of(question)
        found = []
        for end, noun in enumerate(words):
            if _is_one(noun) and (start := _start(words, end)) < end:
                held = [self._titled.get(word.stem, set()) for word in words[start:end]]
                numbers = frozenset(set.intersection(*held))
                if numbers and not goes_on(words, end):
                    found.append((Span(words[start].start, words[end - 1].end), numbers))
        return found


def _is_one(noun: Word) -> bool:
    """Whether it stands for one document, and not for each of many: `our supply agreements`."""
    return noun.folded in AGREEMENT_NOUNS and not noun.folded.endswith("s")


def _start(words: Sequence[Word], end: int) -> int:
    """The first word behind the determiner before the noun at `end`; `end` where it is no title."""
    for start in range(end, max(0, end - LONGEST_TITLE), -1):
        if words[start - 1].folded in DETERMINERS:
            telling = [word for word in words[start:end] if word.folded not in AGREEMENT_NOUNS]
            return start if telling and not any(_is_no_title(word) for word in telling) else end
    return end


def _is_no_title(word: Word) -> bool:
    return word.is_link or word.folded in VERSIONS
