"""BM25 as a share: what a text reaches of the most that the question's words could score, 0 to 1."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Self

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

K1 = 1.2
B = 0.75

Scores = NDArray[np.float32]
"""One score a text, 0 and up."""


@dataclass(frozen=True, slots=True)
class Bag:
    """The words of a text, those that are asked for counted."""

    counts: Mapping[str, int]
    length: int
    """Length of the whole text."""

    @classmethod
    def of(cls, stems: Sequence[str], asked: Collection[str]) -> Self:
        """Count the stems of a text that are `asked`: counting all takes a third more time."""
        return cls(Counter(filter(asked.__contains__, stems)), len(stems))


class ShareBM25(BM25Okapi):  # type: ignore[misc]  # rank_bm25 has no types
    """rank-bm25's Okapi statistics over a corpus of stems, with three changes.

    The idf is Lucene's, ln(1 + (N - n + .5) / (n + .5)), which is never negative. The factor (k1 + 1) is left
    out, so that a text never exceeds the sum of the idf. A question reads its words' postings, not all texts.
    """

    def __init__(self, corpus: Sequence[Sequence[str]]) -> None:
        self.frequencies: dict[str, int] = {}
        super().__init__(corpus, k1=K1, b=B)

    def _initialize(self, corpus: Sequence[Sequence[str]]) -> dict[str, int]:
        """Count the corpus by sorting it, in a quarter of the time that rank-bm25's loops take."""
        size = self.corpus_size = len(corpus)
        lengths = np.fromiter(map(len, corpus), np.int64, size)
        self.avgdl = lengths.sum() / max(size, 1)
        self._norms = (K1 * (1 - B + B * lengths / max(self.avgdl, 1.0))).astype(np.float32)
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        # Text by text: one call for all would keep other threads from running for as long as it takes.
        numbers = [np.fromiter(map(self._numbers.__getitem__, text), np.int64, len(text)) for text in corpus]
        self._numbers.default_factory = None
        texts = np.repeat(np.arange(size), lengths)
        words, counts = np.unique(np.concatenate([texts[:0], *numbers]) * size + texts, return_counts=True)
        self._texts = (words % max(size, 1)).astype(np.int32)
        self._counts = counts.astype(np.float32)
        self._starts = np.searchsorted(words, np.arange(len(self._numbers) + 1) * size)
        return dict(zip(self._numbers, np.diff(self._starts).tolist(), strict=True))

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.frequencies = nd
        self.idf = {stem: lucene_idf(self.corpus_size, count) for stem, count in nd.items()}

    def ceiling(self, question: Sequence[str]) -> float:
        """The sum of idf over the question's stems, with repeats; an unknown one counts as in no text."""
        unknown = lucene_idf(self.corpus_size, 0)
        return sum(self.idf.get(stem, unknown) for stem in question)

    def get_scores(self, question: Sequence[str]) -> Scores:
        """BM25 of every text of the corpus, without the factor (k1 + 1)."""
        scores = np.zeros(self.corpus_size, dtype=np.float32)
        for stem, repeats in Counter(question).items():
            if stem in self._numbers:
                number = self._numbers[stem]
                run = slice(self._starts[number], self._starts[number + 1])
                texts, counts = self._texts[run], self._counts[run]
                scores[texts] += repeats * self.idf[stem] * counts / (counts + self._norms[texts])
        return scores

    def texts_with(self, stem: str) -> NDArray[np.int32]:
        """The numbers of the texts that hold a stem, ascending."""
        number = self._numbers.get(stem)
        if number is None:
            return self._texts[:0]
        return self._texts[self._starts[number] : self._starts[number + 1]]

    def shares(self, question: Sequence[str]) -> Scores:
        """`get_scores` divided by `ceiling`, 0 to 1; 0 for a question without stems."""
        return self.get_scores(question) / (self.ceiling(question) or 1.0)

    def shares_with(self, question: Sequence[str], bags: Sequence[Bag]) -> list[float]:
        """Shares of texts that are not in the corpus, as if they were added to it, 0 to 1."""
        size = self.corpus_size + len(bags)
        length = self.avgdl * self.corpus_size + sum(bag.length for bag in bags)
        average = max(length / max(size, 1), 1.0)
        idf = {
            stem: lucene_idf(size, self.frequencies.get(stem, 0) + sum(stem in bag.counts for bag in bags))
            for stem in set(question)
        }
        ceiling = sum(idf[stem] for stem in question) or 1.0
        return [bm25(question, bag, idf, average) / ceiling for bag in bags]


def lucene_idf(size: int, count: int) -> float:
    """Weight of a word that stands in `count` of `size` texts (Lucene's BM25Similarity)."""
    return math.log(1 + (size - count + 0.5) / (count + 0.5))


def bm25(question: Sequence[str], bag: Bag, idf: Mapping[str, float], average: float) -> float:
    """The score of a text, without the factor (k1 + 1); a stem that the question repeats counts as often.

    `average` is the mean length of the texts, above 0; `idf` holds every stem of the question.
    """
    return sum(idf[stem] * _saturation(bag, stem, average) for stem in question)


def _saturation(bag: Bag, stem: str, average: float) -> float:
    count = bag.counts.get(stem, 0)
    return count / (count + K1 * (1 - B + B * bag.length / average)) if count else 0.0
