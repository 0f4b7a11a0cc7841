"""Sentences stay whole however pages are laid out: over lines, columns, pages, headers and footers."""

from __future__ import annotations

import pymupdf
import pytest

from services.ingest import headings
from services.ingest.chunking.units import dissect
from services.ingest.documents import ExtractedDocument
from services.ingest.parsing.columns import read_page
from services.ingest.parsing.layout import Fragment
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.pdf import parse_pdf
from tests.unit.ingest.page_layouts import drawn, pdf_of

LAYOUTS = 320
BATCH = 20
SOAKED = 400
MOST_CUT = 0.01
"""Share of a batch of further layouts in which a sentence may be cut; measured were 4 of 2,000 (0.2 %), all
of them where the same line stands at the same height of three pages and is taken for a running head."""
LONGEST = 400


def collapsed(text: str) -> str:
    return " ".join(text.split())


def cut_sentences(document: ExtractedDocument, sentences: list[str]) -> list[str]:
    """The sentences that are no unit of the document, and are not told to be doubtful."""
    units = {
        collapsed(document.text[unit.span.start : unit.span.end])
        for unit in dissect(document, headings.find(document), LONGEST)
    }
    doubtful = collapsed(
        " ".join(document.text[doubt.span.start : doubt.span.end] for doubt in document.doubts)
    )
    return [
        sentence
        for sentence in sentences
        if sentence not in units and not set(sentence.split()[3:]) <= set(doubtful.split())
    ]


def broken(seeds: range, folder) -> dict[int, list[str]]:
    """The sentences that are lost or cut, by seed."""
    found = {}
    for seed in seeds:
        document, sentences = pdf_of(drawn(seed))
        path = folder / f"{seed}.pdf"
        document.save(path)
        parsed = parse_pdf(path, ParsingLimits(), lambda done, total: None)
        if cut := cut_sentences(parsed, sentences):
            found[seed] = cut
        path.unlink()
    return found


@pytest.mark.parametrize("start", range(0, LAYOUTS, BATCH))
def test_no_layout_cuts_a_sentence(start, tmp_path):
    assert broken(range(start, start + BATCH), tmp_path) == {}


@pytest.mark.soak
@pytest.mark.parametrize("start", range(LAYOUTS, 50 * LAYOUTS, SOAKED))
def test_hardly_any_further_layout_cuts_a_sentence(start, tmp_path):
    assert len(broken(range(start, start + SOAKED), tmp_path)) <= MOST_CUT * SOAKED


def test_a_printed_page_that_ends_within_a_page_keeps_its_sentence(tmp_path):
    """A footnote and a number stand above the last line, which looks like a footer by its place."""
    path = tmp_path / "a.pdf"
    with pymupdf.open() as document:
        page = document.new_page()
        lines = [
            (56, "The Licensee pays the sums of this Schedule for each of its Customers within the Term, in"),
            (
                68,
                "the currency of the Exchange, and keeps a list of all of them at the place of its business.",
            ),
            (80, "The Vendor shall hand the list of all Customers over to the Licensee without delay, and"),
            (92, "shall at the cost of the Licensee send any Customer that asks for another licence on to"),
            (130, "*** The amounts are filed with the Exchange."),
            (160, "4"),
            (200, "Acme. The Vendor shall not be entitled to a share in the sums paid for the Application"),
        ]
        for top, text in lines:
            page.insert_text((60, top), text, fontsize=10)
        page = document.new_page()
        page.insert_text(
            (60, 80), "Management Revenue of the Licensee that arises from hosting.", fontsize=10
        )
        for row in range(1, 5):
            page.insert_text((60, 80 + 12 * row), f"Nothing else is owed for part {row}.", fontsize=10)
        document.save(path)
    text = collapsed(parse_pdf(path, ParsingLimits(), lambda done, total: None).text)
    assert "another licence on to Acme. The Vendor shall not be entitled" in text
    assert "paid for the Application Management Revenue of the Licensee" in text


@pytest.mark.parametrize("font", ["helv", "hebo"])
@pytest.mark.parametrize("size", [10, 12])
def test_a_heading_does_not_run_on_past_the_sentence_below_it(tmp_path, font, size):
    """One row of a sentence stands between the heading and the end of the page, like a footer."""
    path = tmp_path / "a.pdf"
    with pymupdf.open() as document:
        page = document.new_page()
        for row in range(6):
            page.insert_text(
                (72, 80 + 15 * row), f"The Vendor answers calls of kind {row} at once.", fontsize=10
            )
        page.insert_text((72, 170), "2. Fees", fontsize=size, fontname=font)
        page.insert_text(
            (72, 190), "The Customer shall pay EUR 400 for each month, and this amount is due", fontsize=10
        )
        page.insert_text((290, 800), "Page 1 of 2", fontsize=8)
        page = document.new_page()
        page.insert_text((72, 80), "on the first business day of the month in advance.", fontsize=10)
        page.insert_text((72, 95), "Either party may terminate on 60 days' written notice.", fontsize=10)
        document.save(path)
    text = collapsed(parse_pdf(path, ParsingLimits(), lambda done, total: None).text)
    assert "this amount is due on the first business day of the month in advance." in text
    assert "Fees on the first" not in text


def test_a_column_without_a_line_of_its_own_is_passed_over():
    """The middle of three columns stands in one row, which is too far below to belong to them."""
    places = [
        (900, 1800, 1000),
        (3600, 4800, 1000),
        (600, 1800, 1120),
        (3600, 4800, 1120),
        (2100, 2500, 1480),
    ]
    rows = read_page([Fragment(left, right, top, 100, "some words go", 0) for left, right, top in places])
    assert [row.text for row in rows] == ["some words go"] * len(places)
