"""Passages without a model: the sentences that answer best, neighbours joined as they stand."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from services.answer.contracts.snippets import MAX_SNIPPETS
from services.answer.corpus import Found, Span
from services.answer.evidence.extraction import choose_sentences
from services.answer.evidence.grading import GradedCandidate
from services.answer.research.snippets import Passage
from services.answer.sentences import Sentence

SENTENCE_SHARE = 0.7
"""Of the best score, what a sentence must reach. On the 30 questions about the examples the share of answers
of .85, with 5.8 sentences, holds .84 of the expected phrases; .7, with 7.5, holds .95; less adds nothing."""


def excerpts(kept: Sequence[GradedCandidate], found: Found) -> tuple[Passage, ...]:
    """Passages of the kept chunks made of up to eight sentences, that with the best sentence first."""
    chosen = [one.sentence for one in choose_sentences(kept, found, MAX_SNIPPETS, SENTENCE_SHARE)]
    places = {(one.chunk.chunk_id, one.span) for one in chosen}
    spans = [(one, _joined(one, places)) for one in chosen]
    return tuple(_passage(one, span) for one, span in _distinct(spans))


def _joined(sentence: Sentence, places: Collection[tuple[str, Span]]) -> Span:
    """The sentence with the chosen ones right before and after it."""
    chunk = sentence.chunk
    first = last = chunk.sentences.index(sentence.span)
    while first > 0 and (chunk.chunk_id, chunk.sentences[first - 1]) in places:
        first -= 1
    while last + 1 < len(chunk.sentences) and (chunk.chunk_id, chunk.sentences[last + 1]) in places:
        last += 1
    return Span(chunk.sentences[first].start, chunk.sentences[last].end)


def _distinct(spans: Sequence[tuple[Sentence, Span]]) -> Collection[tuple[Sentence, Span]]:
    """Each stretch once, at the place of its best sentence."""
    first: dict[tuple[str, Span], tuple[Sentence, Span]] = {}
    for sentence, span in spans:
        first.setdefault((sentence.chunk.chunk_id, span), (sentence, span))
    return first.values()


def _passage(sentence: Sentence, span: Span) -> Passage:
    chunk = sentence.chunk
    content = chunk.text[span.start - chunk.span.start : span.end - chunk.span.start]
    return Passage(chunk, content, start=span.start)
