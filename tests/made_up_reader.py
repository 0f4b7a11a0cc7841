"""A reader of made-up weights, as files, and what it says by plain numpy."""

import hashlib
import json
import math

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from inference.bert.graph import BertShape

SHAPE = BertShape(layers=2, heads=2, dimension=32, epsilon=1e-12)
WIDE = 64
POSITIONS = 300
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "who",
    "pays",
    "the",
    "fee",
    "licensee",
    "shall",
    "pay",
    "fees",
    "within",
    "thirty",
    "days",
    ".",
    "?",
]
VOCABULARY_SIZE = len(WORDS)
QUANTISED_RANK = 2


def made_up_weights(seed, shape=SHAPE, wide=WIDE, words=VOCABULARY_SIZE):
    """Tensors by name: float32, as training leaves them."""
    draw = np.random.default_rng(seed)

    def matrix(rows, columns):
        return draw.normal(0, 0.3, (rows, columns)).astype(np.float32)

    tensors = {}

    def linear(name, rows, columns):
        tensors[f"{name}.weight"] = matrix(rows, columns)
        tensors[f"{name}.bias"] = draw.normal(0, 0.3, rows).astype(np.float32)

    def norm(name):
        tensors[f"{name}.weight"] = draw.normal(1, 0.2, shape.dimension).astype(np.float32)
        tensors[f"{name}.bias"] = draw.normal(0, 0.2, shape.dimension).astype(np.float32)

    for name, rows in (("word", words), ("position", POSITIONS), ("token_type", 2)):
        tensors[f"embeddings.{name}_embeddings.weight"] = matrix(rows, shape.dimension)
    norm("embeddings.LayerNorm")
    for layer in range(shape.layers):
        prefix = f"encoder.layer.{layer}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            linear(f"{prefix}.attention.{name}", shape.dimension, shape.dimension)
        norm(f"{prefix}.attention.output.LayerNorm")
        linear(f"{prefix}.intermediate.dense", wide, shape.dimension)
        linear(f"{prefix}.output.dense", shape.dimension, wide)
        norm(f"{prefix}.output.LayerNorm")
    linear("answers", 1, shape.dimension)
    linear("evidence", 1, shape.dimension)
    return tensors


def quantised(tensors):
    """The same with 8-bit integers and a scale for each row of a matrix."""
    made = {}
    for name, tensor in tensors.items():
        if tensor.ndim == QUANTISED_RANK:
            scale = np.abs(tensor).max(axis=1) / 127
            made[name] = np.round(tensor / scale[:, None]).astype(np.int8)
            made[f"{name}.scale"] = scale.astype(np.float32)
        else:
            made[name] = tensor
    return made


def write_safetensors(tensors, file):
    header, place = {}, 0
    for name, tensor in tensors.items():
        kind = {"int8": "I8", "float32": "F32", "float64": "F64"}[tensor.dtype.name]
        header[name] = {
            "dtype": kind,
            "shape": list(tensor.shape),
            "data_offsets": [place, place + tensor.nbytes],
        }
        place += tensor.nbytes
    described = json.dumps(header).encode()
    described += b" " * (-len(described) % 8)
    file.write_bytes(
        len(described).to_bytes(8, "little") + described + b"".join(t.tobytes() for t in tensors.values())
    )


def write_reader(folder, tensors, tokenizer=None):
    """All files of a reader."""
    folder.mkdir(exist_ok=True)
    write_safetensors(tensors, folder / "reader.safetensors")
    (tokenizer or vocabulary()).save(str(folder / "tokenizer.json"))
    described = {
        "sha256": hashlib.sha256((folder / "reader.safetensors").read_bytes()).hexdigest(),
        "vocabulary sha256": hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest(),
    }
    (folder / "reader.json").write_text(json.dumps(described), encoding="utf-8")
    return folder


def vocabulary(words=WORDS):
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def forward(tensors, ids, types):
    """Logits of one row without padding: whether it answers, and one for each token."""

    def matrix(name):
        return tensors[name] * tensors.get(f"{name}.scale", np.ones(len(tensors[name])))[:, None]

    def linear(value, name):
        return value @ matrix(f"{name}.weight").T + tensors[f"{name}.bias"]

    def table(name):
        return matrix(f"embeddings.{name}_embeddings.weight")

    def norm(value, name):
        middle = value - value.mean(-1, keepdims=True)
        scaled = middle / np.sqrt((middle**2).mean(-1, keepdims=True) + SHAPE.epsilon)
        return scaled * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def gelu(value):
        return value * 0.5 * (1 + np.vectorize(math.erf)(value / math.sqrt(2)))

    hidden = table("word")[ids] + table("position")[: len(ids)] + table("token_type")[types]
    hidden = norm(hidden, "embeddings.LayerNorm")
    for layer in range(SHAPE.layers):
        prefix = f"encoder.layer.{layer}"
        query, key, value = (
            linear(hidden, f"{prefix}.attention.self.{name}")
            .reshape(len(ids), SHAPE.heads, -1)
            .transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        scores = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1]))
        context = (scores / scores.sum(-1, keepdims=True)) @ value
        out = linear(context.transpose(1, 0, 2).reshape(len(ids), -1), f"{prefix}.attention.output.dense")
        hidden = norm(hidden + out, f"{prefix}.attention.output.LayerNorm")
        out = linear(gelu(linear(hidden, f"{prefix}.intermediate.dense")), f"{prefix}.output.dense")
        hidden = norm(hidden + out, f"{prefix}.output.LayerNorm")
    return linear(hidden[0], "answers")[0], linear(hidden, "evidence")[:, 0]
