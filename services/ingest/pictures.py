"""Pages that are to be drawn, and what they look like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chassis.errors import InvalidInput

WIDTHS = range(200, 2_001)
"""Pixels that a picture may be wide."""
USUAL_WIDTH = 1_000
MOST_MARKS = 500
_MARK = re.compile(r"-?\d{1,6}(?:\.\d{1,6})?(?:,-?\d{1,6}(?:\.\d{1,6})?){3}", re.ASCII)

Place = tuple[float, float, float, float]
"""Left, top, right and bottom in points, on the page as it is shown."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a page is to be drawn. One that exists is well formed."""

    page: int
    """From 1."""
    width: int = USUAL_WIDTH
    """Pixels."""
    marks: tuple[Place, ...] = ()

    def __post_init__(self) -> None:
        """Raise `InvalidInput`, naming the field."""
        if self.page < 1:
            raise InvalidInput("Must be a number from 1.", field="page")
        if self.width not in WIDTHS:
            message = f"Must be {WIDTHS.start:,} to {WIDTHS.stop - 1:,} pixels."
            raise InvalidInput(message, field="width")


def marks_of(boxes: Sequence[str]) -> tuple[Place, ...]:
    """The places that a request names. Raises `InvalidInput`."""
    if len(boxes) > MOST_MARKS:
        raise InvalidInput(f"At most {MOST_MARKS} may be given.", field="boxes")
    return tuple(_place(text, f"boxes[{index}]") for index, text in enumerate(boxes))


def _place(text: str, field: str) -> Place:
    if _MARK.fullmatch(text):
        left, top, right, bottom = map(float, text.split(","))
        if left < right and top < bottom:
            return left, top, right, bottom
    raise InvalidInput("Must be left,top,right,bottom in points, such as 72,100.5,540,112.", field=field)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A page of a file to draw."""

    file: Path
    look: Look


@dataclass(frozen=True, slots=True)
class Picture:
    """A page that was drawn, see `clausegate.ingest.v1.RenderPageResponse`."""

    png: bytes
    width: int
    height: int
    page_width: float
    page_height: float
    rotation: int
