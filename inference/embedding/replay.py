"""Vectors of questions recorded to a file, and played back from it without any server.

Passages are embedded when a document is ingested, and then belong to the index that a replay runs over.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inference.embedding.model import EmbeddingModel, TokenSpans
from inference.recording import Entry, Recorder, Recording, ReplayDiverged

KIND = "embedding"


class _Wrapped:
    """An `EmbeddingModel` but for what embeds."""

    def __init__(self, model: EmbeddingModel) -> None:
        """The model is closed with this one."""
        self._model = model
        self.name = model.name
        self.dimension = model.dimension
        self.host = model.host
        self.max_tokens = model.max_tokens

    async def token_spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        """See `EmbeddingModel.token_spans`."""
        return await self._model.token_spans(texts)

    async def close(self) -> None:
        """See `EmbeddingModel.close`."""
        await self._model.close()

    def _key(self, text: str) -> str:
        """SHA-256 of everything in a request, 64 hexadecimal digits: a recording holds no questions."""
        return hashlib.sha256(json.dumps([self.name, self.dimension, text]).encode()).hexdigest()


class RecordingEmbedding(_Wrapped):
    """An `EmbeddingModel` that writes down the vectors of questions. Calls that fail leave nothing."""

    def __init__(self, model: EmbeddingModel, recorder: Recorder) -> None:
        super().__init__(model)
        self._recorder = recorder

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `EmbeddingModel.embed`."""
        return await self._model.embed(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """See `EmbeddingModel.embed_query`."""
        vector = await self._model.embed_query(text)
        spelled = base64.b64encode(vector.astype("<f4").tobytes()).decode()
        self._recorder.write(KIND, self._key(text), {"model": self.name, "vector": spelled})
        return vector


class ReplayedEmbedding(_Wrapped):
    """An `EmbeddingModel` that gives the vectors that were recorded, for the same questions."""

    def __init__(self, model: EmbeddingModel, recording: Recording) -> None:
        """`model` is never asked for a vector. Raises `ReplayDiverged` for a broken recording."""
        super().__init__(model)
        self._vectors = recording.track(KIND, _vector)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raises `ReplayDiverged`: a replay runs over the index as it is."""
        raise ReplayDiverged("A replay indexes nothing: unset CLAUSEGATE_REPLAY_MODEL_CALLS to ingest.")

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """See `EmbeddingModel.embed_query`. Raises `ReplayDiverged` for a question that was not recorded."""
        return self._vectors.next(self._key(text))


def _vector(entry: Entry) -> NDArray[np.float32]:
    spelled = entry["vector"]
    if not isinstance(spelled, str):
        raise TypeError("no vector")
    return np.frombuffer(base64.b64decode(spelled, validate=True), "<f4")
