"""What the reader says of a set of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.metrics import auroc
from training.rows import Rows


@dataclass(frozen=True, slots=True)
class Scores:
    """Logits of the rows of a set, in their order."""

    answers: NDArray[np.float32]
    """(n,): whether the passage answers."""
    sentences: NDArray[np.float32]
    """Whether each sentence does, the rows' end to end; not a number for a sentence that was not read."""
    starts: NDArray[np.int64]
    """(n + 1,): where the sentences of each row begin."""

    @classmethod
    def of(cls, answers: NDArray[np.float32], sentences: Sequence[NDArray[np.float32]]) -> Scores:
        """From the logits of each row's sentences."""
        starts = np.cumsum([0, *map(len, sentences)])
        return cls(answers, np.concatenate([*sentences, np.zeros(0)]).astype(np.float32), starts)

    def save(self, file: Path) -> None:
        """Write a compressed `.npz`."""
        np.savez_compressed(file, answers=self.answers, sentences=self.sentences, starts=self.starts)

    @classmethod
    def load(cls, file: Path) -> Scores:
        """Read what `save` wrote."""
        with np.load(file) as arrays:
            return cls(arrays["answers"], arrays["sentences"], arrays["starts"])

    def sentences_of(self, row: int) -> NDArray[np.float32]:
        """Logits of the sentences of a row."""
        return self.sentences[self.starts[row] : self.starts[row + 1]]


def gate_auroc(answers: NDArray[np.float32], rows: Rows) -> float:
    """How well the best logit of a group tells groups that hold an answer from others."""
    best = np.maximum.reduceat(answers, rows.group_starts[:-1])
    answerable = np.logical_or.reduceat(rows.evidence != 0, rows.group_starts[:-1])
    return auroc(best[answerable].tolist(), best[~answerable].tolist())
