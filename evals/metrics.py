"""Figures of merit for retrieval, quotes and refusals. All are pure and lie between 0 and 1; higher is better
but for shares of errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """Code points `start` to `end` (exclusive) of the extracted text of a document."""

    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many characters two sets of passages share. An empty side has a share of 0."""

    recall: float
    """Share of the gold characters that were found."""
    precision: float
    """Share of the found characters that are gold."""

    @property
    def f1(self) -> float:
        """Harmonic mean of both; 0 when both are."""
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean; not a number without values."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else float("nan")


def meets(found: Passage, gold: Passage) -> bool:
    """Whether they share at least half of the shorter one."""
    shorter = min(found.end - found.start, gold.end - gold.start)
    return _shared(found, gold) * 2 >= shorter > 0


def hit(found: Sequence[Passage], gold: Sequence[Passage]) -> bool:
    """Whether any found passage meets any gold one."""
    return any(meets(passage, wanted) for passage in found for wanted in gold)


def first_hit(found: Sequence[Passage], gold: Sequence[Passage]) -> int | None:
    """Rank, from 1, of the first found passage that meets a gold one."""
    return next((rank for rank, passage in enumerate(found, 1) if hit([passage], gold)), None)


def character_overlap(found: Sequence[Passage], gold: Sequence[Passage]) -> Overlap:
    """Recall and precision in characters, each counted once (LegalBench-RAG, arXiv 2408.10343)."""
    merged_found, merged_gold = _merged(found), _merged(gold)
    shared = sum(_shared(passage, wanted) for passage in merged_found for wanted in merged_gold)
    return Overlap(_share(shared, _length(merged_gold)), _share(shared, _length(merged_found)))


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Probability that a positive scores above a negative, ties counted half (Mann and Whitney 1947)."""
    wins = sum((p > n) + 0.5 * (p == n) for p in positives for n in negatives)
    return wins / (len(positives) * len(negatives)) if positives and negatives else float("nan")


@dataclass(frozen=True, slots=True)
class Band:
    """Questions of about the same predicted probability."""

    predicted: float
    """Mean of what was predicted."""
    observed: float
    """Share of them that came true."""
    questions: int


def reliability(probable: Sequence[float], right: Sequence[bool], bands: int = 10) -> list[Band]:
    """Whether a probability means what it says: by tenths of it, without those that nothing falls into."""
    pairs = list(zip(probable, right, strict=True))
    tenths = [[p for p in pairs if min(int(p[0] * bands), bands - 1) == number] for number in range(bands)]
    return [
        Band(mean(predicted for predicted, _ in tenth), mean(true for _, true in tenth), len(tenth))
        for tenth in tenths
        if tenth
    ]


def refused_at(positives: Sequence[float], negatives: Sequence[float], false_refusals: float) -> float:
    """Share of the negatives below the threshold that leaves this share of the positives below it.

    The threshold is set on the same scores, so this is the ceiling of the score, not a promise.
    """
    if not positives or not negatives:
        return float("nan")
    threshold = sorted(positives)[min(int(len(positives) * false_refusals), len(positives) - 1)]
    return mean(score < threshold for score in negatives)


def _shared(passage: Passage, other: Passage) -> int:
    if passage.document_id != other.document_id:
        return 0
    return max(0, min(passage.end, other.end) - max(passage.start, other.start))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _length(passages: Sequence[Passage]) -> int:
    return sum(passage.end - passage.start for passage in passages)


def _merged(passages: Sequence[Passage]) -> list[Passage]:
    merged: list[Passage] = []
    for passage in sorted(passages, key=lambda p: (p.document_id, p.start)):
        last = merged[-1] if merged else None
        if last and last.document_id == passage.document_id and passage.start <= last.end:
            merged[-1] = Passage(last.document_id, last.start, max(last.end, passage.end))
        else:
            merged.append(passage)
    return merged
