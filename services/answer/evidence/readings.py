"""What the reader is shown of a candidate, and what its logits add to scores. Pure.

The weights are fitted on natural questions about contracts that neither the reader nor the other weights
have seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corpus.spans import Span
from inference.reading.model import Passage, Reading
from services.answer.corpus import Candidate, ChunkReading

READ_CHUNKS = 5
"""Chunks that are read: the best by local evidence."""
RANK_WEIGHT = 0.02
"""What a chunk's logit adds to the evidence that it is ranked by."""
CHUNK_WEIGHT, SENTENCE_WEIGHT = 0.06, 0.04
"""What a chunk's logit, and the sentence's own, add to a sentence's score."""
UNREAD = -4.0
"""The logit of chunks and sentences that were not read, where others were."""


def passages_of(candidate: Candidate) -> list[Passage]:
    """The windows of a candidate with their sentences: what the reader was trained on."""
    return [_passage(candidate, window) for window in _windows(candidate)]


def with_readings(candidate: Candidate, readings: Sequence[Reading]) -> Candidate:
    """The candidate with what was read in its passages; without any, as one that was not read."""
    sentences: dict[Span, float] = {}
    for window, reading in zip(_windows(candidate), readings, strict=bool(readings)):
        for sentence, logit in zip(_sentences(candidate, window), reading.sentences, strict=True):
            if logit is not None:
                sentences[sentence] = max(logit, sentences.get(sentence, logit))
    answers = max((reading.answers for reading in readings), default=UNREAD)
    return replace(candidate, reading=ChunkReading(answers, sentences))


def rank_gain(candidate: Candidate) -> float:
    """What the reader adds to the score that a candidate is ranked by; 0 without a reader."""
    return RANK_WEIGHT * candidate.reading.answers if candidate.reading else 0.0


def sentence_gain(candidate: Candidate, sentence: Span) -> float:
    """What it adds to the score of one of the candidate's sentences; 0 without a reader."""
    reading = candidate.reading
    if reading is None:
        return 0.0
    return CHUNK_WEIGHT * reading.answers + SENTENCE_WEIGHT * reading.sentences.get(sentence, UNREAD)


def _windows(candidate: Candidate) -> list[Span]:
    return [window.span for window in candidate.windows] or [candidate.chunk.span]


def _sentences(candidate: Candidate, window: Span) -> list[Span]:
    """The sentences of which something stands in a window."""
    return [sentence for sentence in candidate.chunk.sentences if sentence.overlap(window)]


def _passage(candidate: Candidate, window: Span) -> Passage:
    chunk = candidate.chunk
    inside = [sentence.cut(window) for sentence in _sentences(candidate, window)]
    return Passage(
        chunk.text[window.start - chunk.span.start : window.end - chunk.span.start],
        tuple(Span(part.start - window.start, part.end - window.start) for part in inside),
    )
