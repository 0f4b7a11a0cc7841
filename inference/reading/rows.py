"""What the reader reads: `[CLS] question [SEP] passage [SEP]`, and which sentence each token belongs to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from corpus.spans import Span
from inference.reading.model import Passage, Reading
from inference.texts import encodable

MAX_QUESTION_TOKENS = 48
MAX_PASSAGE_TOKENS = 224
"""The reader was trained on no more of either; a window of a chunk has 200 tokens at most."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question and a passage as tokens."""

    ids: list[int]
    begin: int
    """Tokens before those of the passage."""
    places: list[int]
    """For each token of the passage that is read, the index of its sentence."""
    sentences: int
    """Sentences of the passage."""

    def reading(self, answers: float, tokens: NDArray[np.float32]) -> Reading:
        """What the logits of the row, and of its tokens, say: a sentence has the mean of its tokens."""
        read = tokens[self.begin : self.begin + len(self.places)]
        sums = np.bincount(self.places, read, self.sentences)
        sizes = np.bincount(self.places, minlength=self.sentences)
        means = (float(total / size) if size else None for total, size in zip(sums, sizes, strict=True))
        return Reading(float(answers), tuple(means))


class Rows:
    """Makes rows with the tokens of a vocabulary."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Raises `ValueError` when the vocabulary lacks the tokens that stand around texts."""
        self._tokenizer = tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._cls, self._sep = (self._special(name) for name in ("[CLS]", "[SEP]"))

    def of(self, question: str, passages: Sequence[Passage]) -> list[Row]:
        """One row for each passage, in order. What is beyond the limits is not read."""
        texts = [encodable(question), *(encodable(passage.text) for passage in passages)]
        asked, *encodings = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        before = [self._cls, *asked.ids[:MAX_QUESTION_TOKENS], self._sep]
        return [
            Row(
                ids=[*before, *encoding.ids[:MAX_PASSAGE_TOKENS], self._sep],
                begin=len(before),
                places=_places(encoding.offsets[:MAX_PASSAGE_TOKENS], passage.sentences),
                sentences=len(passage.sentences),
            )
            for encoding, passage in zip(encodings, passages, strict=True)
        ]

    def _special(self, name: str) -> int:
        token: int | None = self._tokenizer.token_to_id(name)
        if token is None:
            raise ValueError(f"the vocabulary has no {name}")
        return token


def _places(offsets: Sequence[tuple[int, int]], sentences: Sequence[Span]) -> list[int]:
    """The sentence that each token begins in; one between two sentences belongs to the one before."""
    starts = [sentence.start for sentence in sentences]
    return [max(bisect_right(starts, start) - 1, 0) for start, _ in offsets] if starts else []
