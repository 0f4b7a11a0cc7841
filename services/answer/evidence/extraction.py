"""Picks the sentences that answer best, verbatim: answers without a model.

A single sentence is right less than half of the time (CUAD .49, with up to three .67), so an answer shows the
passages as well, and says how sure it is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rank_bm25 import BM25Okapi

from corpus.spans import Span
from corpus.stems import stems_of
from services.answer.corpus import Candidate, Found
from services.answer.evidence.everyday import contract_stems
from services.answer.evidence.grading import GradedCandidate
from services.answer.evidence.readings import sentence_gain
from services.answer.evidence.wants import Want, held_by, is_no_statement, says_little, wanted
from services.answer.sentences import Sentence, read_as, said_by, sentences_of

WINDOW_WEIGHT, KEYWORD_WEIGHT, COVERED_WEIGHT, CHUNK_WEIGHT = 0.5, 1.0, 0.25, 0.75
"""A window's cosine is shared by its sentences, so it weighs less here than where whole windows are compared.

`COVERED_WEIGHT` counts which words of the question a sentence has, and not how often or how long it is.
"""
LEXICON_WEIGHT, OTHER_WORDS_WEIGHT, ANY_OTHER_WORD_WEIGHT = 1.0, 0.25, 0.06
"""For words that contracts use for those of the question: those of the lexicon of topics, and those for what
people say in other words, how well they match and that one of them does. Questions as people type them gain
nothing by the lexicon; lawyers' checklists do (ContractNLI dev, F1 on characters .506; at .25 it is .452)."""
WANT_WEIGHTS = {
    Want.AMOUNT: 0.16,
    Want.NUMBER: 0.10,
    Want.PERIOD: 0.18,
    Want.DATE: 0.05,
    Want.SIGNER: 0.26,
    Want.PLACE: 0.12,
    Want.PERMISSION: 0.07,
    Want.DUTY: 0.06,
    Want.CONDITION: 0.05,
}
"""What a sentence gains that holds something of the kind that the question wants.

Fitted by a logistic model of which sentence is right, like the weights above that are not .5 or 1, over 676
natural questions about 52 contracts, in five folds of contracts: first quote right .484 before, .586 after
(of sentences, within the contract), over a folder .417 and .499; without these alone .540 and .473."""
FULL_WEIGHT = 0.1
"""What a sentence gains that has more than a few words, and none of those that say little."""
FEW_WORDS = 8
MAX_STATEMENTS = 3
RUNNER_UP_SHARE = 0.75
"""A second or third sentence must score at least this share of the best one."""
K1, B = 1.2, 0.75
"""BM25's usual constants; moving them changed nothing by more than .01 (CUAD dev)."""


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence and how well it answers, higher is better; comparable within one question only."""

    sentence: Sentence
    score: float


def choose_sentences(
    kept: Sequence[GradedCandidate],
    found: Found,
    at_most: int = MAX_STATEMENTS,
    share: float = RUNNER_UP_SHARE,
) -> tuple[ScoredSentence, ...]:
    """The `leading` of the sentences of the kept chunks."""
    return leading(rank_sentences(kept, found), at_most, share)


def leading(
    ranked: Sequence[ScoredSentence], at_most: int = MAX_STATEMENTS, share: float = RUNNER_UP_SHARE
) -> tuple[ScoredSentence, ...]:
    """The best of what `rank_sentences` gave: all of them score at least `share` of the first."""
    if not ranked:
        return ()
    enough = share * ranked[0].score
    return (ranked[0], *(scored for scored in ranked[1:at_most] if scored.score >= enough))


def rank_sentences(kept: Sequence[GradedCandidate], found: Found) -> tuple[ScoredSentence, ...]:
    """Every sentence of the kept chunks, best first; ties go to the better chunk, then the earlier.

    Of sentences that say the same, as in two editions of a document, only the first counts; the same item
    under another lead-in says something else. Signatures and feet of pages are left out unless there is
    nothing else.
    """
    distinct: dict[str, ScoredSentence] = {}
    for scored in sorted(score_sentences(kept, found), key=lambda scored: -scored.score):
        distinct.setdefault(" ".join(said_by(scored.sentence).casefold().split()), scored)
    everything, question = tuple(distinct.values()), found.clause_question
    return tuple(s for s in everything if not is_no_statement(s.sentence.text, question)) or everything


def score_sentences(kept: Sequence[GradedCandidate], found: Found) -> tuple[ScoredSentence, ...]:
    """Every sentence of the kept chunks with its score, in the order of the chunks, each once."""
    owned = list(_distinct_sentences(kept))
    if not owned:
        return ()
    readings = [read_as(sentence) for _, sentence in owned]
    words = _Shares([stems_of(reading) for reading in readings])
    others = contract_stems(found.clause_question) - {*found.keyword_stems, *found.lexicon_stems}
    by_keyword, covered = words.of(found.keyword_stems), words.covered(found.keyword_stems)
    by_lexicon, by_other_word = words.of(found.lexicon_stems), words.of(sorted(others))
    wants = wanted(found.clause_question)
    return tuple(
        ScoredSentence(
            sentence,
            WINDOW_WEIGHT * similarity_at(owner.candidate, sentence.span)
            + CHUNK_WEIGHT * owner.candidate.combined
            + KEYWORD_WEIGHT * by_keyword[i]
            + COVERED_WEIGHT * covered[i]
            + LEXICON_WEIGHT * by_lexicon[i]
            + OTHER_WORDS_WEIGHT * by_other_word[i]
            + ANY_OTHER_WORD_WEIGHT * (by_other_word[i] > 0)
            + _preference(readings[i], wants)
            + sentence_gain(owner.candidate, sentence.span),
        )
        for i, (owner, sentence) in enumerate(owned)
    )


def _preference(reading: str, wants: Collection[Want]) -> float:
    """What a sentence gains for what it holds of what is wanted, and for being a full sentence."""
    full = len(reading.split()) >= FEW_WORDS and not says_little(reading)
    return sum(WANT_WEIGHTS[want] for want in held_by(reading, wants)) + FULL_WEIGHT * full


def _distinct_sentences(kept: Sequence[GradedCandidate]) -> Iterator[tuple[GradedCandidate, Sentence]]:
    """Neighbouring chunks overlap: a sentence belongs to the better of them."""
    seen: set[tuple[str, Span]] = set()
    for owner in kept:
        for sentence in sentences_of(owner.candidate.chunk):
            place = (sentence.chunk.document_id, sentence.span)
            if place not in seen:
                seen.add(place)
                yield owner, sentence


def similarity_at(candidate: Candidate, span: Span) -> float:
    """Cosine of the window that holds most of the sentence; the chunk's own where none does."""
    best = max(candidate.windows, key=lambda window: window.span.overlap(span), default=None)
    return best.similarity if best and best.span.overlap(span) else candidate.similarity


class _SmoothBM25(BM25Okapi):  # type: ignore[misc]
    """BM25 whose inverse document frequency is never negative: ln(1 + (N - n + .5) / (n + .5)).

    With the negative ones of Okapi a word that stands in most sentences would count against them.
    """

    def _calc_idf(self, nd: dict[str, int]) -> None:
        size = self.corpus_size
        self.idf = {word: math.log(1 + (size - n + 0.5) / (n + 0.5)) for word, n in nd.items()}


class _Shares:
    """BM25 of a few texts divided by the most that a query can reach in them, 0 to 1."""

    def __init__(self, stems: Sequence[list[str]]) -> None:
        # A text without words would make the average length 0; the empty token matches no query.
        self._bm25 = _SmoothBM25([words or [""] for words in stems], k1=K1, b=B)
        self._unknown = math.log(1 + (len(stems) + 0.5) / 0.5)

    def of(self, query: Sequence[str]) -> list[float]:
        """One share per text; all 0 for an empty query."""
        most = sum(self._bm25.idf.get(stem, self._unknown) for stem in query)
        if not most:
            return [0.0] * self._bm25.corpus_size
        # rank_bm25 multiplies by k1 + 1; without that factor a score never exceeds the sum of idf.
        return [float(score) / (K1 + 1) / most for score in self._bm25.get_scores(list(query))]

    def covered(self, query: Sequence[str]) -> list[float]:
        """For each text the share of the query's words that it holds, rare ones counting more."""
        weights = {stem: self._bm25.idf.get(stem, self._unknown) for stem in query}
        most = sum(weights.values()) or 1.0
        return [
            sum(weight for stem, weight in weights.items() if stem in held) / most
            for held in self._bm25.doc_freqs
        ]
