"""Builds a BERT sentence embedder: mean pooling and unit norm on top of the encoder are those of
Sentence-BERT (Reimers & Gurevych, EMNLP 2019)."""

from __future__ import annotations

from openvino import Model, Node
from openvino import opset14 as operators

from inference.bert.graph import BertShape, Graph, encode
from inference.bert.weights import Weights

SMALLEST_NORM = 1e-12


def build_graph(weights: Weights, shape: BertShape) -> Model:
    """The model whose one output is the embedding of a row: (1, dimension) float32, unit norm.

    Raises `KeyError` when a weight is missing and `ValueError` when one is of a wrong kind.
    """
    graph = Graph(weights)
    return graph.model([_pool(graph, encode(graph, shape, segments=graph.constant(0)))], "embedder")


def _pool(graph: Graph, hidden: Node) -> Node:
    """Sum over the tokens; the norm cancels the division that would make it their mean."""
    mask = operators.unsqueeze(graph.floats(graph.mask), graph.constant(2))
    total = operators.reduce_sum(operators.multiply(hidden, mask), graph.constant(1))
    return operators.normalize_l2(total, graph.constant(1), SMALLEST_NORM, "add")
