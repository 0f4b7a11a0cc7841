"""Draws a page of a PDF as a picture, and marks places on it. Runs in the child process."""

from __future__ import annotations

from collections.abc import Iterable

import pymupdf
from pymupdf import mupdf

from services.ingest.errors import DocumentCorrupt, DocumentTooLarge
from services.ingest.parsing.pdf import open_pdf, without_complaints
from services.ingest.pictures import Drawing, Picture

MOST_HEIGHT = 8_000
"""Pixels; no paper is so high at any width that may be asked for."""
HAIR = 0.01
_MARKED = bytes(value * 2 // 5 for value in range(256))
"""What is left of blue below a mark: white turns yellow, and black stays black."""


def draw(drawing: Drawing) -> Picture:
    """The picture of a page. Raises `DocumentEncrypted`, `DocumentCorrupt` and `DocumentTooLarge`."""
    without_complaints()
    look = drawing.look
    try:
        with open_pdf(drawing.file) as document:
            page = document.load_page(look.page - 1)
            paper, rotation = page.rect, page.rotation
            # A picture holds every pixel that the page touches: a hair less, and it is as wide as asked.
            scale = (look.width - HAIR) / paper.width
            if paper.height * scale > MOST_HEIGHT:
                message = f"The page is too high to be drawn {look.width} pixels wide."
                raise DocumentTooLarge(message, field="page")
            pixels = page.get_pixmap(
                matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False
            )
    except mupdf.FzErrorSystem as error:
        raise MemoryError from error
    except (mupdf.FzErrorBase, RuntimeError, ValueError, ZeroDivisionError) as error:
        raise DocumentCorrupt(f"Page {look.page} cannot be drawn.", field="page") from error
    mark(pixels, ([edge * scale for edge in place] for place in look.marks))
    return Picture(
        pixels.tobytes("png"),
        pixels.width,
        pixels.height,
        round(paper.width, 2),
        round(paper.height, 2),
        rotation,
    )


def mark(pixels: pymupdf.Pixmap, places: Iterable[list[float]]) -> None:
    """Colour places, in pixels, as a marker does. Places that overlap are no darker for it."""
    samples, stride = pixels.samples_mv, pixels.stride
    marked: dict[int, set[tuple[int, int]]] = {}
    for left, top, right, bottom in places:
        start, end = max(0, round(left)), min(pixels.width, round(right))
        for row in range(max(0, round(top)), min(pixels.height, round(bottom))):
            if start < end:
                marked.setdefault(row, set()).add((start, end))
    for row, runs in marked.items():
        done = 0
        for start, end in sorted(runs):
            first = max(done, start)
            if first < end:
                blue = slice(row * stride + 3 * first + 2, row * stride + 3 * end, 3)
                samples[blue] = bytes(samples[blue]).translate(_MARKED)
                done = end
