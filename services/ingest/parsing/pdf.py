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

from services.ingest.documents import BlockKind, DocumentFormat, ExtractedDocument, Page, Span, Style
from services.ingest.errors import (
    DocumentCorrupt,
    DocumentEmpty,
    DocumentEncrypted,
    DocumentTooLarge,
    DocumentUnreadable,
)
from services.ingest.parsing.building import TextBuilder
from services.ingest.parsing.layout import Fragment, Paragraph, Row, make_paragraphs, merge_spans, read_page
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.pdf_covered import Span as PdfSpan
from services.ingest.parsing.pdf_covered import read_spans, uncovered
from services.ingest.parsing.pdf_fonts import Fonts, doubt_spans
from services.ingest.parsing.pdf_hidden import PageText, sift
from services.ingest.parsing.pdf_raised import set_apart
from services.ingest.parsing.raised import label
from services.ingest.parsing.running import drop_running_rows
from services.ingest.parsing.tables import Table, find_tables, may_hold_table

SCALE = 10
"""Lengths are whole numbers: tenths of a point."""
FLAGS = mupdf.FZ_STEXT_MEDIABOX_CLIP | mupdf.FZ_STEXT_PRESERVE_SPANS | mupdf.FZ_STEXT_COLLECT_VECTORS
FLAGS |= mupdf.FZ_STEXT_IGNORE_ACTUALTEXT
"""One line per span of one font; shapes, but no images; white space and ligatures normalised. What a file
says that its glyphs stand for (ActualText) is not read: it may say anything, also nothing."""
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


def parse_pdf(path: Path, limits: ParsingLimits, progress: Progress) -> ExtractedDocument:
    """Read a PDF.

    Raises `DocumentEncrypted`, `DocumentCorrupt`, `DocumentTooLarge`, `DocumentUnreadable` (something
    shows, but no page has text) and `DocumentEmpty` (all pages are blank).
    """
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    pymupdf.no_recommend_layout()
    with _open(path) as document:
        if document.page_count > limits.max_pages:
            raise DocumentTooLarge(f"{document.page_count} pages; at most {limits.max_pages}", field="path")
        pages = _read_pages(document, limits, progress)
        title = _title(document)
    rows = drop_running_rows([page.rows for page in pages])
    unreadable = tuple(
        number for number, page in enumerate(pages, start=1) if page.shows_marks and not page.rows
    )
    if not any(page.rows or page.tables for page in pages):
        if unreadable:
            raise DocumentUnreadable(_nothing_readable(pages), field="path")
        raise DocumentEmpty("all pages are blank", field="path")
    return _assemble(title, pages, rows, unreadable, limits)


def _nothing_readable(pages: list[PageContent]) -> str:
    hidden = sum(page.hidden_characters for page in pages)
    if hidden:
        return f"no page has text that can be seen; {hidden} characters are hidden, and over no scan"
    return "no page has a text layer; scanned pages need OCR first"


def _open(path: Path) -> pymupdf.Document:
    try:
        document = pymupdf.open(path, filetype="pdf")
        is_locked = document.needs_pass
        page_count = 0 if is_locked else document.page_count
    except (mupdf.FzErrorBase, RuntimeError, ValueError) as error:
        raise DocumentCorrupt("the PDF cannot be opened", field="path") from error
    if is_locked:
        raise DocumentEncrypted("the PDF needs a password", field="path")
    if page_count == 0:
        raise DocumentCorrupt("the PDF has no pages", field="path")
    if document.is_repaired and not _ends(path):
        raise DocumentCorrupt("the PDF is cut off: its end is missing", field="path")
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
            raise DocumentCorrupt(f"page {number + 1} cannot be read", field="path") from error
        characters += sum([len(row.text) for row in page.rows])
        if characters > limits.max_characters:
            raise DocumentTooLarge(f"more than {limits.max_characters} characters of text", field="path")
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
    if not fragments:
        content.shows_marks = _shows_marks(page)
    elif sum([piece.text.count("\ufffd") for piece in fragments]) * 2 > sum([len(p.text) for p in fragments]):
        content.shows_marks, content.is_scan = True, False
    else:
        if not text.turned and may_hold_table(fragments, text.shapes):
            content.tables, fragments = find_tables(page, fragments, SCALE)
        content.rows = read_page(fragments)
    return content


def read_text(page: pymupdf.Page) -> PageText:
    """The spans of a page that are to be read, in drawing order."""
    blocks = page.get_text("dict", flags=FLAGS)["blocks"]
    spans, shapes = read_spans(blocks)
    spans, covered = uncovered(page, spans, shapes, FLAGS)
    text = sift(page, spans)
    directions = Counter([block["lines"][0]["dir"][1] for block in blocks if block.get("lines")])
    turned = round(directions.most_common(1)[0][0]) if directions else 0
    return replace(text, hidden_characters=text.hidden_characters + covered, shapes=shapes, turned=turned)


def fragments_of(text: PageText) -> list[Fragment]:
    """The pieces of a page's lines, measured and merged."""
    if text.turned:
        return merge_spans(set_apart([_upright(span, text.turned) for span in text.spans]))
    spans = [_measured(span) for span in text.spans]
    return merge_spans(
        spans if text.is_scan else set_apart(spans)
    )  # a scan's words stand where they were found


def _measured(span: PdfSpan) -> tuple[int, int, int, int, bool, str]:
    """Left, right, baseline, size, whether bold, and text of a span."""
    left, _, right, _ = span["bbox"]
    start, width, size = int(left * SCALE), int((right - left) * SCALE), int(span["size"] * SCALE)
    bold = bool(span["flags"] & pymupdf.TEXT_FONT_BOLD)
    return start, start + width, int(span["origin"][1] * SCALE), size, bold, span["text"]


def _upright(span: PdfSpan, turned: int) -> tuple[int, int, int, int, bool, str]:
    """The same of a span that is read from top to bottom (1) or from bottom to top (-1)."""
    _, top, _, bottom = span["bbox"]
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
    title: str | None,
    contents: list[PageContent],
    rows: list[list[Row]],
    unreadable: tuple[int, ...],
    limits: ParsingLimits,
) -> ExtractedDocument:
    texts = (row.text for kept in rows for row in kept)
    builder = TextBuilder(limits.max_characters, frozenset(mark for text in texts if (mark := label(text))))
    pages: list[Page] = []
    start = 0
    for number, (content, kept) in enumerate(zip(contents, rows, strict=True), start=1):
        _add_page(builder, kept, content.tables)
        pages.append(Page(number, Span(start, builder.length)))
        start = builder.length
    return ExtractedDocument(
        DocumentFormat.PDF,
        title,
        builder.text,
        tuple(builder.blocks),
        tuple(pages),
        unreadable,
        tuple(number for number, content in enumerate(contents, start=1) if content.is_scan),
        builder.hidden_characters + sum(content.hidden_characters for content in contents),
        doubts=tuple(builder.doubts),
        reference_marks=builder.reference_marks,
    )


def _add_page(builder: TextBuilder, rows: list[Row], tables: list[Table]) -> None:
    first = True
    for table in sorted(tables, key=lambda table: table.top):
        above = [row for row in rows if row.baseline < table.top]
        rows = [row for row in rows if row.baseline >= table.top]
        _add_paragraphs(builder, make_paragraphs(above), first)
        _add_table(builder, table)
        first = False
    _add_paragraphs(builder, make_paragraphs(rows), first)


def _add_paragraphs(builder: TextBuilder, paragraphs: list[Paragraph], first_of_page: bool) -> None:
    for index, paragraph in enumerate(paragraphs):
        if first_of_page and index == 0 and _continues(builder, paragraph):
            builder.extend(paragraph.text)
        else:
            builder.add(BlockKind.PARAGRAPH, paragraph.text, style=paragraph.style)


def _continues(builder: TextBuilder, paragraph: Paragraph) -> bool:
    """Whether the first paragraph of a page goes on with the last one of the page before."""
    if not builder.blocks or builder.blocks[-1].kind is not BlockKind.PARAGRAPH:
        return False
    last = builder.blocks[-1]
    ending = builder.tail()
    return (
        paragraph.text[0].islower()
        and not ending.endswith((".", "!", "?", ":", ";"))
        and _same_type(last.style, paragraph.style)
    )


def _same_type(one: Style | None, other: Style | None) -> bool:
    return one is not None and other is not None and abs(one.font_size - other.font_size) < 1


def _add_table(builder: TextBuilder, table: Table) -> None:
    for index, row in enumerate(table.rows):
        kind = BlockKind.TABLE_HEADER if index == 0 and table.has_header else BlockKind.TABLE_ROW
        builder.add(kind, row)
