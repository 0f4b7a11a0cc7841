"""The reader as a PyTorch network: BERT (Devlin et al., NAACL 2019) with two linear heads.

Weights are named as in `transformers` BertModel, so that it begins as the embedding model and is read by the
same code as that one. The heads are `answers` (one logit, on the first token) and `evidence` (one a token).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

EPSILON = 1e-12
HIDDEN_BEFORE = -30_000.0
"""Added to the logits of attention to padding; bfloat16 holds it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of all-MiniLM-L6-v2."""

    layers: int = 6
    heads: int = 12
    dimension: int = 384
    wide: int = 1536
    dropout: float = 0.0
    """Share of the hidden values that training drops, as BERT did with 0.1."""


@dataclass(frozen=True, slots=True)
class Logits:
    """What the network says of a batch."""

    answers: torch.Tensor
    """(n,) float32."""
    sentences: torch.Tensor
    """(n, s) float32: the mean over the tokens of each sentence; of absent sentences it means nothing."""
    present: torch.Tensor
    """(n, s) bool: whether the row has the sentence."""


class Reader(nn.Module):
    """`forward` takes what `Rows.tokens_of` gives, padded with 0, 0 and -1."""

    def __init__(self, shape: Shape, vocabulary: int = 30_522, positions: int = 512) -> None:
        super().__init__()
        self.embeddings = _Embeddings(shape, vocabulary, positions)
        self.dropout = nn.Dropout(shape.dropout)
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList(_Layer(shape) for _ in range(shape.layers))
        self.answers = nn.Linear(shape.dimension, 1)
        self.evidence = nn.Linear(shape.dimension, 1)
        for head in (self.answers, self.evidence):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    def forward(
        self, ids: torch.Tensor, types: torch.Tensor, places: torch.Tensor, lengths: torch.Tensor
    ) -> Logits:
        """Logits of the batch; `lengths` (n,) says how many tokens of each row are not padding."""
        real = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        hidden = self.dropout(self.embeddings(ids, types))
        mask = torch.where(real, 0.0, HIDDEN_BEFORE)[:, None, None, :].to(hidden.dtype)
        for layer in self.encoder.layer:
            hidden = layer(hidden, mask)
        hidden = hidden.float()
        sentences, present = mean_by_sentence(self.evidence(hidden).squeeze(-1), places)
        return Logits(self.answers(hidden[:, 0]).squeeze(-1), sentences, present)

    def lower_precision(self) -> None:
        """Compute in bfloat16, all but the heads."""
        self.embeddings.to(torch.bfloat16)
        self.encoder.to(torch.bfloat16)

    def begin_as(self, weights: dict[str, NDArray[np.float32]]) -> None:
        """Take the weights of a BertModel, whose heads are new, or of a reader.

        A sentence embedder was trained on one segment: the passage's begins as the question's.
        """
        own = self.state_dict()
        taken = {name: torch.from_numpy(value.copy()) for name, value in weights.items() if name in own}
        segments = "embeddings.token_type_embeddings.weight"
        if "answers.weight" not in taken:
            taken[segments][1] = taken[segments][0]
        missing = [
            name for name in own if name not in taken and not name.startswith(("answers.", "evidence."))
        ]
        if missing:
            raise ValueError(f"weights lack {', '.join(missing)}")
        self.load_state_dict(taken, strict=False)

    def as_arrays(self) -> dict[str, NDArray[np.float32]]:
        """All weights by name."""
        return {name: value.detach().float().cpu().numpy() for name, value in self.state_dict().items()}


def mean_by_sentence(tokens: torch.Tensor, places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean of the values (n, t) over each sentence's tokens, and which sentences there are: (n, s)."""
    count = max(int(places.max()) + 1, 1)
    slots = places.clamp(min=-1) + 1
    zeros = tokens.new_zeros(len(tokens), count + 1)
    sums = zeros.scatter_add(1, slots, tokens)
    sizes = zeros.scatter_add(1, slots, torch.ones_like(tokens))
    return (sums / sizes.clamp(min=1))[:, 1:], sizes[:, 1:] > 0


class _Embeddings(nn.Module):
    def __init__(self, shape: Shape, vocabulary: int, positions: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, shape.dimension)
        self.position_embeddings = nn.Embedding(positions, shape.dimension)
        self.token_type_embeddings = nn.Embedding(2, shape.dimension)
        self.LayerNorm = nn.LayerNorm(shape.dimension, eps=EPSILON)

    def forward(self, ids: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        positions = self.position_embeddings.weight[: ids.shape[1]]
        return self.LayerNorm(self.word_embeddings(ids) + positions + self.token_type_embeddings(types))


class _Layer(nn.Module):
    """Post-norm: attention, then two linear maps with an exact GELU between."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.dropout = nn.Dropout(shape.dropout)
        self.attention = nn.Module()
        self.attention.self = nn.Module()
        for name in ("query", "key", "value"):
            setattr(self.attention.self, name, nn.Linear(shape.dimension, shape.dimension))
        self.attention.output = _out(shape.dimension, shape.dimension)
        self.intermediate = nn.Module()
        self.intermediate.dense = nn.Linear(shape.dimension, shape.wide)
        self.output = _out(shape.wide, shape.dimension)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        context = self.attention.output.dense(self._attend(hidden, mask))
        hidden = self.attention.output.LayerNorm(hidden + self.dropout(context))
        wide = functional.gelu(self.intermediate.dense(hidden))
        return self.output.LayerNorm(hidden + self.dropout(self.output.dense(wide)))

    def _attend(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The fused kernel on a GPU; on a processor two products train half as fast again."""
        n, length, dimension = hidden.shape
        parts = self.attention.self
        query, key, value = (
            part(hidden).view(n, length, self.heads, -1).transpose(1, 2)
            for part in (parts.query, parts.key, parts.value)
        )
        if hidden.is_cuda:
            context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        else:
            scores = query @ key.transpose(-1, -2) / math.sqrt(dimension // self.heads) + mask
            context = torch.softmax(scores, -1) @ value
        return context.transpose(1, 2).reshape(n, length, dimension)


def _out(wide: int, dimension: int) -> nn.Module:
    part = nn.Module()
    part.dense = nn.Linear(wide, dimension)
    part.LayerNorm = nn.LayerNorm(dimension, eps=EPSILON)
    return part
