"""Builds the ONNX graph of a BERT sentence embedder over weights that stay in their safetensors file.

Architecture: Devlin et al., NAACL 2019 (post-norm encoder, exact GELU); mean pooling and unit norm on top are
those of Sentence-BERT (Reimers & Gurevych, EMNLP 2019). Weights are named as in `transformers` BertModel.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

HEADER_LENGTH_BYTES = 8
"""A safetensors file begins with the length of its JSON header, little-endian; after it come the tensors."""
ONNXRUNTIME = "com.microsoft"
"""Operator domain of onnxruntime's own kernels."""


@dataclass(frozen=True, slots=True)
class BertShape:
    """What the graph needs to know of a `config.json`."""

    layers: int
    heads: int
    dimension: int
    epsilon: float
    """Added to the variance in layer normalisation."""


def build_graph(weights: Path, shape: BertShape) -> ModelProto:
    """The model (`ids`, `mask`: (n, tokens) int64) -> `embedding`: (n, dimension) float32, unit norm.

    `mask` is 1 for tokens and 0 for padding. Tensors refer to the weights by file name; the session must be
    told the folder. Raises `KeyError` when a weight is missing and `ValueError` when the file is broken or a
    weight is not float32.
    """
    graph = _Graph(weights)
    sizes = graph.add("Shape", "ids")
    hidden = _embed_tokens(graph, sizes, shape)
    full = graph.add("Concat", sizes, graph.constant(shape.dimension), axis=0)
    mask = graph.add("Cast", "mask", to=TensorProto.INT32)
    for layer in range(shape.layers):
        prefix = f"encoder.layer.{layer}"
        hidden = _attend(graph, hidden, mask, full, _Layer(f"{prefix}.attention", shape))
        hidden = _feed_forward(graph, hidden, _Layer(prefix, shape))
    _pool(graph, graph.add("Reshape", hidden, full))
    return graph.model(shape.dimension)


class _Graph:
    """Collects nodes and tensors; `add`, `constant` and `weight` return the name of their value."""

    def __init__(self, weights: Path) -> None:
        self._file_name = weights.name
        size = weights.stat().st_size
        with weights.open("rb") as file:
            length = int.from_bytes(file.read(HEADER_LENGTH_BYTES), "little")
            self._header = json.loads(file.read(min(length, size)))
        self._data_offset = HEADER_LENGTH_BYTES + length
        end = max(entry["data_offsets"][1] for name, entry in self._header.items() if name != "__metadata__")
        if self._data_offset + end > size:
            raise ValueError(f"{weights.name} is cut off")
        self._nodes: list[NodeProto] = []
        self._tensors: dict[str, TensorProto] = {}

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: int | float) -> str:
        output = f"value{len(self._nodes)}"
        node = helper.make_node(operator, inputs, [output], domain=domain)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self._nodes.append(node)
        return output

    def constant(self, *numbers: int) -> str:
        name = f"constant{numbers}"
        self._tensors[name] = numpy_helper.from_array(np.array(numbers, np.int64), name)
        return name

    def weight(self, name: str) -> str:
        entry = self._header[name]
        if entry["dtype"] != "F32":
            raise ValueError(f"{name} is {entry['dtype']}, not F32")
        start, end = entry["data_offsets"]
        tensor = TensorProto(
            name=name, data_type=TensorProto.FLOAT, dims=entry["shape"], data_location=TensorProto.EXTERNAL
        )
        place = {"location": self._file_name, "offset": self._data_offset + start, "length": end - start}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self._tensors[name] = tensor
        return name

    def linear(self, value: str, name: str) -> str:
        return self.add("Gemm", value, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), transB=1)

    def normalise(self, value: str, name: str, epsilon: float) -> str:
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", value, scale, bias, axis=-1, epsilon=epsilon)

    def model(self, dimension: int) -> ModelProto:
        self._nodes[-1].output[0] = "embedding"
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "tokens"])
            for name in ("ids", "mask")
        ]
        output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["n", dimension])
        return helper.make_model(
            helper.make_graph(self._nodes, "bert", inputs, [output], list(self._tensors.values())),
            opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(ONNXRUNTIME, 1)],
            ir_version=9,
        )


@dataclass(frozen=True, slots=True)
class _Layer:
    """A part of the encoder: the prefix of its weights' names, and the numbers of the whole."""

    prefix: str
    shape: BertShape


def _embed_tokens(graph: _Graph, sizes: str, shape: BertShape) -> str:
    """Words, positions and the first segment, summed and normalised: (n x tokens, dimension)."""
    length = graph.add("Gather", sizes, graph.constant(1))
    positions = graph.weight("embeddings.position_embeddings.weight")
    position = graph.add("Slice", positions, graph.constant(0), length, graph.constant(0))
    segment = graph.add("Gather", graph.weight("embeddings.token_type_embeddings.weight"), graph.constant(0))
    word = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "ids")
    total = graph.add("Add", graph.add("Add", word, position), segment)
    rows = graph.add("Reshape", total, graph.constant(-1, shape.dimension))
    return graph.normalise(rows, "embeddings.LayerNorm", shape.epsilon)


def _attend(graph: _Graph, hidden: str, mask: str, full: str, layer: _Layer) -> str:
    """Self-attention, residual, norm; onnxruntime's fused kernel is what makes padding cheap and correct."""
    projected = [
        graph.add("Reshape", graph.linear(hidden, f"{layer.prefix}.self.{name}"), full)
        for name in ("query", "key", "value")
    ]
    heads = layer.shape.heads
    context = graph.add("MultiHeadAttention", *projected, "", mask, domain=ONNXRUNTIME, num_heads=heads)
    rows = graph.add("Reshape", context, graph.constant(-1, layer.shape.dimension))
    return _add_and_normalise(graph, hidden, rows, layer)


def _feed_forward(graph: _Graph, hidden: str, layer: _Layer) -> str:
    wide = graph.add("Gelu", graph.linear(hidden, f"{layer.prefix}.intermediate.dense"))
    return _add_and_normalise(graph, hidden, wide, layer)


def _add_and_normalise(graph: _Graph, residual: str, value: str, layer: _Layer) -> str:
    out = graph.linear(value, f"{layer.prefix}.output.dense")
    total = graph.add("Add", out, residual)
    return graph.normalise(total, f"{layer.prefix}.output.LayerNorm", layer.shape.epsilon)


def _pool(graph: _Graph, hidden: str) -> None:
    """Sum over the tokens; the norm cancels the division that would make it their mean."""
    mask = graph.add("Unsqueeze", graph.add("Cast", "mask", to=TensorProto.FLOAT), graph.constant(2))
    total = graph.add("ReduceSum", graph.add("Mul", hidden, mask), graph.constant(1), keepdims=0)
    graph.add("LpNormalization", total, axis=-1, p=2)
