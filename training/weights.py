"""Weights by name: in float32 as they are trained, and in 8 bits as they are shipped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inference.bert.weights import SCALE

LARGEST = 127
SMALLEST_SCALE = 1e-12
"""A row of zeros has it, to be divided by."""

Tensors = dict[str, NDArray[np.float32]]


def mean(weights: Sequence[Tensors]) -> Tensors:
    """The mean of weights that have the same names and shapes."""
    return {name: np.mean([own[name] for own in weights], axis=0, dtype=np.float32) for name in weights[0]}


def quantised(weights: Tensors) -> dict[str, NDArray[np.float32] | NDArray[np.int8]]:
    """Matrices as 8-bit integers with a float32 scale for each row; all else stays as it is."""
    made: dict[str, NDArray[np.float32] | NDArray[np.int8]] = {}
    for name, weight in weights.items():
        if weight.ndim == 1:
            made[name] = weight.astype(np.float32)
            continue
        scale = np.maximum(np.abs(weight).max(axis=1) / LARGEST, SMALLEST_SCALE).astype(np.float32)
        made[name] = np.rint(weight / scale[:, None]).astype(np.int8)
        made[name + SCALE] = scale
    return made


def restored(weights: dict[str, NDArray[np.float32] | NDArray[np.int8]]) -> Tensors:
    """What `quantised` made, in float32 again; float32 stays as it is."""
    return {
        name: (weight * weights[name + SCALE][:, None] if weight.dtype == np.int8 else weight).astype(
            np.float32
        )
        for name, weight in weights.items()
        if not name.endswith(SCALE)
    }
