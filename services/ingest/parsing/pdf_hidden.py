"""Tells the text of a PDF page that somebody who looks at the page sees from the text that nobody sees.

Hidden is what is drawn invisibly, all but transparent or tinier than a point, and white text with nothing
coloured below it. MuPDF itself leaves out what lies outside the page and in optional content that is off.
What lies below a rectangle is the matter of `pdf_covered`; below other shapes it is not recognised.

Hidden text is left out and counted, since instructions to a model are slipped into documents so. But a scan
carries its words as invisible text over its images: those are kept, and the page is told to be a scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pymupdf

from services.ingest.parsing.pdf_covered import Shape, Span

Box = tuple[float, float, float, float]

_PAINTED = 16 | 32 | 64
"""`char_flags` of text that is filled, stroked, or a window to what is painted in it."""
LEAST_ALPHA = 13
"""On a scale to 255; fainter text is not seen."""
LEAST_SIZE = 1.0
"""Points; smaller text is not read."""
WHITE = 250
"""Red, green and blue of at least this, of 255, are white."""
LEAST_WHITE = WHITE << 16 | WHITE << 8 | WHITE
"""No smaller number is a white."""
SCAN_SHARE = 0.25
"""Images that fill more of the page than this may be a scan: some scanners cut pages into strips, or store
only where something is printed."""
STAMP = 200
"""Characters; a scan shows no more besides its image, or fewer than it holds invisibly: what is stamped on
it, such as the number of a page or of a signature."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The spans of a page, in drawing order."""

    spans: list[Span]
    """What is to be read."""
    hidden_characters: int
    """Characters besides white space that are left out because nobody sees them."""
    is_scan: bool = False
    """Whether words among `spans` are drawn invisibly over an image."""
    shapes: Sequence[Shape] = ()
    turned: int = 0
    """Most of its lines are read downwards (1), upwards (-1), upside down (2), or as usual (0)."""


def sift(page: pymupdf.Page, spans: list[Span]) -> PageText:
    """Take out of the spans of a page what nobody sees, unless it is the text of a scan."""
    # Nearly all spans are dark and plainly painted: they are passed over here, without a call for each.
    suspects = [
        span
        for span in spans
        if span["color"] & 0xFFFFFF >= LEAST_WHITE
        or not span["char_flags"] & _PAINTED
        or span["alpha"] < LEAST_ALPHA
        or span["size"] < LEAST_SIZE
    ]
    hidden = {id(span): span for span in suspects if _is_clear(span)}
    white = [span for span in suspects if _is_white(span) and id(span) not in hidden]
    if white:
        coloured = _coloured_boxes(page)
        hidden |= {
            id(span): span for span in white if not any(_lies_on(span["bbox"], box) for box in coloured)
        }
    if not hidden:
        return PageText(spans, 0)
    scanned = _words_of_scan(page, hidden.values(), _characters(spans) - _characters(hidden.values()))
    for span in scanned:
        del hidden[id(span)]
    kept = [span for span in spans if id(span) not in hidden]
    return PageText(kept, _characters(hidden.values()), bool(scanned))


def _is_clear(span: Span) -> bool:
    """Whether a span is painted so that it cannot be seen, whatever lies below it."""
    return not span["char_flags"] & _PAINTED or span["alpha"] < LEAST_ALPHA or span["size"] < LEAST_SIZE


def _is_white(span: Span) -> bool:
    colour: int = span["color"]
    return min(colour.to_bytes(4, "big")[1:]) >= WHITE


def _coloured_boxes(page: pymupdf.Page) -> list[Box]:
    """What white text can be read on: filled shapes that are not white, and images."""
    shapes = [
        drawing["rect"] for drawing in page.get_cdrawings() if set(drawing.get("fill") or (1.0,)) != {1.0}
    ]
    return [*shapes, *(image["bbox"] for image in page.get_image_info())]


def _lies_on(text: Box, box: Box) -> bool:
    across, down = (text[0] + text[2]) / 2, (text[1] + text[3]) / 2
    return box[0] <= across <= box[2] and box[1] <= down <= box[3]


def _words_of_scan(page: pymupdf.Page, hidden: Iterable[Span], shown: int) -> list[Span]:
    """The hidden spans that repeat what an image of the page shows; `shown` characters are not hidden."""
    words = [span for span in hidden if not span["char_flags"] & _PAINTED and span["size"] >= LEAST_SIZE]
    if shown > max(STAMP, _characters(words)):
        return []
    paper = pymupdf.Rect(0, 0, page.cropbox.width, page.cropbox.height)  # not turned, as all coordinates
    images = [pymupdf.Rect(image["bbox"]) & paper for image in page.get_image_info()]
    if sum(image.get_area() for image in images) <= SCAN_SHARE * paper.get_area():
        return []
    boxes = [tuple(image) for image in images]
    return [span for span in words if any(_lies_on(span["bbox"], box) for box in boxes)]


def _characters(spans: Iterable[Span]) -> int:
    return sum(len("".join(span["text"].split())) for span in spans)
