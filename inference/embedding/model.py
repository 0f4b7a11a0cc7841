"""What retrieval asks of an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

TokenSpans = tuple[tuple[int, int], ...]
"""Start and end (exclusive) of every token of a text, in code points and in order, without special tokens."""


class EmbeddingModel(Protocol):
    """Turns texts into unit vectors whose dot product is their similarity, -1 to 1."""

    @property
    def name(self) -> str:
        """Recorded with an index: vectors of models with different names cannot be compared."""
        ...

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that are read, special ones included; what is beyond has no effect."""
        ...

    @property
    def host(self) -> str:
        """The server that gets every text; empty when the model runs here."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of passages, shape (n, dimension), unit norm, in the order of the texts."""
        ...

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a question, shape (dimension,), unit norm; never waits behind passages."""
        ...

    async def token_spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        """The tokens that the model sees of each whole text, nothing cut off."""
        ...

    async def close(self) -> None:
        """Release threads; safe to call twice. Work that has not begun is dropped."""
        ...
