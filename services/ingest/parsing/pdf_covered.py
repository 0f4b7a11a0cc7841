"""Takes out of a PDF page the words that lie below a filled rectangle: redactions that removed nothing.

A rectangle that is drawn after the words makes them suspect; what the page then looks like decides. Where a
row of letters leaves no trace in the rendered page, nobody reads it; words under a marker's colour do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pymupdf

Block = dict[str, Any]
Span = dict[str, Any]
"""Spans as `Page.get_text("dict")` gives them, shapes among them."""

COVER = "█"
"""Stands for covered words where the cover is dark, as it does on the page; a light one leaves nothing."""
MOST_SHAPES = 1_000
"""Rectangles of a page that are looked at."""
LEAST_HEIGHT = 3.0
"""Points; lower rectangles underline, strike out or rule."""
LEAST_ALPHA = 250
"""On a scale to 255; words are seen through a fainter rectangle."""
BAND = 0.2
"""Share of the height of a span, above and below its middle: where letters and digits have ink."""
SAME_GREY = 12
"""Steps, of 255, within which a place has one colour."""
PIXELS_A_POINT = 2.0
DARK = 128
"""A cover of a lower grey is dark."""
MOST_PIXELS = 4_000
"""A side of the rendered page."""
_SHAPE = 3


@dataclass(slots=True)
class Shape:
    """A stroke, or the rectangle around a filled shape, in points."""

    left: float
    top: float
    right: float
    bottom: float
    above: int
    """How many spans were drawn before it."""
    covers: bool
    """Whether nothing below it would be seen."""


def read_spans(blocks: Iterable[Block]) -> tuple[list[Span], list[Shape]]:
    """The spans of a page, and its shapes, in drawing order."""
    spans: list[Span] = []
    shapes: list[Shape] = []
    for block in blocks:
        if block["type"] == _SHAPE:
            left, top, right, bottom = block["bbox"]
            covers = block["isrect"] and not block["stroked"] and block["alpha"] >= LEAST_ALPHA
            shapes.append(Shape(left, top, right, bottom, len(spans), covers))
        else:
            spans += [span for line in block.get("lines", ()) for span in line["spans"]]
    return spans, shapes


def uncovered(
    page: pymupdf.Page, spans: list[Span], shapes: Sequence[Shape], flags: int
) -> tuple[list[Span], int]:
    """The spans without what shapes cover; how many characters besides white space those are."""
    covers = [
        shape for shape in shapes if shape.covers and shape.above and shape.bottom - shape.top >= LEAST_HEIGHT
    ]
    suspects = {
        index: over
        for index, span in enumerate(spans if covers else ())
        if (
            over := [
                shape for shape in covers[:MOST_SHAPES] if index < shape.above and _covers_middle(shape, span)
            ]
        )
    }
    if not suspects:
        return spans, 0
    raw, _ = read_spans(page.get_text("rawdict", flags=flags)["blocks"])
    look = _Look(page)
    count = 0
    kept = list(spans)
    for index, over in suspects.items():
        for shape in over:
            count += _cover(raw[index], shape, raw[shape.above :], look)
        kept[index] = spans[index] | {"text": "".join([character["c"] for character in raw[index]["chars"]])}
    return (kept, count) if count else (spans, 0)


def _covers_middle(shape: Shape, span: Span) -> bool:
    left, _, right, _ = span["bbox"]
    top, bottom = _band(span)
    return shape.left < right and shape.right > left and shape.top <= top and shape.bottom >= bottom


def _band(span: Span) -> tuple[float, float]:
    _, top, _, bottom = span["bbox"]
    middle, half = (top + bottom) / 2, (bottom - top) * BAND
    return middle - half, middle + half


def _cover(span: Span, shape: Shape, later: Iterable[Span], look: _Look) -> int:
    """Replace a span's characters below a shape if nobody sees them; how many those are.

    What is written on the shape, `later`, tells nothing of what is below it.
    """
    words = [
        character
        for character in span["chars"]
        if character["c"].strip() and shape.left <= _middle(character) <= shape.right
    ]
    top, bottom = _band(span)
    labels = [label["bbox"] for label in later if label["bbox"][1] < bottom and label["bbox"][3] > top]
    greys = b"".join(
        look.greys(max(character["bbox"][0], shape.left), top, min(character["bbox"][2], shape.right), bottom)
        for character in words
        if character["c"].isalnum()
        and not any(label[0] < character["bbox"][2] and label[2] > character["bbox"][0] for label in labels)
    )
    if not greys or max(greys) - min(greys) > SAME_GREY:
        return 0
    for character in words:
        character["c"] = ""
    words[0]["c"] = COVER if greys[0] < DARK else ""
    return len(words)


def _middle(character: dict[str, Any]) -> float:
    left, _, right, _ = character["bbox"]
    return float(left + right) / 2


class _Look:
    """What a page looks like, in grey."""

    def __init__(self, page: pymupdf.Page) -> None:
        self._scale = min(PIXELS_A_POINT, MOST_PIXELS / max(page.rect.width, page.rect.height, 1.0))
        # Words are placed as on a page that is not turned.
        matrix = page.derotation_matrix * pymupdf.Matrix(self._scale, self._scale)
        self._pixels = page.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY)
        self._samples = self._pixels.samples

    def greys(self, left: float, top: float, right: float, bottom: float) -> bytes:
        """The pixels of a place, each 0 (black) to 255; none for a place smaller than that."""
        start = max(0, int(left * self._scale) + 1)
        end = min(self._pixels.width, int(right * self._scale))
        rows = range(max(0, int(top * self._scale)), min(self._pixels.height, int(bottom * self._scale) + 1))
        starts = (row * self._pixels.stride for row in rows)
        return b"".join(self._samples[at + start : at + end] for at in starts) if start < end else b""
