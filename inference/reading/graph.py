"""Builds the ONNX graph of the reader: two linear heads on top of a BERT encoder."""

from __future__ import annotations

from pathlib import Path

from onnx import ModelProto

from inference.bert.graph import BertShape, Graph, encode
from inference.bert.weights import Weights

READER_SHAPE = BertShape(layers=6, heads=12, dimension=384, epsilon=1e-12)
"""The reader is fine-tuned from all-MiniLM-L6-v2 and has its shape."""


def build_graph(weights: Path, shape: BertShape = READER_SHAPE) -> ModelProto:
    """The model (`ids`, `mask`, `types`: (n, tokens) int64) -> `answers`: (n,), `evidence`: (n, tokens).

    `types` is 0 for the question and 1 for the passage. `answers` is the logit of whether the passage
    answers, taken at the first token; `evidence` has a logit for each token.
    Raises `KeyError` when a weight is missing and `ValueError` when the file is broken.
    """
    graph = Graph(Weights(weights))
    hidden = encode(graph, shape, segments="types")
    first = graph.add("Gather", hidden, graph.add("Squeeze", graph.constant(0)), axis=1)
    rows = graph.add("Reshape", hidden, graph.constant(-1, shape.dimension))
    answers = graph.add("Squeeze", graph.linear(first, "answers"), graph.constant(1))
    evidence = graph.add("Reshape", graph.linear(rows, "evidence"), graph.add("Shape", "ids"))
    tokens = ("n", "tokens")
    return graph.model(
        "reader",
        {"ids": tokens, "mask": tokens, "types": tokens},
        {"answers": (answers, ("n",)), "evidence": (evidence, tokens)},
    )
