"""Every parser with files that nobody writes by accident: see `tests/unit/ingest/hostile.py` for the law."""

# ruff: noqa: E501, RUF005 - tables of hostile pieces
from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.ingest.hostile import read_lawfully

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "corpus"
FEW = settings(max_examples=8, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=1_000, suppress_health_check=list(HealthCheck))

UNSEEN = "\u200b\u200d\u202e\u2066\u2069\ufeff\u00ad\u0301\U000e0041\U000e0001\ufe0f\u200f\u2028\x85\x0c\x1b\x1c\x01"
WORDS = [
    "The Licensee shall pay USD 400. ", "“Fee” means ", "Term: any party that ", "1.1 ", "(a) ", "ARTICLE IV\n",
    "Section 4.1. Fees. ", "Note: ", "\n", "\n\n", "\t", " | ", "x" * 500, "a " * 450, "9" * 60, "é", "中文没有空格" * 40,
    "עברית ", "<<<documents", "[c1]", "---", "#", "# ", "```\n", "> " * 60, "- " * 40, "&#x202e;", "&#0;", "&#55296;",
    "|a|b|\n|-|-|\n|c|d|\n", "<!--", "-->", "<![CDATA[", "]]>", "<table><tr><td>", "</table>", "<div hidden>", "</div>",
    "<p style='display:none'>", "</p>", "<script>", "</script>", "<template>", "[x](y 'z')", "![x](y)", "*" * 30, "_" * 30,
    "`", "\\", "\r", "\r\n", "<br>", "<h1>", "</h6>", "<ol start='99999999999999999999'><li>", "<li value='9x'>", "\u00a0",
    *UNSEEN,
]  # fmt: skip
prose = st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=40).map("".join)
encodings = st.sampled_from(
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "utf-32-be", "cp1252", "utf-7", "unicode_escape"]
)
charsets = st.sampled_from(
    ["utf-7", "utf-16", "utf-32", "unicode_escape", "raw_unicode_escape", "punycode", "idna", "zip", "rot13", "cp037"]
    + ["undefined", "hex", "mbcs", "iso-2022-jp", "hz", "utf-8-sig", "x" * 40]
)  # fmt: skip

ORIGINALS = {
    path.suffix: path.read_bytes()
    for path in sorted(EXAMPLES.rglob("*"))
    if path.suffix in (".pdf", ".docx", ".html", ".md", ".txt")
}


@st.composite
def mutated(draw, original: bytes) -> bytes:
    """A real file with bytes flipped, parts cut out, repeated and put elsewhere."""
    data = bytearray(original)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        length = draw(st.integers(1, 200))
        how = draw(st.sampled_from(["flip", "cut", "repeat", "splice", "write", "end"]))
        if how == "flip" and data:
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "cut":
            del data[at : at + length]
        elif how == "repeat":
            data[at:at] = data[at : at + length] * draw(st.integers(1, 50))
        elif how == "splice":
            source = draw(st.integers(0, max(0, len(data) - 1)))
            data[at : at + length] = data[source : source + length]
        elif how == "write":
            data[at : at + length] = draw(st.binary(max_size=20))
        else:
            del data[at:]
    return File(data)


class File(bytes):
    """Bytes that do not fill the screen when a test fails."""

    def __repr__(self):
        return f"<{len(self)} bytes>"


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TAGS = [
    "p",
    "r",
    "t",
    "tbl",
    "tr",
    "tc",
    "sdt",
    "sdtContent",
    "ins",
    "del",
    "moveFrom",
    "moveTo",
    "txbxContent",
    "pPr",
    "rPr",
    "vanish",
    "tab",
    "br",
    "numPr",
    "ilvl",
    "numId",
    "pStyle",
    "footnoteReference",
    "hyperlink",
    "smartTag",
    "customXml",
    "vMerge",
    "tcPr",
    "outlineLvl",
    "sectPr",
    "delText",
    "fldSimple",
]
values = st.sampled_from(["0", "1", "9", "99999999999999999999999", "-1", "Heading1", "true", "²", "x", ""])


@st.composite
def word_xml(draw, depth: int = 5) -> str:
    """Elements of Word's vocabulary in any order and nesting."""
    pieces = []
    for _ in range(draw(st.integers(0, 4))):
        tag = draw(st.sampled_from(TAGS))
        attributes = "".join(
            f' w:{name}="{draw(values)}"'
            for name in draw(st.lists(st.sampled_from(["val", "id", "type"]), unique=True, max_size=3))
        )
        inner = draw(word_xml(depth - 1)) if depth and draw(st.booleans()) else ""
        text = f"<w:p><w:r><w:t>{_escaped(draw(prose))}</w:t></w:r></w:p>" if draw(st.booleans()) else ""
        pieces.append(f"<w:{tag}{attributes}>{text}{inner}</w:{tag}>")
    return "".join(pieces)


def _escaped(text: str) -> str:
    kept = "".join(c for c in text if c in "\t\n\r" or (" " <= c <= "\ud7ff") or ("\ue000" <= c <= "\ufffd"))
    return kept.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "")


def package(parts: dict[str, bytes]) -> bytes:
    """A DOCX of python-docx's template with these parts instead of its own, or beside them."""
    template = io.BytesIO()
    docx.Document().save(template)
    buffer = io.BytesIO()
    with zipfile.ZipFile(template) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            if entry.filename not in parts:
                new.writestr(entry.filename, old.read(entry))
        for name, content in parts.items():
            new.writestr(name, content)
    return buffer.getvalue()


def word(body: str) -> bytes:
    return f"<w:document {W}><w:body>{body}</w:body></w:document>".encode("utf-8", "replace")


@st.composite
def word_file(draw) -> bytes:
    parts = {"word/document.xml": word(draw(word_xml()))}
    for name in draw(st.sets(st.sampled_from(["styles", "numbering"]), max_size=2)):
        parts[f"word/{name}.xml"] = f"<w:{name} {W}>{draw(word_xml(2))}</w:{name}>".encode("utf-8", "replace")
    return package(parts)


REFERENCES = st.integers(0, 9).map(lambda number: f"{number} 0 R")
NUMBERS = st.sampled_from(["0", "-1", "1", "612", "1e9", "99999999999", "0.0001", "null", "true"])
OPERATORS = st.sampled_from(
    ["BT /F 12 Tf 72 700 Td (The fee is 400.) Tj ET", "3 Tr", "1 1 1 rg", "q", "Q", "/X Do", "ET", "BT", "/F 0 Tf"]
    + ["0 0 0 0 0 0 cm", "1e9 0 0 1e9 0 0 cm", "-1 0 0 1 0 0 cm", "<0041004200> Tj", "[(a) -99999999 (b)] TJ", "W n"]
    + ["0 0 612 792 re f", "/OC /M BDC", "EMC", "BI /W 9 /H 9 ID xxx EI", "99999 w", "/GS gs"]
)  # fmt: skip
KEYS = st.sampled_from(
    [
        "Kids",
        "Parent",
        "Contents",
        "Resources",
        "Count",
        "MediaBox",
        "Next",
        "First",
        "Last",
        "Prev",
        "Outlines",
        "Pages",
        "AA",
    ]
)


@st.composite
def pdf_value(draw, depth: int = 2) -> str:
    kind = draw(st.integers(0, 5 if depth else 2))
    if kind <= 1:
        return draw(REFERENCES)
    if kind == 2:
        return draw(NUMBERS)
    if kind == 3:
        return f"[{' '.join(draw(st.lists(pdf_value(depth - 1), max_size=5)))}]"
    pairs = draw(st.lists(st.tuples(KEYS, pdf_value(depth - 1)), max_size=4))
    return f"<<{' '.join(f'/{key} {value}' for key, value in pairs)}>>"


@st.composite
def pdf_file(draw) -> bytes:
    """Ten objects of a real document's types, any entry of which may be anything."""

    def entry(key: str, usual: str) -> str:
        return f"/{key} {usual if draw(st.integers(0, 5)) else draw(pdf_value())}"

    content = "\n".join(draw(st.lists(OPERATORS, max_size=12)))
    form = "\n".join(draw(st.lists(OPERATORS, max_size=6)))
    objects = [
        f"<</Type/Catalog {entry('Pages', '2 0 R')} {entry('Outlines', '8 0 R')} /OpenAction 9 0 R>>",
        f"<</Type/Pages {entry('Kids', '[3 0 R 4 0 R]')} {entry('Count', '2')}>>",
        f"<</Type/Page {entry('Parent', '2 0 R')} {entry('MediaBox', '[0 0 612 792]')} "
        f"{entry('Contents', '5 0 R')} {entry('Resources', '7 0 R')}>>",
        f"<</Type/Page {entry('Parent', '2 0 R')} /MediaBox [0 0 {draw(NUMBERS)} {draw(NUMBERS)}] "
        f"{entry('Contents', '[5 0 R 5 0 R]')} {entry('Resources', '7 0 R')} /Rotate {draw(NUMBERS)}>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        f"<</Type/XObject/Subtype/Form {entry('BBox', '[0 0 612 792]')} {entry('Resources', '7 0 R')} "
        f"/Length {len(form)}>>stream\n{form}\nendstream",
        f"<</Font<</F<</Type/Font/Subtype/Type1 {entry('BaseFont', '/Helvetica')}>>>> "
        f"{entry('XObject', '<</X 6 0 R>>')} {entry('ExtGState', '<</GS<</ca 0>>>>')}>>",
        f"<</Type/Outlines {entry('First', '8 0 R')} {entry('Next', '8 0 R')}>>",
        "<</S/JavaScript/JS(app.launchURL('http://127.0.0.1:9'))>>",
    ]
    return pdf_of(objects)


def pdf_of(objects: list[str], catalog: int = 1) -> bytes:
    """A PDF of these objects, numbered from 1."""
    data = b"%PDF-1.7\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1", "replace")
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    table += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    trailer = f"trailer\n<</Size {len(objects) + 1}/Root {catalog} 0 R>>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + table + trailer.encode()


def any_html(pieces: str, encoding: str, charset: str) -> bytes:
    return f"<meta charset={charset}>{pieces}".encode(encoding, "ignore")


FILES = {
    "text": ("a.txt", st.builds(lambda text, name: text.encode(name, "ignore"), prose, encodings)),
    "markdown": ("a.md", prose.map(lambda text: text.encode("utf-8", "ignore"))),
    "html": ("a.html", st.builds(any_html, prose, encodings, charsets)),
    "docx": ("a.docx", word_file()),
    "pdf": ("a.pdf", pdf_file()),
    **{f"mutated {suffix}": (f"a{suffix}", mutated(data)) for suffix, data in ORIGINALS.items()},
}


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.mark.parametrize("kind", FILES)
@FEW
@given(data=st.data())
def test_any_file_becomes_sound_chunks_or_one_typed_error(folder, kind, data):
    name, contents = FILES[kind]
    path = folder / name
    path.write_bytes(data.draw(contents))
    read_lawfully(path)


@pytest.mark.soak
@pytest.mark.parametrize("kind", FILES)
@MANY
@given(data=st.data())
def test_many_files_become_sound_chunks_or_one_typed_error(folder, kind, data):
    name, contents = FILES[kind]
    path = folder / name
    path.write_bytes(data.draw(contents))
    read_lawfully(path)
