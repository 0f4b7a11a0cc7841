"""Groups as arrays of tokens: each question and passage once, and a row for each passage that a group holds.

The network reads `[CLS] question [SEP] passage [SEP]`. What it must know of sentences is, for each token of a
passage, the index of its sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CLS, SEP = 101, 102
"""Tokens that stand around question and passage, in the vocabulary of BERT."""
MAX_SENTENCES = 63
"""Sentences after them count as the last one: a row names its sentences by the bits of a 64-bit number."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Arrays of one set. Lists of unequal length lie end to end; `starts` has one entry more."""

    question_tokens: NDArray[np.int16]
    question_starts: NDArray[np.int32]
    passage_tokens: NDArray[np.int16]
    passage_sentences: NDArray[np.int8]
    """Index of the sentence of each token of `passage_tokens`."""
    passage_starts: NDArray[np.int32]
    question: NDArray[np.int32]
    """Of each row: its question; rows of one group follow each other."""
    passage: NDArray[np.int32]
    evidence: NDArray[np.uint64]
    """Of each row: the bits of the sentences that answer."""
    omitted: NDArray[np.uint64]
    """Of each row: the bits of the sentences that are left out."""
    group_starts: NDArray[np.int32]
    group_source: NDArray[np.int16]
    """Of each group: an index into `sources`."""
    sources: NDArray[np.str_]

    def save(self, file: Path) -> None:
        """Write a compressed `.npz`."""
        np.savez_compressed(file, **{field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, file: Path) -> Rows:
        """Read what `save` wrote."""
        with np.load(file) as arrays:
            return cls(**{field.name: arrays[field.name] for field in fields(cls)})

    def first(self, groups: int) -> Rows:
        """The first groups alone, with all questions and passages."""
        groups = min(groups, self.group_count)
        end = self.group_starts[groups]
        return replace(
            self,
            **{name: getattr(self, name)[:end] for name in ("question", "passage", "evidence", "omitted")},
            group_starts=self.group_starts[: groups + 1],
            group_source=self.group_source[:groups],
        )

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return len(self.group_source)

    def rows_of(self, group: int) -> range:
        """The rows of a group."""
        return range(self.group_starts[group], self.group_starts[group + 1])

    def tokens_of(self, row: int) -> tuple[Integers, Integers, Integers]:
        """What the network reads: tokens, 1 where the passage is, and the sentence of each token or -1."""
        question = _part(self.question_tokens, self.question_starts, self.question[row])
        passage = _part(self.passage_tokens, self.passage_starts, self.passage[row])
        sentences = _part(self.passage_sentences, self.passage_starts, self.passage[row])
        shown = (np.uint64(1) << sentences.astype(np.uint64)) & self.omitted[row] == 0
        passage, sentences = passage[shown], sentences[shown]
        ids = np.concatenate([[CLS], question, [SEP], passage, [SEP]]).astype(np.int64)
        types = np.zeros_like(ids)
        types[len(question) + 2 :] = 1
        places = np.full_like(ids, -1)
        places[len(question) + 2 : -1] = sentences
        return ids, types, places

    def evidence_of(self, row: int) -> frozenset[int]:
        """Indexes of the sentences that answer."""
        bits = int(self.evidence[row])
        return frozenset(index for index in range(MAX_SENTENCES + 1) if bits >> index & 1)

    def lengths(self) -> Integers:
        """Upper bound of the tokens of each row: what is left out is counted."""
        questions, passages = np.diff(self.question_starts), np.diff(self.passage_starts)
        return (questions[self.question] + passages[self.passage] + 3).astype(np.int64)


def _part(
    values: NDArray[np.signedinteger], starts: NDArray[np.int32], index: int
) -> NDArray[np.signedinteger]:
    return values[starts[index] : starts[index + 1]]
