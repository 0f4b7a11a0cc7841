"""Tells the text of a PDF page that somebody who looks at the page sees from the text that nobody sees.

Hidden is what is drawn invisibly, all but transparent or tinier than a point, and white text with nothing
coloured below it. MuPDF itself leaves out what lies outside the page and in optional content that is off.
Text that another shape covers is not recognised.

Hidden text is left out, since instructions to a model are slipped into documents so; but a scan carries its
words as invisible text over its image, and those are kept. Both are counted, and told at ingest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pymupdf

Span = dict[str, Any]
"""As `Page.get_text("dict")` gives it."""
Box = tuple[float, float, float, float]

_PAINTED = 16 | 32 | 64
"""`char_flags` of text that is filled, stroked, or a window to what is painted in it."""
LEAST_ALPHA = 13
"""Of 255; fainter text is not seen."""
LEAST_SIZE = 1.0
"""Points; smaller text is not read."""
WHITE = 250
"""Red, green and blue of at least this, of 255, are white."""
LEAST_WHITE = WHITE << 16 | WHITE << 8 | WHITE
"""No smaller number is a white."""
SCAN_SHARE = 0.5
"""An image that fills more of the page than this may be a scan."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The spans of a page, in drawing order."""

    spans: list[Span]
    """What is to be read."""
    hidden_characters: int
    """Characters besides white space that nobody sees, whether they are to be read or not."""


def sift(page: pymupdf.Page, spans: list[Span]) -> PageText:
    """Take out of the spans of a page what nobody sees, unless it is the text of a scan."""
    # Nearly all spans are dark and plainly painted: they are passed over in one comparison each.
    suspects = [span for span in spans if span["color"] & 0xFFFFFF >= LEAST_WHITE or _is_clear(span)]
    hidden = {id(span) for span in suspects if _is_clear(span)}
    white = [span for span in suspects if _is_white(span) and id(span) not in hidden]
    if white:
        coloured = _coloured_boxes(page)
        hidden |= {id(span) for span in white if not any(_lies_on(span["bbox"], box) for box in coloured)}
    if not hidden:
        return PageText(spans, 0)
    shown = [span for span in spans if id(span) not in hidden]
    unseen = [span for span in spans if id(span) in hidden]
    count = _characters(unseen)
    is_scan = count > _characters(shown) and _is_scan(page, unseen)
    return PageText(spans if is_scan else shown, count)


def _is_clear(span: Span) -> bool:
    """Whether a span is painted so that it cannot be seen, whatever lies below it."""
    return not span["char_flags"] & _PAINTED or span["alpha"] < LEAST_ALPHA or span["size"] < LEAST_SIZE


def _is_white(span: Span) -> bool:
    colour: int = span["color"]
    return min(colour.to_bytes(4, "big")[1:]) >= WHITE


def _coloured_boxes(page: pymupdf.Page) -> list[Box]:
    """What white text can be read on: filled shapes that are not white, and images."""
    shapes = [one["rect"] for one in page.get_cdrawings() if set(one.get("fill") or (1.0,)) != {1.0}]
    return [*shapes, *(image["bbox"] for image in page.get_image_info())]


def _lies_on(text: Box, box: Box) -> bool:
    across, down = (text[0] + text[2]) / 2, (text[1] + text[3]) / 2
    return box[0] <= across <= box[2] and box[1] <= down <= box[3]


def _is_scan(page: pymupdf.Page, unseen: list[Span]) -> bool:
    """Whether all hidden words are drawn invisibly, in readable size, on images that fill the page."""
    width, height = page.mediabox.width, page.mediabox.height
    images = [
        box
        for image in page.get_image_info()
        for box in [image["bbox"]]
        if (box[2] - box[0]) * (box[3] - box[1]) > SCAN_SHARE * width * height
    ]
    return all(
        not span["char_flags"] & _PAINTED
        and span["size"] >= LEAST_SIZE
        and any(_lies_on(span["bbox"], box) for box in images)
        for span in unseen
    )


def _characters(spans: Iterable[Span]) -> int:
    return sum(len("".join(span["text"].split())) for span in spans)
