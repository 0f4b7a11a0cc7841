"""What answer asks of a model that reads passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from corpus.spans import Span


@dataclass(frozen=True, slots=True)
class Passage:
    """A text and its sentences, as code points of it: ascending, without overlap."""

    text: str
    sentences: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader says of a passage, as logits: 0 is even odds, higher is better."""

    answers: float
    """Whether the passage answers the question."""
    sentences: tuple[float | None, ...]
    """Whether each of its sentences does; None for one of which no token was read."""


class ReadingModel(Protocol):
    """Says how well passages answer a question."""

    @property
    def name(self) -> str:
        """Tells one set of weights from another; recorded with what they had a part in."""
        ...

    async def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """A reading of each passage, in order. Raises `ServiceError` when there is none in time."""
        ...
