"""The words of a text are found where they are drawn, however pages are laid out, turned and cut."""

from __future__ import annotations

import re
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.layout import SCALE, PlacedLine, PlacedWord, Rectangle, decode, encode, rectangles
from corpus.spans import Span
from services.ingest import chunking
from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.documents import ExtractedDocument
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.pdf import parse_pdf
from tests.unit.ingest.page_layouts import drawn, pdf_of

ORIGIN = Origin("cme/a.pdf", "cme", "a.pdf", "g", "a.pdf")
LAYOUTS = 160
BATCH = 20
SOAKED = 160
CROP = (20.0, 12.0, 30.0, 25.0)
"""What is cut off the edges of some pages; nothing is drawn there."""


def letters(text: str) -> str:
    return "".join(re.findall(r"\w", text))


def parsed(document: pymupdf.Document, folder: Path) -> tuple[ExtractedDocument, pymupdf.Document]:
    """The document as ingest reads it, and as it is opened to look at it."""
    path = folder / "drawn.pdf"
    document.save(path)
    return parse_pdf(path, ParsingLimits(), lambda done, total: None), pymupdf.open(path)


def words_of(document: pymupdf.Document) -> list[list[tuple[float, float, str]]]:
    """The words of every page as a reader of the file sees them: their middle, and their letters."""
    return [
        [
            ((word.x0 + word.x1) / 2 * SCALE, (word.y0 + word.y1) / 2 * SCALE, letters(text))
            for *corners, text, _, _, _ in page.get_text("words")
            for word in [pymupdf.Rect(corners) * page.rotation_matrix]
        ]
        for page in document
    ]


def under(pages: list[list[tuple[float, float, str]]], places: tuple[Rectangle, ...]) -> str:
    """The letters that a reader of the file sees within the rectangles."""
    return "".join(
        text
        for place in places
        for across, down, text in pages[place.page - 1]
        if place.left <= across <= place.right and place.top <= down <= place.bottom
    )


def misplaced(read: ExtractedDocument, document: pymupdf.Document) -> list[str]:
    """The sentences of chunks under whose rectangles other letters stand than theirs."""
    found, pages = [], words_of(document)
    for chunk in chunking.cut(read, ORIGIN, ChunkLimits()):
        for sentence in chunk.sentences:
            text = read.text[sentence.start : sentence.end]
            seen = under(pages, rectangles([chunk.layout], [sentence]))
            if sorted(seen) != sorted(letters(text)):
                found.append(f"{text!r} over {seen!r}")
    return found


def misplaced_of(seeds: range, folder: Path) -> dict[int, list[str]]:
    found = {}
    for seed in seeds:
        document, _ = pdf_of(drawn(seed))
        if seed % 3 == 0:
            for page in document:
                left, top, right, bottom = CROP
                box = page.mediabox
                page.set_cropbox(pymupdf.Rect(left, top, box.x1 - right, box.y1 - bottom))
        if wrong := misplaced(*parsed(document, folder)):
            found[seed] = wrong
    return found


@pytest.mark.parametrize("start", range(0, LAYOUTS, BATCH))
def test_the_words_under_the_rectangles_of_a_sentence_are_its_own(start, tmp_path):
    assert misplaced_of(range(start, start + BATCH), tmp_path) == {}


@pytest.mark.soak
@pytest.mark.parametrize("start", range(LAYOUTS, 20 * LAYOUTS, SOAKED))
def test_so_they_are_in_further_layouts(start, tmp_path):
    assert misplaced_of(range(start, start + SOAKED), tmp_path) == {}


def read_page(draw, folder: Path) -> tuple[ExtractedDocument, pymupdf.Document]:
    """A document whose first page `draw` draws."""
    document = pymupdf.open()
    draw(document.new_page())
    return parsed(document, folder)


def places_of(read: ExtractedDocument, words: str) -> tuple[Rectangle, ...]:
    start = read.text.index(words)
    return rectangles([encode(read.lines)], [Span(start, start + len(words))])


def test_a_quote_has_a_rectangle_for_each_line(tmp_path):
    read, document = read_page(
        lambda page: page.insert_text((72, 72), ["The Licensee shall pay the", "fees of the Exchange."]),
        tmp_path,
    )
    first, second = places_of(read, "pay the\nfees")

    assert under(words_of(document), (first,)) == "paythe"
    assert under(words_of(document), (second,)) == "fees"
    assert first.bottom <= second.top + SCALE
    assert first.left > second.left


def test_a_quote_over_two_pages_has_rectangles_on_both(tmp_path):
    document = pymupdf.open()
    document.new_page().insert_text(
        (72, 760), "The Licensee shall pay the fees that the Exchange sets for the"
    )
    document.new_page().insert_text((72, 72), "use of its data in each month.")
    read, document = parsed(document, tmp_path)
    places = places_of(read, "for the\nuse of its data")

    assert [place.page for place in places] == [1, 2]
    assert under(words_of(document), places) == "fortheuseofitsdata"


def test_a_mark_that_is_left_out_moves_no_word(tmp_path):
    def draw(page):
        page.insert_text((72, 72), "A fee of USD 50", fontsize=12)
        page.insert_text((160, 67), "1", fontsize=7)
        page.insert_text((168, 72), "is due for each device.", fontsize=12)
        page.insert_text((72, 700), "1", fontsize=6)
        page.insert_text((78, 703), "Net of VAT.", fontsize=9)

    read, document = read_page(draw, tmp_path)

    assert under(words_of(document), places_of(read, "is due for each device.")) == "isdueforeachdevice"


def test_the_cells_of_a_ruled_table_have_rectangles_of_their_own(tmp_path):
    def draw(page):
        for row, cells in enumerate([("Device", "Fee"), ("Display", "USD 120.50"), ("Other", "USD 5.00")]):
            for column, text in enumerate(cells):
                left, top = 72 + 200 * column, 72 + 24 * row
                page.draw_rect((left, top, left + 200, top + 24))
                page.insert_text((left + 6, top + 16), text)

    read, document = read_page(draw, tmp_path)
    places = places_of(read, "Display | USD 120.50")

    assert [under(words_of(document), (place,)) for place in places] == ["Display", "USD12050"]


def test_a_part_of_a_word_takes_the_word(tmp_path):
    read, document = read_page(lambda page: page.insert_text((72, 72), "The “Licensee” pays."), tmp_path)

    assert under(words_of(document), places_of(read, "Licensee")) == "Licensee"
    assert places_of(read, "Licensee") == places_of(read, "icense")


def test_a_text_without_pages_has_no_places():
    assert rectangles([b"", b""], [Span(0, 100)]) == ()


def test_a_line_that_two_chunks_share_is_one_rectangle():
    words = tuple(PlacedWord(start, start + 4, 100 * start, 100 * start + 300) for start in (0, 5, 10, 15))
    before, after = (encode([PlacedLine(1, 700, 800, part)]) for part in (words[:2], words[2:]))

    assert rectangles([before, after], [Span(0, 20)]) == (Rectangle(1, 0, 700, 1800, 800),)


NUMBERS = st.integers(0, 20_000)
WORD = st.tuples(st.integers(0, 300), st.integers(1, 300), NUMBERS, NUMBERS)
LINE = st.tuples(
    st.integers(1, 5_000), st.integers(-500, 20_000), NUMBERS, st.lists(WORD, min_size=1), st.booleans()
)


@given(st.lists(LINE, max_size=8))
def test_what_is_stored_is_read_as_it_was(drawn_lines):
    lines, start = [], 0
    for page, top, height, words, runs_down in drawn_lines:
        placed = []
        for gap, length, near, width in words:
            placed.append(PlacedWord(start + gap, start + gap + length, near - 500, near - 500 + width))
            start += gap + length
        lines.append(PlacedLine(page, top, top + height, tuple(placed), runs_down))

    assert list(decode(encode(lines))) == lines
