"""Builds the ONNX graph of a BERT encoder over weights that stay in their safetensors file.

Architecture: Devlin et al., NAACL 2019 (post-norm encoder, exact GELU). Weights are named as in
`transformers` BertModel. What is put on top of the encoder is added by whoever builds the graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from inference.bert.weights import SCALE, Weights

ONNXRUNTIME = "com.microsoft"
"""Operator domain of onnxruntime's own kernels."""
ZERO_POINT, LARGEST = 128, 127
"""A row of values meets 8-bit weights as whole numbers from 1 to 255; 128 stands for 0."""
SMALLEST = 1e-9
"""Stands for the largest value of a row in which all are 0."""

Shape = tuple[int | str, ...]
"""Sizes of an input or output; a name stands for any size."""


@dataclass(frozen=True, slots=True)
class BertShape:
    """What the graph needs to know of an encoder besides its weights."""

    layers: int
    heads: int
    dimension: int
    epsilon: float
    """Added to the variance in layer normalisation."""


class Graph:
    """Collects nodes and tensors; all that adds something returns the name of its value.

    Raises `KeyError` when a weight is missing and `ValueError` when it is of a wrong kind.
    """

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._tensors: dict[str, TensorProto] = {}
        self._rounded: dict[str, tuple[str, str]] = {}

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: int | float) -> str:
        """The first output of a new node."""
        output = f"value{len(self._nodes)}"
        node = helper.make_node(operator, inputs, [output], domain=domain)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self._nodes.append(node)
        return output

    def constant(self, *numbers: int) -> str:
        """A list of numbers."""
        return self._tensor(f"constant{numbers}", np.array(numbers, np.int64))

    def linear(self, value: str, name: str) -> str:
        """Rows of `value` times a weight, plus its bias.

        Where the weight is of 8-bit integers, so is what it is multiplied with, each row by a scale of its
        own: twice as fast, and what else is in a batch changes nothing. (One scale for all rows, as
        onnxruntime would choose it, costs ten times as much of the correlation with exact logits.)
        """
        weight, bias = f"{name}.weight", self._float(f"{name}.bias")
        if not self._weights.is_quantised(weight):
            return self.add("Gemm", value, self._float(weight), bias, transB=1)
        rounded, scale = self._round(value)
        columns = self.add("Transpose", self._external(weight, np.int8))
        scales = self._external(weight + SCALE, np.float32)
        inputs = (rounded, columns, self._number(1.0), scales, self._zero_point())
        product = self.add("MatMulIntegerToFloat", *inputs, domain=ONNXRUNTIME)
        return self.add("Add", self.add("Mul", product, scale), bias)

    def lookup(self, name: str, index: str) -> str:
        """The rows of a weight that an index names."""
        if not self._weights.is_quantised(name):
            return self.add("Gather", self._float(name), index)
        rows = self.add("Gather", self._external(name, np.int8), index)
        scales = self.add("Gather", self._external(name + SCALE, np.float32), index)
        floats = self.add("Cast", rows, to=TensorProto.FLOAT)
        return self.add("Mul", floats, self.add("Unsqueeze", scales, self.constant(-1)))

    def normalise(self, value: str, name: str, epsilon: float) -> str:
        """Layer normalisation of the last axis."""
        scale, bias = self._float(f"{name}.weight"), self._float(f"{name}.bias")
        return self.add("LayerNormalization", value, scale, bias, axis=-1, epsilon=epsilon)

    def model(
        self, name: str, inputs: Mapping[str, Shape], outputs: Mapping[str, tuple[str, Shape]]
    ) -> ModelProto:
        """The whole: inputs (int64) by name, and outputs (float32) by name with the value that each is."""
        for output, (value, _) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [value], [output]))
        given = [
            helper.make_tensor_value_info(key, TensorProto.INT64, shape) for key, shape in inputs.items()
        ]
        made = [
            helper.make_tensor_value_info(key, TensorProto.FLOAT, shape)
            for key, (_, shape) in outputs.items()
        ]
        return helper.make_model(
            helper.make_graph(self._nodes, name, given, made, list(self._tensors.values())),
            opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(ONNXRUNTIME, 1)],
            ir_version=9,
        )

    def _round(self, value: str) -> tuple[str, str]:
        """A value as whole numbers, and the scale of each of its rows."""
        if value not in self._rounded:
            largest = self.add("ReduceMax", self.add("Abs", value), self.constant(1), keepdims=1)
            bounded = self.add("Max", largest, self._number(SMALLEST))
            scale = self.add("Div", bounded, self._number(LARGEST))
            inputs = (self.add("Div", value, scale), self._number(1.0), self._zero_point())
            self._rounded[value] = self.add("QuantizeLinear", *inputs), scale
        return self._rounded[value]

    def _zero_point(self) -> str:
        return self._tensor("zero point", np.array(ZERO_POINT, np.uint8))

    def _number(self, number: float) -> str:
        return self._tensor(f"number {number}", np.array(number, np.float32))

    def _float(self, name: str) -> str:
        return self._external(name, np.float32)

    def _external(self, name: str, kind: type[np.generic]) -> str:
        """A tensor that onnxruntime finds in the file; the session must be told the folder."""
        place = self._weights.place(name, kind)
        number = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        tensor = TensorProto(
            name=name, data_type=number, dims=place.shape, data_location=TensorProto.EXTERNAL
        )
        found = {"location": self._weights.file.name, "offset": place.offset, "length": place.length}
        for key, value in found.items():
            tensor.external_data.add(key=key, value=str(value))
        self._tensors[name] = tensor
        return name

    def _tensor(self, name: str, values: NDArray[np.generic]) -> str:
        self._tensors[name] = numpy_helper.from_array(values, name)
        return name


def encode(graph: Graph, shape: BertShape, segments: str) -> str:
    """The hidden values of the tokens: (n, tokens, dimension).

    The graph's inputs are `ids` and `mask`, (n, tokens) int64, where `mask` is 1 for tokens and 0 for
    padding; `segments` names the index of each token's segment, or of all of them.
    """
    sizes = graph.add("Shape", "ids")
    hidden = _embed_tokens(graph, sizes, shape, segments)
    full = graph.add("Concat", sizes, graph.constant(shape.dimension), axis=0)
    mask = graph.add("Cast", "mask", to=TensorProto.INT32)
    for layer in range(shape.layers):
        prefix = f"encoder.layer.{layer}"
        hidden = _attend(graph, hidden, mask, full, _Layer(f"{prefix}.attention", shape))
        hidden = _feed_forward(graph, hidden, _Layer(prefix, shape))
    return graph.add("Reshape", hidden, full)


@dataclass(frozen=True, slots=True)
class _Layer:
    """A part of the encoder: the prefix of its weights' names, and the numbers of the whole."""

    prefix: str
    shape: BertShape


def _embed_tokens(graph: Graph, sizes: str, shape: BertShape, segments: str) -> str:
    """Words, positions and segments, summed and normalised: (n x tokens, dimension)."""
    length = graph.add("Squeeze", graph.add("Gather", sizes, graph.constant(1)))
    zero, one = (graph.add("Squeeze", graph.constant(number)) for number in (0, 1))
    position = graph.lookup("embeddings.position_embeddings.weight", graph.add("Range", zero, length, one))
    segment = graph.lookup("embeddings.token_type_embeddings.weight", segments)
    word = graph.lookup("embeddings.word_embeddings.weight", "ids")
    total = graph.add("Add", graph.add("Add", word, position), segment)
    rows = graph.add("Reshape", total, graph.constant(-1, shape.dimension))
    return graph.normalise(rows, "embeddings.LayerNorm", shape.epsilon)


def _attend(graph: Graph, hidden: str, mask: str, full: str, layer: _Layer) -> str:
    """Self-attention, residual, norm; onnxruntime's fused kernel is what makes padding cheap and correct."""
    projected = [
        graph.add("Reshape", graph.linear(hidden, f"{layer.prefix}.self.{name}"), full)
        for name in ("query", "key", "value")
    ]
    heads = layer.shape.heads
    context = graph.add("MultiHeadAttention", *projected, "", mask, domain=ONNXRUNTIME, num_heads=heads)
    rows = graph.add("Reshape", context, graph.constant(-1, layer.shape.dimension))
    return _add_and_normalise(graph, hidden, rows, layer)


def _feed_forward(graph: Graph, hidden: str, layer: _Layer) -> str:
    wide = graph.add("Gelu", graph.linear(hidden, f"{layer.prefix}.intermediate.dense"))
    return _add_and_normalise(graph, hidden, wide, layer)


def _add_and_normalise(graph: Graph, residual: str, value: str, layer: _Layer) -> str:
    out = graph.linear(value, f"{layer.prefix}.output.dense")
    total = graph.add("Add", out, residual)
    return graph.normalise(total, f"{layer.prefix}.output.LayerNorm", layer.shape.epsilon)
