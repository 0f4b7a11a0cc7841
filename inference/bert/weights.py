"""The tensors of a safetensors file: float32, or 8-bit integers with a scale for each row."""

from __future__ import annotations

import json
import mmap
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

HEADER_LENGTH_BYTES = 8
"""A safetensors file begins with the length of its JSON header, little-endian; after it come the tensors."""
SCALE = ".scale"
"""What the name of a tensor of 8-bit integers ends in that holds its rows' scales, float32: (rows,)."""
KINDS: dict[str, type[np.generic]] = {"F32": np.float32, "I8": np.int8}
"""What the format calls the kinds of numbers that are read here."""

Kind = TypeVar("Kind", np.float32, np.int8)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor lies in its file, in bytes."""

    kind: str
    """`F32`, `I8`, or another of the format's names, which nothing here reads."""
    shape: tuple[int, ...]
    offset: int
    length: int


class Weights:
    """A file that is mapped into memory: of its tensors is read what is asked for."""

    def __init__(self, file: Path) -> None:
        """Read the header. Raises `KeyError` and `ValueError` when the file is broken or cut off."""
        with file.open("rb") as opened:
            # A copy of what is written to, which nothing is: OpenVINO takes no arrays that are read-only.
            self._mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_COPY)
        self._converted: list[mmap.mmap] = []
        length = int.from_bytes(self._mapped[:HEADER_LENGTH_BYTES], "little")
        begin, size = HEADER_LENGTH_BYTES + length, len(self._mapped)
        header = json.loads(self._mapped[HEADER_LENGTH_BYTES : min(begin, size)])
        self._places = {
            name: _place(entry, begin) for name, entry in header.items() if name != "__metadata__"
        }
        if max((place.offset + place.length for place in self._places.values()), default=0) > size:
            raise ValueError(f"{file.name} is cut off")

    def is_quantised(self, name: str) -> bool:
        """Whether a tensor is of 8-bit integers. Raises `KeyError`."""
        return KINDS.get(self._places[name].kind) is np.int8

    def array(self, name: str, kind: type[Kind]) -> NDArray[Kind]:
        """A tensor as it is kept: 8-bit integers without their scale.

        Raises `KeyError`, and `ValueError` when its numbers are of another kind.
        """
        place = self._places[name]
        if KINDS.get(place.kind) is not kind:
            raise ValueError(f"{name} is {place.kind}, not {kind.__name__}")
        count = int(np.prod(place.shape, dtype=np.int64))
        return np.frombuffer(self._mapped, kind, count, place.offset).reshape(place.shape)

    def scales(self, name: str) -> NDArray[np.float32]:
        """What each row of a tensor of 8-bit integers is multiplied by: (rows, 1). Raises as `array` does."""
        return self.array(name + SCALE, np.float32).reshape(-1, 1)

    def floats(self, name: str) -> NDArray[np.float32]:
        """A tensor in float32, whatever it is kept in. Raises as `array` does.

        8-bit integers are converted into a file without a name, so that `release` frees that memory as well.
        """
        if not self.is_quantised(name):
            return self.array(name, np.float32)
        integers = self.array(name, np.int8)
        with tempfile.TemporaryFile() as file:
            file.truncate(integers.size * np.dtype(np.float32).itemsize)
            converted = mmap.mmap(file.fileno(), 0)
        self._converted.append(converted)
        floats = np.frombuffer(converted, np.float32).reshape(integers.shape)
        np.multiply(integers, self.scales(name), out=floats)
        return floats

    def release(self) -> None:
        """Give back the memory of what was read; what is asked for again is read again."""
        for mapped in (self._mapped, *self._converted):
            mapped.madvise(mmap.MADV_DONTNEED)


class _Entry(TypedDict):
    """What the header says of a tensor; its bytes are counted from the end of the header."""

    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def _place(entry: _Entry, begin: int) -> Place:
    start, end = entry["data_offsets"]
    return Place(entry["dtype"], tuple(entry["shape"]), begin + start, end - start)
