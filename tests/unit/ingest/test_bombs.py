# ruff: noqa: E501 - tables of bombs
"""Files made to exhaust whoever reads them: small ones here and now, large ones in a parser's process (soak)."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable

import pytest

from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.errors import DocumentError
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.pool import ChildLimits, parser_pool
from services.ingest.reading import Job, Reading
from tests.unit.ingest.hostile import read_lawfully
from tests.unit.ingest.test_hostile_files import W, package, pdf_of, word

SMALL, LARGE = 1_500, 100_000
WORDS = "<w:p><w:r><w:t>The fee is USD 400.</w:t></w:r></w:p>"
MAIN = "word/document.xml"

Bomb = Callable[[int], bytes]


def nested_word(opening: str, closing: str) -> Bomb:
    return lambda n: package({MAIN: word(opening * n + WORDS + closing * n)})


def entities(n: int, used: str) -> bytes:
    """Ten of ten of ten …; `used` says where the last is named."""
    names = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10))
    declared = f'<!DOCTYPE w [<!ENTITY e0 "{"a" * 10}">{names}<!ENTITY q "{"a" * n}">]>'
    body = used.replace("MANY", "&q;" * n)
    return package({MAIN: f"{declared}<w:document {W}><w:body>{body}</w:body></w:document>".encode()})


def with_directory(change: Callable[[bytearray, dict[bytes, int]], None]) -> bytes:
    """A DOCX whose directory says something else than its parts."""
    data = bytearray(package({MAIN: word(WORDS + "<w:p/>" * 1000)}))
    entries, at = {}, 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        (length,) = struct.unpack_from("<H", data, at + 28)
        entries[bytes(data[at + 46 : at + 46 + length])] = at
        at += 4
    change(data, entries)
    return bytes(data)


def says_size(size: int) -> Bomb:
    def change(data: bytearray, entries: dict[bytes, int]) -> None:
        struct.pack_into("<I", data, entries[MAIN.encode()] + 24, size)

    return lambda n: with_directory(change)


def overlapping(data: bytearray, entries: dict[bytes, int]) -> None:
    (offset,) = struct.unpack_from("<I", data, entries[MAIN.encode()] + 42)
    for at in entries.values():
        struct.pack_into("<I", data, at + 42, offset)


def twice_named(n: int) -> bytes:
    buffer = io.BytesIO(package({}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr(MAIN, word(WORDS))
            archive.writestr(MAIN, word(WORDS * 2))
    return buffer.getvalue()


def styles_on_styles(n: int) -> bytes:
    style = '<w:style w:type="paragraph" w:styleId="s{}"><w:basedOn w:val="s{}"/></w:style>'
    styles = "".join(style.format(number, number + 1) for number in range(n))
    used = WORDS.replace("<w:r>", '<w:pPr><w:pStyle w:val="s0"/></w:pPr><w:r>')
    return package({"word/styles.xml": f"<w:styles {W}>{styles}</w:styles>".encode(), MAIN: word(used)})


def nested_html(opening: str, closing: str) -> Bomb:
    return lambda n: (opening * n + "The fee is USD 400." + closing * n).encode()


CATALOG = "<</Type/Catalog/Pages 2 0 R>>"
PAGES = "<</Type/Pages/Kids[3 0 R]/Count 1>>"
PAGE = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources 5 0 R>>"
FONTS = "<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/XObject<</X 6 0 R>>>>"
TEXT = "BT /F 12 Tf 72 700 Td (The fee is USD 400.) Tj ET "


def stream(content: str, extra: str = "") -> str:
    return f"<<{extra}/Length {len(content)}>>stream\n{content}\nendstream"


def form(content: str, resources: str = "5 0 R") -> str:
    return stream(content, f"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources {resources}")


def forms_of_forms(n: int) -> bytes:
    """Each form draws the next ten times: the page draws ten to the power of their number."""
    depth = 2 if n == SMALL else 30
    objects = [CATALOG, PAGES, PAGE, stream(TEXT + "/X Do"), FONTS]
    objects += [form("/X Do " * 10, f"<</XObject<</X {7 + level} 0 R>>>>") for level in range(depth)]
    return pdf_of([*objects, form("")])


def packed(n: int) -> bytes:
    content = zlib.compress(TEXT.encode() + b" " * (n * 4_000), 9).decode("latin-1")
    return pdf_of([CATALOG, PAGES, PAGE, stream(content, "/Filter/FlateDecode"), FONTS])


BOMBS: dict[str, tuple[str, Bomb]] = {
    "tables in tables": ("a.docx", nested_word("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>")),
    "tables in tables, as deep as XML may be": ("a.docx", lambda n: nested_word("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>")(80)),
    "text boxes in text boxes": ("a.docx", lambda n: nested_word("<w:p><w:r><w:txbxContent>", "</w:txbxContent></w:r></w:p>")(60)),
    "entities in entities": ("a.docx", lambda n: entities(1, WORDS.replace("fee", "&e9;"))),
    "entities in an attribute": ("a.docx", lambda n: entities(1, WORDS.replace("<w:p>", '<w:p w:x="&e9;">'))),
    "a long entity, often": ("a.docx", lambda n: entities(n, WORDS.replace("fee", "MANY"))),
    "a file as an entity": ("a.docx", lambda n: package({MAIN: f'<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document {W}><w:body>{WORDS.replace("fee", "&x;")}</w:body></w:document>'.encode()})),
    "spaces without end": ("a.docx", lambda n: package({MAIN: word(WORDS) + b" " * (n * 4_000)})),
    "more parts than allowed": ("a.docx", lambda n: package({f"word/{i}.xml": b"" for i in range(10_001)})),
    "a DOCX in a DOCX in a DOCX": ("a.docx", lambda n: package({"word/embeddings/a.docx": package({"word/embeddings/a.docx": package({})})})),
    "names that lead elsewhere": ("a.docx", lambda n: package({"/etc/x": b"1", "../../x": b"2", "C:\\x": b"3", "word/\u202ex": b"4", MAIN: word(WORDS)})),
    "a part named twice": ("a.docx", twice_named),
    "a part that says it is empty": ("a.docx", says_size(0)),
    "a part that says it is short": ("a.docx", says_size(10)),
    "a part that says it is huge": ("a.docx", says_size(2**32 - 2)),
    "parts that overlap": ("a.docx", lambda n: with_directory(overlapping)),
    "styles based on styles": ("a.docx", styles_on_styles),
    "headings only": ("a.docx", lambda n: package({MAIN: word('<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Heading</w:t></w:r></w:p>' * (n // 10))})),
    "elements in elements": ("a.html", nested_html("<div>", "</div>")),
    "tables in tables of HTML": ("a.html", nested_html("<table><tr><td>", "</td></tr></table>")),
    "lists in lists": ("a.html", nested_html("<ul><li>", "</li></ul>")),
    "hidden in hidden": ("a.html", nested_html("<b hidden>", "</b>")),
    "cells": ("a.html", lambda n: ("<table>" + ("<tr>" + "<td>9</td>" * 1_000 + "</tr>") * (n // 100) + "</table>").encode()),
    "a wide row below narrow ones": ("a.html", lambda n: ("<table>" + "<tr><td>9</td></tr>" * (n // 30) + "<tr>" + "<td>9</td>" * (n // 30) + "</tr></table>").encode()),
    "comments that open only": ("a.html", lambda n: b"<!--" * n),
    "rules of style": ("a.html", lambda n: f"<style>{''.join(f'.c{i}.d {{ color: white }} ' for i in range(n))}</style>{'<p class=d>x</p>' * (n // 10)}".encode()),
    "braces that open only": ("a.html", lambda n: f"<style>{'p{' * n}</style><p style='{'/*' * n}'>x</p>".encode()),
    "headings of HTML": ("a.html", lambda n: "".join(f"<h{i % 6 + 1}>Head {i}</h{i % 6 + 1}><p>text</p>" for i in range(n // 10)).encode()),
    "quotes of quotes": ("a.md", lambda n: b"> " * n + b"x"),
    "links that open only": ("a.md", lambda n: b"[" * n + b"x"),
    "emphasis without end": ("a.md", lambda n: b"*a " * n),
    "a wide table": ("a.md", lambda n: b"|a|\n|-|\n" + b"|9" * n),
    "one word": ("a.txt", lambda n: b"x" * (n * 100)),
    "one line": ("a.txt", lambda n: b"The fee is USD 400. " * n),
    "empty lines": ("a.txt", lambda n: b"a\n" + b"\n" * (n * 10) + b"b"),
    "headings of text": ("a.txt", lambda n: b"ARTICLE I\n\nFEES\n\n" * (n // 10)),
    "numbers of clauses": ("a.txt", lambda n: b"I. II. (a) 1.1 " * n),
    "quotes": ("a.txt", lambda n: "“A” means ".encode() * n),
    "combining marks": ("a.txt", lambda n: ("a" + "\u0301" * (n * 10)).encode()),
    "tags": ("a.txt", lambda n: ("The fee. " + "\U000e0041" * (n * 10)).encode()),
    "UTF-16": ("a.txt", lambda n: ("The fee. " * n).encode("utf-16")),
    "UTF-32": ("a.txt", lambda n: ("The fee. " * n).encode("utf-32-le")),
    "pages in a circle": ("a.pdf", lambda n: pdf_of([CATALOG, "<</Type/Pages/Kids[2 0 R 3 0 R]/Count 2>>", PAGE, stream(TEXT), FONTS])),
    "a count beyond any": ("a.pdf", lambda n: pdf_of([CATALOG, "<</Type/Pages/Kids[3 0 R]/Count 2000000000>>", PAGE, stream(TEXT), FONTS])),
    "a page beyond any size": ("a.pdf", lambda n: pdf_of([CATALOG, PAGES, PAGE.replace("612 792", "9999999999 9999999999"), stream(TEXT), FONTS])),
    "a form in itself": ("a.pdf", lambda n: pdf_of([CATALOG, PAGES, PAGE, stream(TEXT + "/X Do"), FONTS, form("/X Do /X Do")])),
    "forms of forms": ("a.pdf", forms_of_forms),
    "an outline in a circle": ("a.pdf", lambda n: pdf_of(["<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>", PAGES, PAGE, stream(TEXT), FONTS, "<</First 6 0 R/Next 6 0 R/Title(x)>>"])),
    "arrays in arrays": ("a.pdf", lambda n: pdf_of([CATALOG, PAGES, PAGE, stream(TEXT), "[" * n + "]" * n])),
    "states in states": ("a.pdf", lambda n: pdf_of([CATALOG, PAGES, PAGE, stream("q " * n + TEXT), FONTS])),
    "a content that unpacks": ("a.pdf", packed),
    "a cross-reference in a circle": ("a.pdf", lambda n: pdf_of([CATALOG, PAGES, PAGE, stream(TEXT), FONTS]).replace(b"/Root 1 0 R", b"/Root 1 0 R/Prev 9")),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_becomes_sound_chunks_or_one_typed_error(tmp_path, name):
    file, make = BOMBS[name]
    path = tmp_path / file
    path.write_bytes(make(SMALL))

    read_lawfully(path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tables in tables", "DOCUMENT_CORRUPT"),
        ("entities in entities", "DOCUMENT_CORRUPT"),
        ("more parts than allowed", "DOCUMENT_TOO_LARGE"),
        ("a part that says it is huge", "DOCUMENT_TOO_LARGE"),
        ("UTF-16", "read"),
        ("UTF-32", "DOCUMENT_FORMAT_MISMATCH"),
        ("hidden in hidden", "DOCUMENT_EMPTY"),
        ("elements in elements", "read"),
        ("names that lead elsewhere", "read"),
    ],
)
def test_what_a_bomb_is_refused_for_is_named(tmp_path, name, reason):
    file, make = BOMBS[name]
    path = tmp_path / file
    path.write_bytes(make(SMALL))

    assert read_lawfully(path) == reason


@pytest.mark.soak
@pytest.mark.parametrize("name", BOMBS)
async def test_a_large_bomb_ends_within_the_limits_and_the_next_file_is_read(tmp_path, name):
    file, make = BOMBS[name]
    path, honest = tmp_path / file, tmp_path / "honest.txt"
    path.write_bytes(make(LARGE))
    honest.write_text("The fee is USD 400.")
    limits = ChildLimits(memory_bytes=1 << 30, cpu_seconds=60, silence_seconds=60)
    outcomes: list[Reading | DocumentError] = []

    async with parser_pool(1, limits, tmp_path) as pool:
        for one in (path, honest):
            job = Job(
                one,
                Origin(f"cme/{one.name}", "cme", one.name, "g1", one.name),
                ParsingLimits(),
                ChunkLimits(),
            )
            try:
                outcomes.append(await pool.read(job, lambda stage, done, total: None))
            except DocumentError as error:
                outcomes.append(error)

    assert isinstance(outcomes[1], Reading)
