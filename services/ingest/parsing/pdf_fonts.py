"""Finds figures and letters of a PDF's fonts that are drawn as others: a table of characters that lies.

A page draws glyphs by number; which character each stands for, the file says in a table of its own
(`ToUnicode`), and nothing keeps it from saying 9 of a glyph that shows 5. For embedded fonts whose glyphs are
numbered as in the page (Type0 with Identity), each glyph that claims to be a figure or a letter is drawn once
and compared with what fonts of the library draw. It lies where it looks much more like another one. Fonts
that are numbered otherwise, drawn by procedures (Type 3) or too fanciful to look like any are not judged.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from operator import itemgetter, mul

import pymupdf
from pymupdf import mupdf

from services.ingest.parsing.pdf_covered import Span
from services.ingest.parsing.raised import GAP

WIDTH, HEIGHT = 12, 16
"""Squares into which a glyph is cut."""
DRAWN_SIZE = 48
"""Pixels of the em."""
LIKE = 0.72
"""From 0 to 1: how much a glyph must look like another character to be taken for it."""
UNLIKE = 0.2
"""By how much less it must look like the one that it claims to be."""
MOST_GLYPHS = 200
"""Glyphs of a font that are looked at."""
_FONTS = ("tiro", "tibo", "cour", "helv", "hebo", "tiit", "tibi", "heit", "cobo")
_JUDGED = string.digits + string.ascii_lowercase
_KNOWN = string.digits + string.ascii_letters
_BLOCK = re.compile(rb"begin(bfchar|bfrange)(.*?)end\1", re.DOTALL)
_CHAR = re.compile(rb"<([0-9A-Fa-f]{2,4})>\s*<([0-9A-Fa-f]{4})>")
_RANGE = re.compile(rb"<([0-9A-Fa-f]{2,4})>\s*<([0-9A-Fa-f]{2,4})>\s*(?:<([0-9A-Fa-f]{4})>|\[([^\]]*)\])")
_WORD = re.compile(r"\S+")

Picture = tuple[float, ...]
"""A glyph in squares: its ink in each less the mean, scaled to length 1."""


class Fonts:
    """The fonts of a document, each judged once."""

    def __init__(self, document: pymupdf.Document) -> None:
        self._document = document
        self._lies: dict[int, frozenset[str]] = {}

    def lies(self, page: int) -> Mapping[str, frozenset[str]]:
        """The characters that fonts of a page (from 0) show as others, by the name of the font.

        A span may know its font by another name, the one that the font gives itself.
        """
        found: dict[str, frozenset[str]] = {}
        for xref, kind, font_type, name, *_ in self._document.get_page_fonts(page):
            if font_type != "Type0" or kind == "n/a":
                continue
            if xref not in self._lies:
                self._lies[xref] = frozenset(_lies(self._document, xref))
            if self._lies[xref]:
                base = name.rpartition("+")[2]
                found[base] = found.get(base, frozenset()) | self._lies[xref]
        return found


def doubt_spans(spans: Iterable[Span], lies: Mapping[str, frozenset[str]]) -> None:
    """Put the sign of a gap before each word of a page that holds a character of which its font lies."""
    spans = list(spans)
    names = {span["font"] for span in spans}
    nameless = frozenset[str]().union(*(found for name, found in lies.items() if name not in names))
    for span in spans:
        span["text"] = _doubted(span["text"], nameless | lies.get(span["font"], frozenset()))


def _doubted(text: str, lies: frozenset[str]) -> str:
    return _WORD.sub(lambda word: f"{GAP}{word[0]}" if lies & set(word[0]) else word[0], text)


def _lies(document: pymupdf.Document, xref: int) -> Iterator[str]:
    descendants = document.xref_get_key(xref, "DescendantFonts")[1]
    below = re.search(r"(\d+) 0 R", descendants)
    kind, said = document.xref_get_key(xref, "ToUnicode")
    if (
        below is None
        or kind != "xref"
        or not document.xref_get_key(xref, "Encoding")[1].startswith("/Identity")
    ):
        return
    mapped = document.xref_get_key(int(below[1]), "CIDToGIDMap")
    buffer = document.extract_font(xref)[3]
    if mapped[1] not in ("/Identity", "null") or not buffer:
        return
    font = pymupdf.Font(fontbuffer=buffer)
    claims = _claims(document.xref_stream(int(said.split()[0])) or b"")
    for glyph, character in list(claims)[:MOST_GLYPHS]:
        picture = _picture(font, glyph)
        if picture is not None and _is_another(picture, character):
            yield character


def _claims(table: bytes) -> Iterator[tuple[int, str]]:
    """Glyphs and the figures and letters that a table says they are."""
    for block in _BLOCK.finditer(table):
        pairs = _pairs(block[2]) if block[1] == b"bfchar" else _ranges(block[2])
        yield from ((glyph, chr(code)) for glyph, code in pairs if code < 128 and chr(code) in _JUDGED)


def _pairs(block: bytes) -> Iterator[tuple[int, int]]:
    return ((int(pair[1], 16), int(pair[2], 16)) for pair in _CHAR.finditer(block))


def _ranges(block: bytes) -> Iterator[tuple[int, int]]:
    for line in _RANGE.finditer(block):
        first, last = int(line[1], 16), min(int(line[2], 16), int(line[1], 16) + 255)
        if line[3] is not None:
            yield from ((glyph, int(line[3], 16) + glyph - first) for glyph in range(first, last + 1))
        else:
            codes = re.findall(rb"<([0-9A-Fa-f]{4})>", line[4])
            yield from ((first + index, int(code, 16)) for index, code in enumerate(codes))


def _is_another(picture: Picture, character: str) -> bool:
    if any(_likeness(picture, known) >= LIKE for known in _references()[character]):
        return False
    own = max(_likeness(picture, known) for known in _references()[character])
    others = (
        (_likeness(picture, known), other)
        for other, pictures in _references().items()
        if _SAME.get(other, other) != _SAME.get(character, character)
        for known in pictures
    )
    best, _ = max(others)
    return best >= LIKE and best - own >= UNLIKE


_SAME = {
    **{letter: letter.lower() for letter in "CKOPSUVWXZ"},
    **dict.fromkeys("0O", "o"),
    **dict.fromkeys("1lI|", "l"),
}
"""Characters that many fonts draw alike."""


def _likeness(picture: Picture, other: Picture) -> float:
    return float(sum(map(mul, picture, other)))


@cache
def _references() -> dict[str, tuple[Picture, ...]]:
    """What the library's own fonts draw."""
    fonts = [pymupdf.Font(name) for name in _FONTS]
    return {
        character: tuple(
            picture
            for font in fonts
            if (picture := _picture(font, font.has_glyph(ord(character)))) is not None
        )
        for character in _KNOWN
    }


def _picture(font: pymupdf.Font, glyph: int) -> Picture | None:
    """A glyph in squares; None where it draws nothing."""
    try:
        pixels = mupdf.fz_render_glyph_pixmap(font.this, glyph, *_drawing(), 8)
    except (mupdf.FzErrorBase, RuntimeError):
        return None
    if not pixels.m_internal:
        return None
    wide, high = mupdf.fz_pixmap_width(pixels), mupdf.fz_pixmap_height(pixels)
    if wide < 1 or high < 1:
        return None
    ink, stride = bytes(mupdf.fz_pixmap_samples_memoryview(pixels)), mupdf.fz_pixmap_stride(pixels)
    middles = _middles(wide)
    squares: list[float] = []
    for y in range(HEIGHT):
        row = (2 * y + 1) * high // (2 * HEIGHT) * stride
        squares += middles(ink[row : row + wide])
    # A narrow glyph (1, l, i) fills its box as a wide one does: its form tells them apart.
    squares += [255.0 * min(1.0, wide / high) * weight for weight in (2.0, -2.0)]
    mean = sum(squares) / len(squares)
    length = max(0.0, sum(map(mul, squares, squares)) - mean * sum(squares)) ** 0.5
    return tuple([(square - mean) / length for square in squares]) if length else None


@cache
def _drawing() -> tuple[mupdf.FzMatrix, mupdf.FzIrect]:
    """How large a glyph is drawn, and on what paper."""
    edge = 4 * DRAWN_SIZE
    return mupdf.FzMatrix(DRAWN_SIZE, 0, 0, -DRAWN_SIZE, 0, 0), mupdf.FzIrect(-edge, -edge, edge, edge)


@cache
def _middles(wide: int) -> itemgetter[tuple[int, ...]]:
    """Takes the pixels in the middle of each square from a row of so many."""
    return itemgetter(*((2 * x + 1) * wide // (2 * WIDTH) for x in range(WIDTH)))
