"""The tensors of a safetensors file: float32, or 8-bit integers with a scale for each row."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

HEADER_LENGTH_BYTES = 8
"""A safetensors file begins with the length of its JSON header, little-endian; after it come the tensors."""
SCALE = ".scale"
"""What the name of a tensor of 8-bit integers ends in that holds its rows' scales, float32: (rows,)."""
KINDS: dict[str, type[np.generic]] = {"F32": np.float32, "I8": np.int8}
"""What the format calls the kinds of numbers that are read here."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor lies in its file, in bytes."""

    kind: str
    """`F32`, `I8`, or another of the format's names, which nothing here reads."""
    shape: tuple[int, ...]
    offset: int
    length: int


class Weights:
    """The places of the tensors of a file; the tensors themselves are not read."""

    def __init__(self, file: Path) -> None:
        """Read the header. Raises `KeyError` and `ValueError` when the file is broken or cut off."""
        # onnxruntime refuses weights that it reaches through a symbolic link.
        self.file = file.resolve()
        size = file.stat().st_size
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(HEADER_LENGTH_BYTES), "little")
            header = json.loads(opened.read(min(length, size)))
        begin = HEADER_LENGTH_BYTES + length
        self._places = {
            name: _place(entry, begin) for name, entry in header.items() if name != "__metadata__"
        }
        if max((place.offset + place.length for place in self._places.values()), default=0) > size:
            raise ValueError(f"{file.name} is cut off")

    def is_quantised(self, name: str) -> bool:
        """Whether a tensor is of 8-bit integers. Raises `KeyError`."""
        return KINDS.get(self._places[name].kind) is np.int8

    def place(self, name: str, kind: type[np.generic]) -> Place:
        """Where a tensor of these numbers lies. Raises `KeyError`, and `ValueError` when it is of others."""
        place = self._places[name]
        if KINDS.get(place.kind) is not kind:
            raise ValueError(f"{name} is {place.kind}, not {kind.__name__}")
        return place


class _Entry(TypedDict):
    """What the header says of a tensor; its bytes are counted from the end of the header."""

    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def _place(entry: _Entry, begin: int) -> Place:
    start, end = entry["data_offsets"]
    return Place(entry["dtype"], tuple(entry["shape"]), begin + start, end - start)
