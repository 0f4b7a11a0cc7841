"""Makes PDF pages and text files of known sentences, in as many layouts as a seed draws.

Every sentence has words of its own, so that it is found in what was read of the file in one place or nowhere.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count, pairwise

import pymupdf

PAPER = (595.0, 842.0)
TOP, BOTTOM, LEFT, RIGHT = 84.0, 752.0, 60.0, 535.0
MARGINS = (
    (),
    ("Market Data Agreement",),
    ("Confidential Page {page} of {pages}",),
    ("- {page} -",),
    ("Page {page}",),
    ("{page}",),
    ("Tarnholm Exchange", "Document TX-4711 v3"),
    ("Draft of 1 March 2026",),
    ("{odd}",),
)
"""What stands above or below the text, line by line."""

_PARTIES = (
    "The Licensee",
    "The Vendor",
    "Each Subscriber",
    "Acme Limited",
    "Any Distributor",
    "The Exchange",
)
_DUTIES = ("shall not", "must", "may", "shall", "is entitled to", "may not", "undertakes to")
_DEEDS = ("redistribute", "store", "display", "audit", "copy", "delete", "report", "license", "transfer")
_TAILS = (
    "to any third party before 1 March 2026 only if the Fees are paid",
    "within 5 Business Days of the notice",
    "under Section 4.2 of the Policy for a sum of 10 EUR",
    "as set out in Schedule 1 Part A of the Agreement",
    'unless Acme Inc. consents in writing, or "Fees" are waived by the Exchange',
    "and all copies of it, in each case at its own cost",
    "without the prior written consent of Tarnholm Exchange Holding and its Affiliates",
    "",
)
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the pages of a document look."""

    seed: int
    columns: int
    lines: int
    """Of a column, about as many."""
    pages: int
    gutter: float
    size: float
    leading: float
    """Font sizes between baselines."""
    header: tuple[str, ...]
    footer: tuple[str, ...]
    footnotes: bool
    justified: bool
    """Never in three columns: words of such narrow lines stand as far apart as columns do."""
    flows: bool
    """Whether the text goes on from column to column and page to page; otherwise each column has its own."""
    framed: bool
    """Whether a heading and a paragraph stand above the columns, and a paragraph below them."""
    by_line: bool
    """Whether lines beside each other are drawn together, or column after column."""
    turned: int
    """Degrees by which the page is turned to be looked at."""
    written: int
    """Degrees by which the words are written turned."""


def drawn(seed: int) -> Layout:
    """The layout of a seed."""
    rng = random.Random(seed)
    columns = rng.choice((1, 1, 2, 2, 3))
    written = rng.choice((0, 0, 0, 0, 90, 180, 270))
    return Layout(
        seed=seed,
        columns=columns,
        lines=rng.randint(2, 12) if columns > 1 else rng.randint(6, 30),
        pages=rng.randint(1, 4) if columns == 1 else rng.randint(1, 3),
        gutter=rng.choice((12.0, 18.0, 24.0, 36.0)),
        size=rng.choice((9.0, 10.0, 11.0)) if columns > 1 else rng.choice((9.0, 11.0, 12.0)),
        leading=rng.choice((1.15, 1.3, 1.5)) if columns > 1 else rng.choice((1.2, 1.5, 2.0)),
        header=rng.choice(MARGINS),
        footer=rng.choice(MARGINS),
        footnotes=rng.random() < 0.25 and columns == 1,
        justified=rng.random() < 0.4 and columns < 3,
        flows=columns == 1 or rng.random() < 0.4,
        framed=columns > 1 and rng.random() < 0.5,
        by_line=rng.random() < 0.5,
        turned=rng.choice((0, 0, 90, 180, 270)),
        written=written,
    )


@dataclass(slots=True)
class Source:
    """Draws sentences, and keeps them."""

    rng: random.Random
    sentences: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def sentence(self, most_words: int = 60) -> str:
        """A further sentence."""
        name = self._name(next(self._numbers))
        words = [self.rng.choice(choices) for choices in (_PARTIES, _DUTIES, _DEEDS)]
        sentence = " ".join([*words, "the", name, "data", self.rng.choice(_TAILS)]).strip()
        if self.rng.random() < 0.3:
            sentence += f", save that {name} {self.rng.choice(_TAILS) or 'is free'}".rstrip()
        sentence = " ".join(sentence.split()[:most_words]) + "."
        self.sentences.append(sentence)
        return sentence

    def _name(self, number: int) -> str:
        digits = []
        while number or len(digits) < 3:
            number, digit = divmod(number, len(_SYLLABLES))
            digits.append(_SYLLABLES[digit])
        return "".join(digits)


@cache
def _length(word: str) -> float:
    """Of a word in type of one point."""
    return pymupdf.get_text_length(word, fontsize=1)


def wrapped(words: Sequence[str], width: float, size: float) -> list[str]:
    """The words as lines of at most `width` points."""
    lines: list[list[str]] = []
    room = 0.0
    for word in words:
        length = _length(word) * size
        if lines and length + _length(" ") * size <= room:
            lines[-1].append(word)
            room -= length + _length(" ") * size
        else:
            lines.append([word])
            room = width - length
    return [" ".join(line) for line in lines]


@dataclass(frozen=True, slots=True)
class _Line:
    page: int
    left: float
    top: float
    text: str
    size: float
    width: float | None = None
    """What a justified line fills."""


def pdf_of(layout: Layout) -> tuple[pymupdf.Document, list[str]]:
    """A document, and the sentences of its text."""
    source = Source(random.Random(layout.seed))
    lines = [*_body(layout, source), *_margins(layout)]
    document = pymupdf.open()
    sheet = PAPER if layout.written in {0, 180} else PAPER[::-1]
    if layout.by_line:
        lines.sort(key=lambda line: (line.page, line.top, line.left))
    for number in range(layout.pages):
        page = document.new_page(width=sheet[0], height=sheet[1])
        page.insert_text((0, 0), "x", fontname="helv")  # gives the page its font and contents
        drawing = "\n".join(_drawing(line, layout.written, sheet[1]) for line in lines if line.page == number)
        document.update_stream(page.get_contents()[0], drawing.encode("ascii"))
        page.set_rotation(layout.turned)
    return document, source.sentences


def _drawing(line: _Line, written: int, height: float) -> str:
    """The operators of a page's contents that show a line."""
    across, down = PAPER
    matrix, left, top = {
        0: ("1 0 0 1", line.left, line.top),
        90: ("0 1 -1 0", line.top, across - line.left),
        180: ("-1 0 0 -1", across - line.left, down - line.top),
        270: ("0 -1 1 0", down - line.top, line.left),
    }[written]
    spaces = line.text.count(" ")
    wider = (line.width - _length(line.text) * line.size) / spaces if line.width and spaces else 0.0
    text = re.sub(r"([()\\\\])", r"\\\1", line.text)
    place = f"{left:.2f} {height - top:.2f}"
    return f"BT /helv {line.size} Tf {wider:.3f} Tw {matrix} {place} Tm ({text}) Tj ET"


def _body(layout: Layout, source: Source) -> Iterator[_Line]:
    step = layout.size * layout.leading
    width = (RIGHT - LEFT - layout.gutter * (layout.columns - 1)) / layout.columns
    columns = _columns(layout, source, width, step)
    for page in range(layout.pages):
        top = TOP
        if layout.framed:
            top = yield from _above(layout, source, page, step)
        beside = columns[page * layout.columns : (page + 1) * layout.columns]
        for index, lines in enumerate(beside):
            left = LEFT + index * (width + layout.gutter)
            for row, text in enumerate(lines):
                full = layout.justified and not text.endswith(".")
                yield _Line(page, left, top + row * step, text, layout.size, width if full else None)
        yield from _below(layout, source, page, top + max(map(len, beside)) * step)


def _columns(layout: Layout, source: Source, width: float, step: float) -> list[list[str]]:
    """The lines of every column of every page."""
    most = int((BOTTOM - TOP) / step) - (8 if layout.framed else 0) - (4 if layout.footnotes else 0)
    capacity = max(2, min(layout.lines, most))
    if not layout.flows:
        sizes = [capacity + source.rng.randint(-1, 1) for _ in range(layout.columns * layout.pages)]
        return [wrapped(_words(source, width, layout.size, lines), width, layout.size) for lines in sizes]
    texts = layout.pages if layout.framed else 1
    boxes = layout.columns * layout.pages // texts
    return [lines for _ in range(texts) for lines in _flowing(source, width, layout.size, capacity, boxes)]


def _below(layout: Layout, source: Source, page: int, end: float) -> Iterator[_Line]:
    """A paragraph below the columns, or the footnotes of a page."""
    step = layout.size * layout.leading
    if layout.framed:
        words = f"{source.sentence()} {source.sentence()}".split()
        for row, text in enumerate(wrapped(words, RIGHT - LEFT, layout.size)):
            yield _Line(page, LEFT, end + step + row * step, text, layout.size)
    if layout.footnotes:
        for row, text in enumerate(("1 See the list of the Exchange.", "2 As amended by the parties.")):
            yield _Line(page, LEFT, max(end + 24, 700.0) + row * 9, text, layout.size - 2)


def _above(layout: Layout, source: Source, page: int, step: float) -> Iterator[_Line]:
    yield _Line(page, LEFT, TOP, "GENERAL TERMS OF THE LICENCE", layout.size + 3)
    words = f"{source.sentence()} {source.sentence()}".split()
    lines = wrapped(words, RIGHT - LEFT, layout.size)
    for row, text in enumerate(lines):
        yield _Line(page, LEFT, TOP + 2 * step + row * step, text, layout.size)
    return TOP + (len(lines) + 3) * step


def _words(source: Source, width: float, size: float, lines: int) -> list[str]:
    """Whole sentences that fill about so many lines, two at least."""
    words: list[str] = []
    while len(wrapped(words, width, size)) < max(2, lines):
        words += source.sentence(12 * max(2, lines)).split()
    return words


def _flowing(source: Source, width: float, size: float, capacity: int, boxes: int) -> list[list[str]]:
    """Lines of one text in boxes of the same capacity; the last takes what is left of it."""
    lines = wrapped(_words(source, width, size, capacity * boxes), width, size)
    starts = [index * capacity for index in range(boxes)]
    return [lines[start:end] for start, end in pairwise([*starts, len(lines)])]


def _margins(layout: Layout) -> Iterator[_Line]:
    for page in range(layout.pages):
        names = {"page": page + 1, "pages": layout.pages, "odd": ("Terms", "Licence of Data")[page % 2]}
        for row, text in enumerate(layout.header):
            yield _Line(page, LEFT, 40 + 11 * row, text.format(**names), 9.0)
        for row, text in enumerate(layout.footer):
            yield _Line(page, 250.0, 795 + 11 * row, text.format(**names), 9.0)
