"""Builds the reader: two linear heads on top of a BERT encoder."""

from __future__ import annotations

import numpy as np
from openvino import Model
from openvino import opset14 as operators

from inference.bert.graph import BertShape, Graph, encode
from inference.bert.weights import Weights

READER_SHAPE = BertShape(layers=6, heads=12, dimension=384, epsilon=1e-12)
"""The reader is fine-tuned from all-MiniLM-L6-v2 and has its shape."""


def build_graph(weights: Weights, shape: BertShape = READER_SHAPE) -> Model:
    """The model with a further input, whether a token is the passage's (1) or the question's (0).

    Its outputs are the logit of whether the passage answers, (1, 1), taken at the first token, and a logit
    for each token: (1, tokens, 1). Raises `KeyError` when a weight is missing and `ValueError` when one is
    of a wrong kind.
    """
    graph = Graph(weights)
    hidden = encode(graph, shape, segments=graph.input("types"))
    first = operators.gather(hidden, operators.constant(np.int64(0)), operators.constant(np.int64(1)))
    return graph.model([graph.linear(first, "answers"), graph.linear(hidden, "evidence")], "reader")
