"""Builds the ONNX graph of a BERT sentence embedder: mean pooling and unit norm on top of the encoder are
those of Sentence-BERT (Reimers & Gurevych, EMNLP 2019)."""

from __future__ import annotations

from pathlib import Path

from onnx import ModelProto, TensorProto

from inference.bert.graph import BertShape, Graph, encode
from inference.bert.weights import Weights


def build_graph(weights: Path, shape: BertShape) -> ModelProto:
    """The model (`ids`, `mask`: (n, tokens) int64) -> `embedding`: (n, dimension) float32, unit norm.

    Raises `KeyError` when a weight is missing and `ValueError` when the file is broken or a weight is of a
    wrong kind.
    """
    graph = Graph(Weights(weights))
    hidden = encode(graph, shape, segments=graph.constant(0))
    tokens = ("n", "tokens")
    embedding = (_pool(graph, hidden), ("n", shape.dimension))
    return graph.model("embedder", {"ids": tokens, "mask": tokens}, {"embedding": embedding})


def _pool(graph: Graph, hidden: str) -> str:
    """Sum over the tokens; the norm cancels the division that would make it their mean."""
    mask = graph.add("Unsqueeze", graph.add("Cast", "mask", to=TensorProto.FLOAT), graph.constant(2))
    total = graph.add("ReduceSum", graph.add("Mul", hidden, mask), graph.constant(1), keepdims=0)
    return graph.add("LpNormalization", total, axis=-1, p=2)
