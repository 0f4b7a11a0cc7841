"""What the reader is shown of candidates, and what its logits add to scores. Pure.

The weights are fitted on natural questions about contracts that neither the reader nor the other weights
have seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpus.spans import Span
from inference.reading.model import Passage, Reading
from services.answer.corpus import Candidate, ChunkReading, Window

READ_CHUNKS, READ_WINDOWS = 4, 8
"""Chunks that are read, the best by local evidence, and windows of them: the best of each, then those that
are nearest to the question. All windows of five chunks, 14 in the mean, are worth .01 more and cost as much
time again."""
UNREAD_CHUNK, UNREAD_SENTENCE = -4.9, -8.7
"""The logits of what was not read, where others were: those of a middling chunk and sentence."""
RANK_WEIGHT, SENTENCE_WEIGHT = 0.06, 0.06
"""What a chunk's logit adds to what chunks are ranked by, and a sentence's to its score."""
READ_BIAS, READ_EVIDENCE, READ_LOGIT = 0.35, 0.18, 0.06
"""Evidence of a chunk that was read, from local evidence and its logit: fitted so that the probability that
the chunk answers is on the same curve as without a reader, see `grading.probability_of`."""


@dataclass(frozen=True, slots=True)
class ReadWindow:
    """A window of a candidate: what the reader reads at a time, and was trained on."""

    candidate: Candidate
    span: Span
    similarity: float
    """Cosine of the window and the question, -1 to 1."""

    @property
    def sentences(self) -> list[Span]:
        """The sentences of which something stands in the window."""
        return [sentence for sentence in self.candidate.chunk.sentences if sentence.overlap(self.span)]

    @property
    def passage(self) -> Passage:
        """The window as a text of its own, with its sentences as far as they stand there."""
        chunk, start = self.candidate.chunk, self.span.start
        inside = [sentence.cut(self.span) for sentence in self.sentences]
        return Passage(
            chunk.text[start - chunk.span.start : self.span.end - chunk.span.start],
            tuple(Span(part.start - start, part.end - start) for part in inside),
        )


def windows_to_read(ranked: Sequence[Candidate]) -> list[ReadWindow]:
    """The windows of the best candidates that are read, at most `READ_WINDOWS`; `ranked` is best first."""
    firsts: list[ReadWindow] = []
    others: list[ReadWindow] = []
    for candidate in ranked[:READ_CHUNKS]:
        first, *rest = sorted(_windows(candidate), key=_by_similarity)
        firsts.append(first)
        others += rest
    return (firsts + sorted(others, key=_by_similarity))[:READ_WINDOWS]


def with_readings(candidate: Candidate, read: Sequence[tuple[ReadWindow, Reading]]) -> Candidate:
    """The candidate with what was read in its windows; without any, as one that was not read.

    `read` may hold windows of other candidates as well.
    """
    own = [(window, reading) for window, reading in read if window.candidate is candidate]
    sentences: dict[Span, float] = {}
    for window, reading in own:
        for sentence, logit in zip(window.sentences, reading.sentences, strict=True):
            if logit is not None:
                sentences[sentence] = max(logit, sentences.get(sentence, logit))
    answers = max((reading.answers for _, reading in own), default=UNREAD_CHUNK)
    return replace(candidate, reading=ChunkReading(answers, sentences))


def evidence_read(evidence: float, candidate: Candidate) -> float:
    """Local evidence of a candidate with what the reader says of it; as it is without a reader."""
    if candidate.reading is None:
        return evidence
    return READ_BIAS + READ_EVIDENCE * evidence + READ_LOGIT * candidate.reading.answers


def rank_gain(candidate: Candidate) -> float:
    """What the reader adds to the score that a candidate is ranked by; 0 without a reader."""
    return RANK_WEIGHT * (candidate.reading.answers - UNREAD_CHUNK) if candidate.reading else 0.0


def sentence_gain(candidate: Candidate, sentence: Span) -> float:
    """What it adds to the score of one of the candidate's sentences; 0 without a reader."""
    if candidate.reading is None:
        return 0.0
    logit = candidate.reading.sentences.get(sentence, UNREAD_SENTENCE)
    return SENTENCE_WEIGHT * (logit - UNREAD_SENTENCE)


def _windows(candidate: Candidate) -> list[ReadWindow]:
    """Those of a candidate, or the whole of one that has none."""
    windows = candidate.windows or (Window(candidate.chunk.span, candidate.similarity),)
    return [ReadWindow(candidate, window.span, window.similarity) for window in windows]


def _by_similarity(window: ReadWindow) -> float:
    """Sorts the nearest first."""
    return -window.similarity
