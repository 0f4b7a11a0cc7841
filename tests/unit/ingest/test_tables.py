"""What a row of a table is quoted with: one generator of tables over all formats that have them."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

import docx
import pymupdf
import pytest

from services.answer.parts import quoted_text
from services.answer.sentences import all_of
from services.ingest import chunking
from services.ingest.chunking import ChunkLimits
from services.ingest.parsing.formats import format_of, parse
from services.ingest.parsing.limits import ParsingLimits

Rows = list[list[str]]
"""Cells of equal number; an empty one is merged with that above it."""
LIMITS = ChunkLimits(target_words=12, max_words=16, min_words=4, overlap_sentences=1)
HEADER = ["Product", "Period", "Fee"]
PERIODS = ["Month", "Quarter", "Year"]


def html(rows: Rows) -> bytes:
    """Empty cells are covered by a cell above that spans several rows."""
    lines = []
    for number, row in enumerate(rows):
        cells = ""
        for column, cell in enumerate(row):
            covered = 1
            while number + covered < len(rows) and not any(rows[number + covered][: column + 1]):
                covered += 1
            span = f' rowspan="{covered}"' if covered > 1 else ""
            cells += f"<td{span}>{cell}</td>" if any(row[: column + 1]) else ""
        lines.append(f"<tr>{cells}</tr>")
    names = "".join(f"<th>{name}</th>" for name in HEADER)
    return f"<table><tr>{names}</tr>{''.join(lines)}</table><p>End.</p>".encode()


def markdown(rows: Rows) -> bytes:
    lines = [" | ".join(row) for row in (HEADER, ["---"] * len(HEADER), *rows)]
    return "".join(f"| {line} |\n" for line in lines).encode() + b"\nEnd.\n"


def word(rows: Rows) -> bytes:
    document = docx.Document()
    table = document.add_table(rows=len(rows) + 1, cols=len(HEADER))
    for row, cells in zip(table.rows, (HEADER, *rows), strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.add_paragraph("End.")
    content = io.BytesIO()
    document.save(content)
    return content.getvalue()


def pdf(rows: Rows) -> bytes:
    document = pymupdf.open()
    page = document.new_page()
    for number, row in enumerate((HEADER, *rows)):
        for column, cell in enumerate(row):
            box = pymupdf.Rect(0, 0, 140, 20) + (72 + 140 * column, 60 + 20 * number) * 2
            page.draw_rect(box, width=0.5)
            page.insert_text((box.x0 + 4, box.y1 - 6), cell, fontsize=10)
    return document.tobytes()


FORMATS = {"a.html": html, "a.md": markdown, "a.docx": word, "a.pdf": pdf}


def said_of(folder: Path, name: str, rows: Rows) -> dict[str, str]:
    """What a quote of each row says, by its last cell; the rows stand in several chunks."""
    file = folder / name
    file.write_bytes(FORMATS[name](rows))
    document = parse(file, format_of(name), ParsingLimits(), lambda done, total: None)
    origin = chunking.Origin(f"cme/{name}", "cme", name, "g", name)
    chunks = chunking.cut(document, origin, LIMITS)
    assert len(chunks) > 1
    return {
        row.text.rpartition("| ")[2]: quoted_text(row.chunk, row.span).replace("\n", " … ")
        for chunk in chunks
        for row in all_of(chunk)
        if row.text.rpartition("| ")[1]
    }


def drawn(random: Random) -> Rows:
    """Products with a fee for each of some periods; the product stands in its first row alone."""
    rows: Rows = []
    for product in range(random.randint(3, 5)):
        for number, period in enumerate(random.sample(PERIODS, random.randint(1, 3))):
            name = "" if number else f"Service {'ABCDE'[product]} for devices"
            rows.append([name, period, f"USD {10 * len(rows) + 7}"])
    return rows


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(15))
def test_a_row_says_its_header_and_the_cells_above_that_it_belongs_to(tmp_path, name, seed):
    rows = drawn(Random(seed))
    said = said_of(tmp_path, name, rows)
    product = ""
    for own, period, fee in rows:
        product = own or product
        quote = " … ".join(
            [
                " | ".join(HEADER),
                f"{product} | {period} | {fee}" if own else f"{product} … | {period} | {fee}",
            ]
        )
        assert said[fee] == quote


@pytest.mark.parametrize("name", FORMATS)
def test_a_row_says_the_group_that_it_stands_in(tmp_path, name):
    rows = [["Domestic", "", ""], *([f"Service {n}", "Month", f"USD {n}"] for n in range(1, 5))]
    rows += [["Abroad", "", ""], *([f"Service {n}", "Month", f"USD {n}"] for n in range(5, 9))]
    said = said_of(tmp_path, name, rows)
    assert {fee: quote.split(" … ")[1] for fee, quote in said.items() if "USD" in fee} == {
        f"USD {n}": "Domestic" if n < 5 else "Abroad" for n in range(1, 9)
    }


def test_a_total_belongs_to_no_row_and_a_value_that_is_missing_is_no_group(tmp_path):
    rows = [[f"Service {n}", "Month", f"USD {n}"] for n in range(1, 5)]
    rows += [["Support", "", ""], ["Updates", "Month", "USD 5"], ["", "", "USD 15"], ["", "Total", "USD 16"]]
    said = said_of(tmp_path, "a.md", rows)
    header = " | ".join(HEADER)
    assert said["USD 5"] == f"{header} … Updates | Month | USD 5"
    assert said["USD 15"] == f"{header} … |  | USD 15"
    assert said["USD 16"] == f"{header} … | Total | USD 16"
