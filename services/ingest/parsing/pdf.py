"""PDF to text: page by page, in reading order, with tables as rows and pages as spans.

Paragraphs are separated by a blank line, rows of a paragraph by a line break; a paragraph that runs over a
page break stays one block, its rows still a line break apart. Hyphens at the end of a row stay. Ligatures
are spelt out, and white space is one space, as a viewer copies it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pymupdf
from pymupdf import mupdf

from corpus.documents import DocumentFormat
from services.ingest.documents import ExtractedDocument
from services.ingest.errors import (
    DocumentCorrupt,
    DocumentEmpty,
    DocumentEncrypted,
    DocumentTooLarge,
    DocumentUnreadable,
)
from services.ingest.parsing.building import TextBuilder
from services.ingest.parsing.columns import read_page
from services.ingest.parsing.joining import Piece, joined, write
from services.ingest.parsing.layout import MARGIN, Fragment, Paragraph, Row, make_paragraphs, merge_spans
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.pdf_covered import Block, read_spans, uncovered
from services.ingest.parsing.pdf_covered import Span as PdfSpan
from services.ingest.parsing.pdf_fonts import Fonts, doubt_spans
from services.ingest.parsing.pdf_hidden import PageText, sift
from services.ingest.parsing.pdf_raised import set_apart
from services.ingest.parsing.placing import PageWords
from services.ingest.parsing.raised import label
from services.ingest.parsing.running import body_size, drop_running_rows
from services.ingest.parsing.tables import Table, find_tables, may_hold_table

SCALE = 10
"""Lengths are whole numbers: tenths of a point."""
FLAGS = mupdf.FZ_STEXT_MEDIABOX_CLIP | mupdf.FZ_STEXT_PRESERVE_SPANS | mupdf.FZ_STEXT_COLLECT_VECTORS
FLAGS |= mupdf.FZ_STEXT_IGNORE_ACTUALTEXT
"""One line per span of one font; shapes, but no images; white space and ligatures normalised. What a file
says that its glyphs stand for (ActualText) is not read: it may say anything, also nothing."""
UPSIDE_DOWN = 2
TURNED = {(1, 0): 0, (0, 1): 1, (0, -1): -1, (-1, 0): UPSIDE_DOWN}
"""How a page is written, by the direction of its lines."""
LEVEL = 0.1
"""Sine or cosine of the angle by which a level line is off."""
SHRINK_EVERY = 50
"""Pages after which MuPDF's cache of fonts and images is emptied: keeps 1,600 pages flat."""
NO_LIES: Mapping[str, frozenset[str]] = {}
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class PageContent:
    """What one page shows."""

    rows: list[Row]
    tables: list[Table] = field(default_factory=list)
    shows_marks: bool = False
    """Set only when there is no text: whether there is anything else."""
    hidden_characters: int = 0
    is_scan: bool = False
    """Whether its words stand invisibly over its image."""
    runs_down: bool = False
    """Whether its lines run down the page as it is shown."""


def parse_pdf(path: Path, limits: ParsingLimits, progress: Progress) -> ExtractedDocument:
    """Read a PDF.

    Raises `DocumentEncrypted`, `DocumentCorrupt`, `DocumentTooLarge`, `DocumentUnreadable` (something
    shows, but no page has text) and `DocumentEmpty` (all pages are blank).
    """
    without_complaints()
    with open_pdf(path) as document:
        if document.page_count > limits.max_pages:
            raise DocumentTooLarge(
                f"The PDF has {document.page_count:,} pages, and may have {limits.max_pages:,}.", field="path"
            )
        pages = _read_pages(document, limits, progress)
        title = _title(document)
    unreadable = tuple(
        number for number, page in enumerate(pages, start=1) if page.shows_marks and not page.rows
    )
    if not any(page.rows or page.tables for page in pages):
        if unreadable:
            raise DocumentUnreadable(_nothing_readable(pages), field="path")
        raise DocumentEmpty("All pages are blank.", field="path")
    return _assemble(title, pages, unreadable, limits)


def _nothing_readable(pages: list[PageContent]) -> str:
    hidden = sum(page.hidden_characters for page in pages)
    if hidden:
        return f"No page has text that can be seen; {hidden:,} characters are hidden, and over no scan."
    return "No page has a text layer; scanned pages need OCR first."


def without_complaints() -> None:
    """Keep MuPDF from printing what it thinks of a file."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    pymupdf.no_recommend_layout()


def open_pdf(path: Path) -> pymupdf.Document:
    """The open file. Raises `DocumentEncrypted` and `DocumentCorrupt`."""
    try:
        document = pymupdf.open(path, filetype="pdf")
        is_locked = document.needs_pass
        page_count = 0 if is_locked else document.page_count
    except (mupdf.FzErrorBase, RuntimeError, ValueError) as error:
        raise DocumentCorrupt("The PDF cannot be opened.", field="path") from error
    if is_locked:
        raise DocumentEncrypted("The PDF needs a password.", field="path")
    if page_count == 0:
        raise DocumentCorrupt("The PDF has no pages.", field="path")
    if document.is_repaired and not _ends(path):
        raise DocumentCorrupt("The PDF is cut off: its end is missing.", field="path")
    return document


def _ends(path: Path) -> bool:
    """Whether the end mark stands near the end of the file; some writers append a little after it."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2048))
        return b"%%EOF" in file.read()


def _title(document: pymupdf.Document) -> str | None:
    title = " ".join(((document.metadata or {}).get("title") or "").replace("\0", " ").split())
    file_like = title.lower().endswith((".doc", ".docx", ".pdf", ".htm", ".html", ".rtf", ".txt"))
    return (
        None if not title or file_like or title.lower().startswith(("microsoft word", "untitled")) else title
    )


def _read_pages(document: pymupdf.Document, limits: ParsingLimits, progress: Progress) -> list[PageContent]:
    pages: list[PageContent] = []
    fonts = Fonts(document)
    total = document.page_count
    characters = 0
    for number in range(total):
        try:
            page = read_content(document.load_page(number), fonts.lies(number))
        except mupdf.FzErrorSystem as error:
            raise MemoryError from error
        except (mupdf.FzErrorBase, RuntimeError, ValueError) as error:
            raise DocumentCorrupt(f"Page {number + 1} cannot be read.", field="path") from error
        characters += sum([len(row.text) for row in page.rows])
        if characters > limits.max_characters:
            raise DocumentTooLarge(
                f"The file has more than {limits.max_characters:,} characters of text.", field="path"
            )
        pages.append(page)
        if number % SHRINK_EVERY == SHRINK_EVERY - 1:
            pymupdf.TOOLS.store_shrink(100)
        progress(number + 1, total)
    return pages


def read_content(page: pymupdf.Page, lies: Mapping[str, frozenset[str]] = NO_LIES) -> PageContent:
    """Read one page: its tables, and its rows outside them in reading order.

    `lies` are the characters that fonts show as others (see `pdf_fonts`).
    """
    text = read_text(page)
    if lies:
        doubt_spans(text.spans, lies)
    fragments = fragments_of(text)
    content = PageContent([], [], False, text.hidden_characters, text.is_scan)
    content.runs_down = (text.turned in (1, -1)) is (page.rotation in (0, 180))
    if not fragments:
        content.shows_marks = _shows_marks(page)
    elif sum([piece.text.count("\ufffd") for piece in fragments]) * 2 > sum([len(p.text) for p in fragments]):
        content.shows_marks, content.is_scan = True, False
    else:
        if not text.turned and may_hold_table(fragments, text.shapes):
            content.tables, fragments = find_tables(page, fragments, SCALE)
        content.rows = read_page(fragments) + _slanted_rows(text)
    return content


def read_text(page: pymupdf.Page) -> PageText:
    """The spans of a page that are to be read, in drawing order."""
    words = page.get_textpage(flags=FLAGS)
    blocks = page.get_text("dict", flags=FLAGS, textpage=words)["blocks"]
    _place_words(blocks, PageWords(page, words))
    spans, shapes = read_spans(blocks)
    spans, covered = uncovered(page, spans, shapes, FLAGS)
    text = sift(page, spans)
    directions = Counter([line["dir"] for block in blocks for line in block.get("lines", ())])
    across, down = directions.most_common(1)[0][0] if directions else (1, 0)
    turned = TURNED.get((round(across), round(down)), 0)
    if len(directions) > 1:
        _mark_slanted(blocks, turned)
    return replace(text, hidden_characters=text.hidden_characters + covered, shapes=shapes, turned=turned)


def _place_words(blocks: list[Block], words: PageWords) -> None:
    """Tell every span where its words are drawn."""
    for line in (line for block in blocks for line in block.get("lines", ())):
        for span, own in zip(line["spans"], words.of_line(line["spans"]), strict=True):
            span["words"] = own


def _mark_slanted(blocks: list[Block], turned: int) -> None:
    """Tell the spans of lines that are written at another angle than the page: stamps, marks of drafts."""
    for line in (line for block in blocks for line in block.get("lines", ())):
        across, down = line["dir"]
        if TURNED.get((round(across), round(down))) != turned or min(abs(across), abs(down)) > LEVEL:
            for span in line["spans"]:
                span["slanted"] = True


def fragments_of(text: PageText) -> list[Fragment]:
    """The pieces of a page's lines, measured and merged."""
    spans = [span for span in text.spans if "slanted" not in span]
    words = [span["words"] for span in spans]
    if text.turned:
        return merge_spans(set_apart([_upright(span, text.turned) for span in spans]), words)
    measured = list(map(_measured, spans))
    # The words of a scan stand where they were found, a little up or down.
    return merge_spans(measured if text.is_scan else set_apart(measured), words)


def _slanted_rows(text: PageText) -> list[Row]:
    """What stands at another angle, a row each; where it belongs is not known."""
    rows = []
    for span in text.spans:
        if "slanted" in span and span["text"].strip():
            left, right, baseline, size, bold, words = _measured(span)
            row = Row(left, right, baseline, size, words.strip(), bold, MARGIN, doubtful=True)
            row.words = span["words"]
            rows.append(row)
    return rows


def _measured(span: PdfSpan) -> tuple[int, int, int, int, bool, str]:
    """Left, right, baseline, size, whether bold, and text of a span."""
    left, _, right, _ = span["bbox"]
    start, width, size = int(left * SCALE), int((right - left) * SCALE), int(span["size"] * SCALE)
    bold = bool(span["flags"] & pymupdf.TEXT_FONT_BOLD)
    return start, start + width, int(span["origin"][1] * SCALE), size, bold, span["text"]


def _upright(span: PdfSpan, turned: int) -> tuple[int, int, int, int, bool, str]:
    """The same of a span that is read from top to bottom (1), from bottom to top (-1) or upside down (2)."""
    left, top, right, bottom = span["bbox"]
    if turned == UPSIDE_DOWN:
        start, end, baseline = -right, -left, -span["origin"][1]
    else:
        start, end = (top, bottom) if turned > 0 else (-bottom, -top)
        baseline = -turned * span["origin"][0]
    upright = {"bbox": (start, 0.0, end, 0.0), "origin": (start, baseline)}
    return _measured(span | upright)


def _shows_marks(page: pymupdf.Page) -> bool:
    """Whether a page without text shows an image or a drawing; white on white does not count."""
    if page.get_image_info():
        return True
    white = ((1.0, 1.0, 1.0), (1.0,), None)
    return any(
        drawing.get("color") not in white or drawing.get("fill") not in white
        for drawing in page.get_cdrawings()
    )


def _assemble(
    title: str | None, contents: list[PageContent], unreadable: tuple[int, ...], limits: ParsingLimits
) -> ExtractedDocument:
    pages, dropped = drop_running_rows([content.rows for content in contents])
    texts = (row.text for rows in pages for row in rows)
    builder = TextBuilder(limits.max_characters, frozenset(mark for text in texts if (mark := label(text))))
    pieces = [
        Piece(number, part, content.runs_down)
        for number, (content, rows) in enumerate(zip(contents, pages, strict=True), start=1)
        for part in _parts(rows, content)
    ]
    written = write(builder, joined(pieces, body_size(pages)), len(contents))
    return ExtractedDocument(
        DocumentFormat.PDF,
        title,
        builder.text,
        tuple(builder.blocks),
        written.pages,
        unreadable,
        tuple(number for number, content in enumerate(contents, start=1) if content.is_scan),
        builder.hidden_characters + sum(content.hidden_characters for content in contents),
        doubts=(*builder.doubts, *written.doubts),
        reference_marks=builder.reference_marks,
        running_lines=dropped,
        lines=written.lines,
    )


def _parts(rows: list[Row], content: PageContent) -> list[Paragraph | Table]:
    """The paragraphs and tables of a page in reading order."""
    parts: list[Paragraph | Table] = []
    for table in sorted(content.tables, key=lambda table: table.top):
        parts += make_paragraphs([row for row in rows if row.baseline < table.top])
        parts.append(table)
        rows = [row for row in rows if row.baseline >= table.top]
    return [*parts, *make_paragraphs(rows)]
