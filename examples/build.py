"""Makes the DOCX and PDF files of `corpus/` from the drafts: `python examples/build.py`.

A draft is a small Markdown subset: `# ` title, `## ` heading, `| … |` table rows (the first is the header),
and paragraphs between blank lines. Rebuilding gives the same bytes: all dates are fixed, fonts are embedded.
"""

# PyMuPDF carries no annotations.
# mypy: disallow-untyped-calls=False

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import docx
import pymupdf
from docx.document import Document as Docx
from docx.shared import Cm, Pt

HERE = Path(__file__).parent
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date that a ZIP entry can carry

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a draft: exactly one of `text` and `rows` is filled."""

    kind: str
    """`title`, `heading`, `paragraph` or `table`."""
    text: str = ""
    rows: tuple[Row, ...] = ()
    """Cells of a table, header row first."""


@dataclass(frozen=True, slots=True)
class Work:
    """A draft and the file that is made of it."""

    draft: str
    target: str
    author: str
    dated: datetime


WORKS = (
    Work(
        "tarnholm-licence-agreement.md",
        "tarnholm/market-data-licence-agreement.docx",
        "Tarnholm Mercantile Exchange Limited",
        datetime(2025, 3, 1),
    ),
    Work(
        "tarnholm-definitions-schedule.md",
        "tarnholm/definitions-schedule.pdf",
        "Tarnholm Mercantile Exchange Limited",
        datetime(2025, 3, 1),
    ),
    Work(
        "quillhaven-fee-schedule.md",
        "quillhaven/market-data-fee-schedule.pdf",
        "Quillhaven Securities Exchange, Inc.",
        datetime(2026, 1, 1),
    ),
)


def read_draft(text: str) -> list[Part]:
    """Split a draft into its parts, in order."""
    return [_part(block.strip()) for block in text.split("\n\n") if block.strip()]


def _part(block: str) -> Part:
    if block.startswith("# "):
        return Part("title", block[2:])
    if block.startswith("## "):
        return Part("heading", block[3:])
    if block.startswith("|"):
        lines = block.splitlines()
        return Part(
            "table", rows=tuple(tuple(c.strip() for c in line.strip("|").split("|")) for line in lines)
        )
    return Part("paragraph", " ".join(block.split()))


def write_docx(parts: list[Part], work: Work, target: Path) -> None:
    """Write the parts as a Word document with real heading styles and real tables."""
    document = docx.Document()
    document.styles["Normal"].font.size = Pt(11)
    for part in parts:
        if part.kind == "table":
            _add_docx_table(document, part.rows)
        elif part.kind == "paragraph":
            document.add_paragraph(part.text)
        else:
            document.add_heading(part.text, level=0 if part.kind == "title" else 1)
    for section in document.sections:
        section.page_width, section.page_height = Cm(21), Cm(29.7)
    properties = document.core_properties
    properties.title, properties.author = parts[0].text, work.author
    properties.created = properties.modified = work.dated
    properties.last_modified_by, properties.comments = work.author, ""
    raw = io.BytesIO()
    document.save(raw)
    _copy_with_fixed_dates(raw, target)


def _add_docx_table(document: Docx, rows: tuple[Row, ...]) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text


def _copy_with_fixed_dates(raw: io.BytesIO, target: Path) -> None:
    with zipfile.ZipFile(raw) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            fixed = zipfile.ZipInfo(entry.filename, ZIP_EPOCH)
            fixed.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(fixed, old.read(entry))


class PdfPages:
    """Sets text and ruled tables on A4 pages, top to bottom, with a running foot line."""

    WIDTH, HEIGHT, MARGIN = 595.0, 842.0, 68.0
    """Points."""

    def __init__(self, foot: str) -> None:
        """Start an empty document; `finish` sets `foot` and the page number on every page."""
        self.document = pymupdf.open()
        self._fonts = {False: pymupdf.Font("tiro"), True: pymupdf.Font("tibo")}
        self._foot = foot
        self._new_page()

    def _new_page(self) -> None:
        self._page = self.document.new_page(width=self.WIDTH, height=self.HEIGHT)
        self._y = self.MARGIN

    def _line(self, text: str, x: float, y: float, size: float, *, bold: bool) -> None:
        writer = pymupdf.TextWriter(self._page.rect)
        writer.append((x, y), text, font=self._fonts[bold], fontsize=size)
        writer.write_text(self._page)

    def _need(self, height: float) -> None:
        if self._y + height > self.HEIGHT - self.MARGIN:
            self._new_page()

    def _wrap(self, text: str, width: float, size: float, *, bold: bool) -> list[str]:
        lines, line = [], ""
        for word in text.split():
            longer = f"{line} {word}".strip()
            if line and self._fonts[bold].text_length(longer, size) > width:
                lines.append(line)
                longer = word
            line = longer
        return [*lines, line]

    def text(
        self, text: str, size: float, *, bold: bool = False, before: float = 0.0, keep: float = 0.0
    ) -> None:
        """Set a paragraph; `before` and `keep` are points of space above and to hold free below."""
        lines = self._wrap(text, self.WIDTH - 2 * self.MARGIN, size, bold=bold)
        self._y += before
        self._need(min(len(lines), 2) * size * 1.35 + keep)
        for line in lines:
            self._need(size * 1.35)
            self._y += size * 1.35
            self._line(line, self.MARGIN, self._y, size, bold=bold)
        self._y += 5

    def table(self, rows: tuple[Row, ...]) -> None:
        """Set a ruled table, columns as wide as their longest cells ask; a page break repeats the header."""
        longest = [max(len(row[i]) for row in rows) + 4 for i in range(len(rows[0]))]
        share = (self.WIDTH - 2 * self.MARGIN) / sum(longest)
        widths = [share * n for n in longest]
        self._need(90)
        self._y += 4
        self._row(rows[0], widths, bold=True)
        for row in rows[1:]:
            if self._y + 34 > self.HEIGHT - self.MARGIN:
                self._new_page()
                self._row(rows[0], widths, bold=True)
            self._row(row, widths, bold=False)
        self._y += 8

    def _row(self, row: Row, widths: list[float], *, bold: bool) -> None:
        size, pad = 9.5, 4.0
        cells = [self._wrap(c, w - 2 * pad, size, bold=bold) for c, w in zip(row, widths, strict=True)]
        height = max(map(len, cells)) * size * 1.25 + 2 * pad
        x = self.MARGIN
        for lines, width in zip(cells, widths, strict=True):
            self._page.draw_rect(pymupdf.Rect(x, self._y, x + width, self._y + height), width=0.6)
            for number, line in enumerate(lines, 1):
                self._line(line, x + pad, self._y + pad + number * size * 1.25 - 2.5, size, bold=bold)
            x += width
        self._y += height

    def finish(self) -> None:
        """Set the foot lines; last, so that they follow the text of their page."""
        for number in range(len(self.document)):
            self._page = self.document[number]
            self._line(f"{self._foot}  –  page {number + 1}", self.MARGIN, self.HEIGHT - 40, 8.0, bold=False)


def write_pdf(parts: list[Part], work: Work, target: Path) -> None:
    """Write the parts as a PDF with ruled tables, headings in bold."""
    pages = PdfPages(f"{work.author}, {parts[0].text}")
    for part in parts:
        if part.kind == "table":
            pages.table(part.rows)
        elif part.kind == "title":
            pages.text(part.text, 18, bold=True)
        elif part.kind == "heading":
            pages.text(part.text, 12.5, bold=True, before=9, keep=50)
        else:
            pages.text(part.text, 10.5)
    pages.finish()
    dated = work.dated.strftime("D:%Y%m%d000000Z")
    pages.document.set_metadata(
        {"title": parts[0].text, "author": work.author, "creationDate": dated, "modDate": dated}
    )
    pages.document.subset_fonts()
    pages.document.save(target, garbage=4, deflate=True, no_new_id=True)


def build(corpus: Path) -> None:
    """Write every work below `corpus`."""
    for work in WORKS:
        parts = read_draft((HERE / "drafts" / work.draft).read_text(encoding="utf-8"))
        target = corpus / work.target
        target.parent.mkdir(parents=True, exist_ok=True)
        (write_docx if target.suffix == ".docx" else write_pdf)(parts, work, target)


if __name__ == "__main__":
    build(HERE / "corpus")
