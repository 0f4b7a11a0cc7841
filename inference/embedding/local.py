"""all-MiniLM-L6-v2 on OpenVINO, in this process: 384 dimensions, float32, no key and no network."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from chassis.errors import Unavailable
from chassis.limits.concurrency import Threads
from inference.bert.graph import BertShape
from inference.bert.session import Session
from inference.bert.weights import Weights
from inference.embedding.graph import build_graph
from inference.embedding.model import TokenSpans
from inference.fetch import FILES, LOCAL_MODEL
from inference.texts import encodable

MAX_TOKENS = 256
"""The model was trained on no more. Its tokenizer file says 128, which would lose half of every window."""


class ModelUnavailable(Unavailable):
    """The folder does not hold the model; the message says how to get it."""

    reason = "UPSTREAM_UNAVAILABLE"


class LocalEmbedding:
    """An `EmbeddingModel`. Passages share `threads` threads, one run each; questions have one of their own.

    The session has room for all of them at once, so a question never waits for passages to end.
    """

    name = LOCAL_MODEL
    host = ""
    max_tokens = MAX_TOKENS

    def __init__(self, folder: Path, threads: int = 0, precision: str = "") -> None:
        """Read the model from `folder`; `threads` 0 means one for each core, `precision` is the session's.

        Raises `ModelUnavailable`.
        """
        file = _find(folder)
        try:
            shape = _read_shape(folder / "config.json")
            tokenizer = (folder / "tokenizer.json").read_text("utf-8")
            self._last_token: int = json.loads(tokenizer)["model"]["vocab"]["[SEP]"]
            weights = Weights(file)
            graph = build_graph(weights, shape)
        except (ValueError, KeyError) as error:
            raise ModelUnavailable(f"{folder} does not hold {LOCAL_MODEL} in float32: {error}") from error
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.dimension = shape.dimension
        threads = threads or os.cpu_count() or 1
        self._passages, self._questions = Threads(threads, "embed-passages"), Threads(1, "embed-question")
        self._session = Session(graph, threads + 1, precision, weights.release)
        self.precision = self._session.precision

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `EmbeddingModel.embed`. Cancelling drops the texts that have not begun."""
        vectors = await asyncio.gather(*(self._embed(self._passages, text) for text in texts))
        return np.array(vectors, np.float32).reshape(-1, self.dimension)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """See `EmbeddingModel.embed_query`; about 3 ms."""
        return await self._embed(self._questions, text)

    async def token_spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        """See `EmbeddingModel.token_spans`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._passages, self._spans, texts)

    async def close(self) -> None:
        """See `EmbeddingModel.close`."""
        for threads in (self._passages, self._questions):
            await asyncio.to_thread(threads.shutdown, cancel_futures=True)

    def _spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        encodings = self._tokenizer.encode_batch(
            [encodable(text) for text in texts], add_special_tokens=False
        )
        return [tuple(encoding.offsets) for encoding in encodings]

    async def _embed(self, threads: Threads, text: str) -> NDArray[np.float32]:
        return await asyncio.get_running_loop().run_in_executor(threads, self._run, text)

    def _run(self, text: str) -> NDArray[np.float32]:
        (vectors,) = self._session.run(self._limited(self._tokenizer.encode(encodable(text))))
        vector: NDArray[np.float32] = vectors[0]
        return vector

    def _limited(self, encoding: Encoding) -> list[int]:
        ids: list[int] = encoding.ids
        return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], self._last_token]


def _find(folder: Path) -> Path:
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise ModelUnavailable(
            f"the embedding model {LOCAL_MODEL} is not in {folder}: {', '.join(missing)} missing. "
            "Fetch it with `clausegate fetch-model`, or name a folder that holds it: CLAUSEGATE_MODEL_DIR."
        )
    return folder / "model.safetensors"


def _read_shape(config_file: Path) -> BertShape:
    config = json.loads(config_file.read_text("utf-8"))
    if config["model_type"] != "bert" or config["hidden_act"] != "gelu":
        raise ValueError(f"{config['model_type']} with {config['hidden_act']}, not bert with gelu")
    return BertShape(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        dimension=config["hidden_size"],
        epsilon=config["layer_norm_eps"],
    )
