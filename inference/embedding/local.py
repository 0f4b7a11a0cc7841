"""all-MiniLM-L6-v2 on onnxruntime, in this process: 384 dimensions, float32, no key and no network."""

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
from inference.embedding.fetch import FILES, LOCAL_MODEL
from inference.embedding.graph import build_graph
from inference.embedding.model import TokenSpans
from inference.texts import encodable

MAX_TOKENS = 256
"""The model was trained on no more. Its tokenizer file says 128, which would lose half of every window."""
BATCH_SIZE = 8
"""Texts in one run. Larger batches only add padding: the cores are busy already."""


class ModelUnavailable(Unavailable):
    """The folder does not hold the model; the message says how to get it."""

    reason = "UPSTREAM_UNAVAILABLE"


class LocalEmbedding:
    """An `EmbeddingModel`. Passages share `threads` threads, one run each; questions have one of their own.

    A run takes one thread and many may go on at once, so a question never waits for passages to end; with all
    cores busy with them it takes 6 to 12 ms instead of 5.
    """

    name = LOCAL_MODEL
    max_tokens = MAX_TOKENS

    def __init__(self, folder: Path, threads: int = 0) -> None:
        """Read the model from `folder`; `threads` 0 means one for each core. Raises `ModelUnavailable`."""
        weights = _find(folder)
        try:
            shape = _read_shape(folder / "config.json")
            tokenizer = (folder / "tokenizer.json").read_text("utf-8")
            self._last_token: int = json.loads(tokenizer)["model"]["vocab"]["[SEP]"]
            self._session = Session(build_graph(weights, shape), weights)
        except (ValueError, KeyError) as error:
            raise ModelUnavailable(f"{folder} does not hold {LOCAL_MODEL} in float32: {error}") from error
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.dimension = shape.dimension
        self._passages = Threads(threads or os.cpu_count() or 1, "embed-passages")
        self._questions = Threads(1, "embed-question")

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `EmbeddingModel.embed`. Cancelling drops the batches that have not begun."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        parts = [order[start : start + BATCH_SIZE] for start in range(0, len(order), BATCH_SIZE)]
        loop = asyncio.get_running_loop()
        runs = [
            loop.run_in_executor(self._passages, self._run, [texts[index] for index in part])
            for part in parts
        ]
        for part, batch in zip(parts, await asyncio.gather(*runs), strict=True):
            vectors[part] = batch
        return vectors

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """See `EmbeddingModel.embed_query`; about 5 ms."""
        loop = asyncio.get_running_loop()
        vectors = await loop.run_in_executor(self._questions, self._run, [text])
        vector: NDArray[np.float32] = vectors[0]
        return vector

    async def token_spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        """See `EmbeddingModel.token_spans`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._passages, self._spans, texts)

    async def close(self) -> None:
        """See `EmbeddingModel.close`."""
        for executor in (self._passages, self._questions):
            await asyncio.to_thread(executor.shutdown, cancel_futures=True)

    def _spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        encodings = self._tokenizer.encode_batch(
            [encodable(text) for text in texts], add_special_tokens=False
        )
        return [tuple(encoding.offsets) for encoding in encodings]

    def _run(self, texts: Sequence[str]) -> NDArray[np.float32]:
        encodings = self._tokenizer.encode_batch([encodable(text) for text in texts])
        rows = [self._limited(encoding) for encoding in encodings]
        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        (vectors,) = self._session.run(ids=ids, mask=mask)
        return vectors

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
