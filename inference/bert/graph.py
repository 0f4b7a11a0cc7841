"""Builds a BERT encoder for OpenVINO over weights that stay in their safetensors file.

Architecture: Devlin et al., NAACL 2019 (post-norm encoder, exact GELU). Weights are named as in
`transformers` BertModel. What is put on top of the encoder is added by whoever builds the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from openvino import Model, Node
from openvino import opset14 as operators

from inference.bert.weights import Weights

HIDDEN_BEFORE = 30_000.0
"""Taken off the logits of attention to padding: after the softmax nothing is left of them."""


@dataclass(frozen=True, slots=True)
class BertShape:
    """What the graph needs to know of an encoder besides its weights."""

    layers: int
    heads: int
    dimension: int
    epsilon: float
    """Added to the variance in layer normalisation."""


class Graph:
    """Makes the nodes of a network that are about a text or about weights.

    Its inputs are (1, tokens) int64: `ids`, and `mask`, which is 1 for tokens and 0 for padding, and what
    `input` adds. Raises `KeyError` when a weight is missing and `ValueError` when it is of a wrong kind.
    """

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._inputs: list[Node] = []
        self.ids, self.mask = self.input("ids"), self.input("mask")

    def input(self, name: str) -> Node:
        """A number for each token."""
        node = operators.parameter([1, -1], np.int64, name=name)
        self._inputs.append(node)
        return node

    def constant(self, *numbers: int) -> Node:
        """A list of numbers."""
        return operators.constant(np.array(numbers, np.int64))

    def linear(self, value: Node, name: str) -> Node:
        """The last axis of `value` times a weight, plus its bias."""
        weight = operators.constant(self._weights.floats(f"{name}.weight"), shared_memory=True)
        product = operators.matmul(value, weight, transpose_a=False, transpose_b=True)
        return operators.add(product, self._floats(f"{name}.bias"))

    def lookup(self, name: str, index: Node) -> Node:
        """The rows of a weight that an index names. 8-bit integers stay so in memory."""
        if not self._weights.is_quantised(name):
            return _rows(self._floats(name), index)
        integers = operators.constant(self._weights.array(name, np.int8), shared_memory=True)
        floats = operators.convert(_rows(integers, index), "f32")
        return operators.multiply(floats, _rows(operators.constant(self._weights.scales(name)), index))

    def normalise(self, value: Node, name: str, epsilon: float) -> Node:
        """Layer normalisation of the last axis."""
        plain = operators.mvn(value, self.constant(-1), True, epsilon, "INSIDE_SQRT")
        scaled = operators.multiply(plain, self._floats(f"{name}.weight"))
        return operators.add(scaled, self._floats(f"{name}.bias"))

    def floats(self, value: Node) -> Node:
        """Integers as float32."""
        return operators.convert(value, "f32")

    def model(self, outputs: Sequence[Node], name: str) -> Model:
        """The whole, with its outputs in this order."""
        return Model(list(outputs), self._inputs, name)

    def _floats(self, name: str) -> Node:
        return operators.constant(self._weights.array(name, np.float32), shared_memory=True)


def encode(graph: Graph, shape: BertShape, segments: Node) -> Node:
    """The hidden values of the tokens, (1, tokens, dimension); `segments` is the segment of each token."""
    hidden = _embed_tokens(graph, shape, segments)
    shown = operators.unsqueeze(graph.floats(graph.mask), graph.constant(1, 2))
    hide = operators.multiply(operators.subtract(shown, _float(1)), _float(HIDDEN_BEFORE))
    for layer in range(shape.layers):
        prefix = f"encoder.layer.{layer}"
        hidden = _attend(graph, hidden, hide, _Layer(f"{prefix}.attention", shape))
        hidden = _feed_forward(graph, hidden, _Layer(prefix, shape))
    return hidden


@dataclass(frozen=True, slots=True)
class _Layer:
    """A part of the encoder: the prefix of its weights' names, and the numbers of the whole."""

    prefix: str
    shape: BertShape


def _embed_tokens(graph: Graph, shape: BertShape, segments: Node) -> Node:
    """Words, positions and segments, summed and normalised."""
    last, one = operators.constant(np.int64(0)), operators.constant(np.int64(1))
    length = operators.gather(operators.shape_of(graph.ids), one, last)
    places = operators.unsqueeze(operators.range(last, length, one, output_type="i64"), last)
    position = graph.lookup("embeddings.position_embeddings.weight", places)
    segment = graph.lookup("embeddings.token_type_embeddings.weight", segments)
    word = graph.lookup("embeddings.word_embeddings.weight", graph.ids)
    total = operators.add(operators.add(word, position), segment)
    return graph.normalise(total, "embeddings.LayerNorm", shape.epsilon)


def _attend(graph: Graph, hidden: Node, hide: Node, layer: _Layer) -> Node:
    """Self-attention, residual, norm. `hide` is added to the logits of the attention to each token."""
    heads, dimension = layer.shape.heads, layer.shape.dimension
    apart, turned = graph.constant(0, 0, heads, dimension // heads), graph.constant(0, 2, 1, 3)
    query, key, value = (
        operators.transpose(
            operators.reshape(graph.linear(hidden, f"{layer.prefix}.self.{name}"), apart, True), turned
        )
        for name in ("query", "key", "value")
    )
    context = operators.transpose(operators.scaled_dot_product_attention(query, key, value, hide), turned)
    joined = operators.reshape(context, graph.constant(0, 0, dimension), True)
    return _add_and_normalise(graph, hidden, joined, layer)


def _feed_forward(graph: Graph, hidden: Node, layer: _Layer) -> Node:
    wide = operators.gelu(graph.linear(hidden, f"{layer.prefix}.intermediate.dense"), "erf")
    return _add_and_normalise(graph, hidden, wide, layer)


def _add_and_normalise(graph: Graph, residual: Node, value: Node, layer: _Layer) -> Node:
    out = graph.linear(value, f"{layer.prefix}.output.dense")
    total = operators.add(out, residual)
    return graph.normalise(total, f"{layer.prefix}.output.LayerNorm", layer.shape.epsilon)


def _rows(table: Node, index: Node) -> Node:
    return operators.gather(table, index, operators.constant(np.int64(0)))


def _float(number: float) -> Node:
    return operators.constant(np.float32(number))
