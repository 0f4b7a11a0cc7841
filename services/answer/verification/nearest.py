"""Finds the clause that comes nearest to a claim among chunks, and tells whether it says the claim."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from corpus.chunks import Chunk
from services.answer.verification.comparing import Comparison, Difference, compare, stems_in
from services.answer.verification.contradicting import base
from services.answer.verification.limiting import limiting
from services.answer.verification.lint.findings import LintRule
from services.answer.verification.lint.reading import Text
from services.answer.verification.lint.tokens import Kind, tokens_of
from services.answer.verification.lint.wording import is_content
from services.answer.verification.passages import Passage, passages_of, with_neighbours
from services.answer.verification.same_meaning import meaning_stem, ways_to_say

COMPARED, COMPARED_PAIRS = 8, 4
"""Sentences, and pairs of neighbours, that a claim is compared with: those that have most of its words."""
MAX_CHARACTERS = 4_000
"""No clause says a longer claim; its beginning tells what is near, and time grows with its length."""
OTHER_WORD, AROUND = 0.9, 0.5
"""What a word of the claim counts that a passage says otherwise, or that stands around it only."""
CLOSENESS_WEIGHT, QUANTITY_WEIGHT = 0.5, 0.25
"""What it counts that a passage says little else, and that it has the claim's amounts and dates."""
FOUND_SHARE, FOUND_CLOSENESS = 0.52, 0.3
"""What a passage needs to say anything like the claim: share of its words, with so much of `closeness`."""
SAYS_OTHERWISE = 0.95
"""Share of the claim's words that a nearer passage needs to stand against one that says it."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """What comes nearest to a claim."""

    comparison: Comparison
    supports: bool
    """Whether it says all that the claim says."""
    found: bool
    """Whether it says anything like it."""


def nearest_to(claim: str, chunks: Sequence[Chunk]) -> Nearest | None:
    """The passage that says a claim, else the nearest one; None where the chunks hold no sentence."""
    whole, claim = len(claim) <= MAX_CHARACTERS, claim[:MAX_CHARACTERS]
    chunked = [passages_of(chunk) for chunk in chunks]
    singles = list({(p.chunk.document_id, p.span, p.readings): p for ps in chunked for p in ps}.values())
    if not singles:
        return None
    near = _Near(claim, singles)
    compared = [compare(claim, passage, near.weights) for passage in near.best(singles, COMPARED)]
    compared.sort(key=near.rank, reverse=True)
    pairs = [pair for ps in chunked for pair in with_neighbours(ps)]
    joined = [compare(claim, pair, near.weights) for pair in near.best(pairs, COMPARED_PAIRS)]
    saying = next((comparison for comparison in (*compared, *joined) if not comparison.differences), None)
    against = (other for other in compared if other.contradicted and other.share >= SAYS_OTHERWISE)
    if whole and saying and not any(near.rank(other) > near.rank(saying) for other in against):
        limits = limiting(claim, saying.passage, chunks)
        left_out = (Difference(LintRule.CONDITION, limits.text),) if limits else ()
        return Nearest(replace(saying, differences=left_out), supports=not limits, found=True)
    best = compared[0]
    likeness = best.share + FOUND_CLOSENESS * near.closeness(best.passage)
    return Nearest(best, supports=False, found=likeness >= FOUND_SHARE)


class _Near:
    """Says how near passages come to a claim."""

    def __init__(self, claim: str, passages: Sequence[Passage]) -> None:
        self._claim = claim
        counts = Counter(stem for passage in passages for stem in stems_in("\n".join(passage.readings)))
        self.weights: Mapping[str, float] = {
            stem: math.log(1 + len(passages) / count) for stem, count in counts.items()
        }
        """How rare each stem is among the passages."""
        self._mean = sum(self.weights.values()) / max(1, len(self.weights))

    @cached_property
    def _ways(self) -> Sequence[tuple[float, str, frozenset[str]]]:
        """Weight and stem of every word and number of the claim, and the ways to say it."""
        stems = [
            meaning_stem(token.text)
            for token in tokens_of(self._claim)
            if is_content(token) or token.kind in (Kind.NUMBER, Kind.CODE, Kind.CURRENCY)
        ]
        return [(self.weights.get(stem, self._mean), stem, ways_to_say(stem)) for stem in stems]

    @cached_property
    def _quantities(self) -> frozenset[object]:
        return _quantities_of((self._claim,))

    def best(self, passages: Sequence[Passage], at_most: int) -> list[Passage]:
        """Those that have most of the claim's words, the best first."""
        return sorted(passages, key=self._coverage, reverse=True)[:at_most]

    def rank(self, comparison: Comparison) -> float:
        """Orders comparisons, the nearest highest."""
        passage, wanted = comparison.passage, self._quantities
        held = len(wanted & _quantities_of(passage.readings)) / len(wanted) if wanted else 0.0
        return comparison.share + CLOSENESS_WEIGHT * self.closeness(passage) + QUANTITY_WEIGHT * held

    def closeness(self, passage: Passage) -> float:
        """How much of a passage the claim says, 0 to 1."""
        stems = stems_in("\n".join(passage.readings))
        said = {way for _, stem, ways in self._ways for way in ((stem,) if stem in stems else ways & stems)}
        everything = sum(self.weights.get(stem, self._mean) for stem in stems)
        return sum(self.weights.get(stem, self._mean) for stem in said) / everything if everything else 0.0

    def _coverage(self, passage: Passage) -> float:
        stems, around = stems_in("\n".join(passage.readings)), stems_in(passage.around)
        total = sum(weight for weight, _, _ in self._ways) or 1.0
        covered = sum(weight * _held(stem, ways, stems, around) for weight, stem, ways in self._ways)
        return covered / total + 0.2 * self.closeness(passage)


def _held(stem: str, ways: frozenset[str], stems: frozenset[str], around: frozenset[str]) -> float:
    if stem in stems:
        return 1.0
    if not ways.isdisjoint(stems):
        return OTHER_WORD
    return 0.0 if ways.isdisjoint(around) else AROUND


def _quantities_of(texts: Iterable[str]) -> frozenset[object]:
    """Amounts, currencies and dates."""
    read = Text()
    for text in texts:
        read.add(text)
    currencies = {amount.unit for amount in read.amounts if amount.unit and amount.unit.currency}
    return frozenset((*map(base, read.amounts), *currencies, *(dated.date for dated in read.dates)))
