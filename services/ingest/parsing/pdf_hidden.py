"""Counts text of a PDF page that nobody who looks at the page sees.

That is text drawn invisibly or fully transparent, and white text with nothing coloured below it. It stays in
the extracted text, since scanned pages carry their words so; but it is told, because instructions to a model
are slipped into documents the same way. What a page draws through form objects is not looked into.
"""

from __future__ import annotations

import re
from typing import Any

import pymupdf

INVISIBLE = 3
"""Text rendering mode (ISO 32000-1, 9.3.6): neither filled nor stroked."""
_NEARBY = 400
"""Bytes within which text follows the colour that is chosen for it."""
_SUSPECT = re.compile(
    rb"(?<![\d.])(?:(?P<invisible>3\s+Tr)|1\s+1\s+1\s+(?:rg|scn?)|1\s+(?:g|scn?)|0\s+0\s+0\s+0\s+k)(?![\w.])"
)
_NEXT = re.compile(rb"(?<![\w.])(?:(?P<shows>T[jJ])|rg|g|k|scn?|Q|[fBb]\*?)(?![\w.])")
"""What comes after white was chosen: text, or another colour, the end of white, or a painted shape."""

Box = tuple[float, float, float, float]


def hidden_characters(page: pymupdf.Page) -> int:
    """Characters besides white space that are hidden on a page."""
    # Tracing text takes several times as long as reading it, so only pages that may hide some are traced.
    if not _is_suspect(page.read_contents()):
        return 0
    spans = page.get_texttrace()
    clear = [span for span in spans if span["type"] == INVISIBLE or span["opacity"] == 0]
    white = [span for span in spans if span not in clear and set(span["color"]) == {1.0}]
    coloured = _coloured_boxes(page) if white else []
    hidden = clear + [span for span in white if not any(_lies_on(span["bbox"], box) for box in coloured)]
    return sum(map(_characters, hidden))


def _is_suspect(content: bytes) -> bool:
    for suspect in _SUSPECT.finditer(content):
        if suspect["invisible"]:
            return True
        following = _NEXT.search(content, suspect.end(), suspect.end() + _NEARBY)
        if following and following["shows"]:
            return True
    return False


def _coloured_boxes(page: pymupdf.Page) -> list[Box]:
    """What white text can be read on: filled shapes that are not white, and images."""
    shapes = [one["rect"] for one in page.get_cdrawings() if set(one.get("fill") or (1.0,)) != {1.0}]
    return [*shapes, *(image["bbox"] for image in page.get_image_info())]


def _lies_on(text: Box, box: Box) -> bool:
    across, down = (text[0] + text[2]) / 2, (text[1] + text[3]) / 2
    return box[0] <= across <= box[2] and box[1] <= down <= box[3]


def _characters(span: dict[str, Any]) -> int:
    return sum(not chr(character[0]).isspace() for character in span["chars"])
