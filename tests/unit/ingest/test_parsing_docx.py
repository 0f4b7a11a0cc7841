from __future__ import annotations

import io
import zipfile

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import RGBColor

from services.ingest.documents import BlockKind
from services.ingest.errors import (
    DocumentCorrupt,
    DocumentEmpty,
    DocumentEncrypted,
    DocumentFormatMismatch,
    DocumentTooLarge,
)
from services.ingest.parsing.docx import parse_docx
from services.ingest.parsing.limits import ParsingLimits

DEFAULT = ParsingLimits()


@pytest.fixture
def parse(tmp_path):
    def parse_file(content, limits=DEFAULT):
        path = tmp_path / "file.docx"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            content.save(str(path))
        return parse_docx(path, limits)

    return parse_file


def blocks(document):
    return [(block.kind, document.text[block.span.start : block.span.end]) for block in document.blocks]


def saved(document) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def with_part(content: bytes, name: str, xml: str, relation: str) -> bytes:
    """The package with one more part, related to the main one."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename == "word/_rels/document.xml.rels":
                data = data.replace(
                    b"</Relationships>",
                    f'<Relationship Id="rIdX" Type="{relation}" Target="{name}"/></Relationships>'.encode(),
                )
            if entry.filename == "[Content_Types].xml":
                override = f'<Override PartName="/word/{name}" ContentType="application/xml"/></Types>'
                data = data.replace(b"</Types>", override.encode())
            new.writestr(entry.filename, data)
        new.writestr(f"word/{name}", xml)
    return buffer.getvalue()


def append(document, xml: str) -> None:
    document.element.body.insert(len(document.element.body) - 1, parse_xml(xml))


def paragraph(inner: str) -> str:
    return f"<w:p {nsdecls('w')}>{inner}</w:p>"


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def test_headings_paragraphs_and_tables_come_in_document_order(parse):
    document = docx.Document()
    document.core_properties.title = "Licence"
    document.add_heading("Fees", level=2)
    document.add_paragraph("They are due.")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["Product", "Fee", "Top", "1"], strict=True):
        cell.text = text
    document.add_paragraph("After.")

    parsed = parse(document)

    assert parsed.title == "Licence"
    assert parsed.blocks[0].level == 2
    assert blocks(parsed) == [
        (BlockKind.HEADING, "Fees"),
        (BlockKind.PARAGRAPH, "They are due."),
        (BlockKind.TABLE_HEADER, "Product | Fee"),
        (BlockKind.TABLE_ROW, "Top | 1"),
        (BlockKind.PARAGRAPH, "After."),
    ]


def test_an_outline_level_makes_a_heading(parse):
    document = docx.Document()
    append(document, paragraph(f'<w:pPr><w:outlineLvl w:val="2"/></w:pPr>{run("Scope")}'))

    parsed = parse(document)

    assert blocks(parsed) == [(BlockKind.HEADING, "Scope")]
    assert parsed.blocks[0].level == 3


def test_list_paragraphs_carry_the_numbers_that_word_shows(parse):
    document = docx.Document()
    for text in ("first", "second"):
        document.add_paragraph(text, style="List Number")
    document.add_paragraph("point", style="List Bullet")

    assert blocks(parse(document)) == [
        (BlockKind.LIST_ITEM, "1. first"),
        (BlockKind.LIST_ITEM, "2. second"),
        (BlockKind.LIST_ITEM, "• point"),
    ]


def test_inserted_text_is_read_and_deleted_and_hidden_text_is_not(parse):
    document = docx.Document()
    append(
        document,
        paragraph(
            run("The fee is ")
            + '<w:del w:id="1" w:author="a"><w:r><w:delText>USD 3</w:delText></w:r></w:del>'
            + f'<w:ins w:id="2" w:author="a">{run("USD 4")}</w:ins>'
            + run(" secretly", "<w:vanish/>")
            + run(" a month.")
        ),
    )

    parsed = parse(document)
    assert parsed.text == "The fee is USD 4 a month."
    assert parsed.hidden_characters == len("secretly")


@pytest.mark.parametrize(
    "properties",
    [
        '<w:sz w:val="1"/>',
        '<w:color w:val="FFFFFF"/>',
        '<w:color w:val="FF0000"/><w:shd w:val="clear" w:fill="FF0101"/>',
        '<w:rStyle w:val="Secret"/>',
        '<w:vanish w:val="true"/>',
    ],
    ids=["tiny", "white", "red on red", "style", "vanish"],
)
def test_runs_that_word_does_not_show_are_left_out_and_counted(parse, properties):
    document = docx.Document()
    style = document.styles.add_style("Secret", WD_STYLE_TYPE.CHARACTER)
    style.font.hidden = True
    append(document, paragraph(run("Shown") + run(" secretly", properties)))
    header = document.sections[0].header.paragraphs[0]._p
    header.append(parse_xml(paragraph(run("head", properties)))[0])

    parsed = parse(document)
    assert parsed.text == "Shown"
    assert parsed.hidden_characters == len("secretlyhead")


@pytest.mark.parametrize(
    "properties",
    [
        '<w:vanish w:val="0"/>',
        '<w:color w:val="FFFFFF"/><w:highlight w:val="black"/>',
        '<w:color w:val="auto"/>',
        '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="000080"/>',
        '<w:sz w:val="16"/>',
    ],
    ids=["not vanished", "on a highlight", "automatic", "on a shade", "small"],
)
def test_runs_that_word_shows_are_kept(parse, properties):
    document = docx.Document()
    append(document, paragraph(run("Shown", properties)))

    assert (parse(document).text, parse(document).hidden_characters) == ("Shown", 0)


@pytest.mark.parametrize("cell", [True, False], ids=["shaded cell", "styled table"])
def test_white_words_of_a_coloured_table_are_kept(parse, cell):
    document = docx.Document()
    table = document.add_table(1, 2, None if cell else "Light Shading")
    for index, text in enumerate(("Fee", "Amount")):
        table.cell(0, index).paragraphs[0].add_run(text).font.color.rgb = RGBColor(255, 255, 255)
        if cell:
            shade = parse_xml(f'<w:shd {nsdecls("w")} w:val="clear" w:fill="1F3864"/>')
            table.cell(0, index)._tc.get_or_add_tcPr().append(shade)

    assert parse(document).text == "Fee | Amount"


@pytest.mark.parametrize(
    "properties", ["<w:strike/>", '<w:dstrike/><w:strike w:val="0"/>', '<w:rStyle w:val="Old"/>']
)
def test_struck_out_text_is_left_out_and_is_not_hidden(parse, properties):
    document = docx.Document()
    document.styles.add_style("Old", WD_STYLE_TYPE.CHARACTER).font.strike = True
    append(
        document,
        paragraph(run("The fee is USD ") + run("100", properties) + run("200", '<w:strike w:val="0"/>')),
    )
    parsed = parse(document)

    assert (parsed.text, parsed.hidden_characters) == ("The fee is USD 200", 0)


def test_a_deleted_row_of_a_table_is_left_out(parse):
    document = docx.Document()
    table = document.add_table(2, 2)
    for row, words in zip(table.rows, (("Old", "USD 100"), ("New", "USD 200")), strict=True):
        for cell, word in zip(row.cells, words, strict=True):
            cell.text = word
    deleted = parse_xml(f'<w:trPr {nsdecls("w")}><w:del w:id="1" w:author="a"/></w:trPr>')
    table.rows[0]._tr.insert(0, deleted)

    assert parse(document).text == "New | USD 200"


FIELD = '<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{}</w:ffData></w:fldChar></w:r>'
CHOICES = '<w:listEntry w:val="Gold"/><w:listEntry w:val="Silver"/>'


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ('<w:r><w:sym w:font="Symbol" w:char="F0A3"/></w:r>', "≤"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', "☑"),
        ('<w:r><w:sym w:font="Arial" w:char="00A7"/></w:r>', "§"),
        ('<w:r><w:sym w:font="Webdings" w:char="F041"/></w:r>', "\ufffd"),
        ('<w:r><w:sym w:font="Symbol" w:char="none"/></w:r>', "\ufffd"),
        (FIELD.format('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>'), "☒"),
        (FIELD.format('<w:checkBox><w:default w:val="0"/></w:checkBox>'), "☐"),
        (FIELD.format(f'<w:ddList><w:result w:val="1"/>{CHOICES}</w:ddList>'), "Silver"),
        (FIELD.format(f'<w:ddList><w:result w:val="7"/>{CHOICES}</w:ddList>'), ""),
    ],
    ids=[
        "less or equal",
        "ticked",
        "a letter",
        "unknown",
        "no code",
        "box",
        "empty box",
        "choice",
        "no choice",
    ],
)
def test_symbols_and_form_fields_are_read_as_they_are_drawn(parse, part, shown):
    document = docx.Document()
    append(document, paragraph(run("A ") + part + run(" B")))

    assert parse(document).text == " ".join(f"A {shown} B".split())


def test_a_formula_is_written_in_one_line_without_losing_what_binds_its_parts(parse):
    def term(text):
        return f"<m:r><m:t>{text}</m:t></m:r>"

    fraction = f"<m:f><m:num>{term('new')}</m:num><m:den>{term('old')}</m:den></m:f>"
    power = f"<m:sSup><m:e>{term('x')}</m:e><m:sup>{term('2')}</m:sup></m:sSup>"
    formula = f"{term('fee ×')}{fraction}<m:d><m:e>{term('a+b')}</m:e></m:d>{power}"
    maths = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    document = docx.Document()
    append(document, paragraph(f"{run('Rate = ')}<m:oMath {maths}>{formula}</m:oMath>"))

    assert parse(document).text == "Rate = fee ×(new)/(old)(a+b)x^2"


def numbered(*levels: tuple[str, int], definitions: str):
    """A document whose paragraphs are in lists, `(number, depth)`, that `definitions` says how to count."""
    document = docx.Document()
    part = document.part.numbering_part.element
    for child in list(part):
        part.remove(child)
    part.extend(parse_xml(f"<w:numbering {nsdecls('w')}>{definitions}</w:numbering>"))
    for number, depth in levels:
        mark = f'<w:pPr><w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr></w:pPr>'
        append(document, paragraph(mark + run("x")))
    return document


def level(depth: int, form: str, text: str, more: str = "") -> str:
    counting = f'<w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{depth}">{counting}</w:lvl>'


def test_a_list_that_a_list_style_describes_carries_its_numbers(parse):
    document = numbered(
        ("2", 0),
        definitions='<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="Legal"/></w:abstractNum>'
        '<w:abstractNum w:abstractNumId="1"><w:styleLink w:val="Legal"/>'
        f"{level(0, 'upperRoman', 'Article %1')}</w:abstractNum>"
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num>',
    )

    assert parse(document).text == "Article I x"


def test_a_list_may_count_a_level_in_its_own_way_and_never_restart_it(parse):
    document = numbered(
        ("1", 0),
        ("1", 1),
        ("1", 0),
        ("1", 1),
        definitions='<w:abstractNum w:abstractNumId="0">'
        + level(0, "decimal", "%1.")
        + level(1, "lowerLetter", "(%2)", '<w:lvlRestart w:val="0"/>')
        + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/>'
        f'<w:lvlOverride w:ilvl="0">{level(0, "upperLetter", "%1)")}</w:lvlOverride></w:num>',
    )

    assert parse(document).text.split("\n\n") == ["A) x", "(a) x", "B) x", "(b) x"]


def test_content_controls_are_read(parse):
    document = docx.Document()
    inner = paragraph(run("Inside a control."))
    append(document, f"<w:sdt {nsdecls('w')}><w:sdtContent>{inner}</w:sdtContent></w:sdt>")

    assert parse(document).text == "Inside a control."


def test_footnotes_follow_the_paragraph_that_calls_them(parse):
    document = docx.Document()
    append(document, paragraph(run("Fees apply") + '<w:r><w:footnoteReference w:id="7"/></w:r>' + run(".")))
    document.add_paragraph("Next.")
    notes = (
        f'<w:footnotes {nsdecls("w")}><w:footnote w:id="7">{paragraph(run("Except to academics."))}'
        "</w:footnote></w:footnotes>"
    )
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"

    parsed = parse(with_part(saved(document), "footnotes.xml", notes, relation))

    assert [text for _, text in blocks(parsed)] == ["Fees apply.", "[1] Except to academics.", "Next."]
    assert parsed.reference_marks == 1


def test_headers_and_footers_come_last_without_page_numbers(parse):
    document = docx.Document()
    document.add_paragraph("Body.")
    document.sections[0].header.paragraphs[0].text = "Confidential draft of Tarnholm"
    document.sections[0].footer.paragraphs[0].text = "Page 1 of 3"

    assert [text for _, text in blocks(parse(document))] == ["Body.", "Confidential draft of Tarnholm"]


def test_a_vertically_merged_cell_is_written_once(parse):
    document = docx.Document()
    table = document.add_table(rows=3, cols=2)
    for cell, text in zip(table._cells, ["Product", "Fee", "Top", "1", "", "2"], strict=True):
        cell.text = text
    table.cell(1, 0).merge(table.cell(2, 0))

    assert [text for _, text in blocks(parse(document))] == ["Product | Fee", "Top | 1", "| 2"]


def test_a_package_that_is_cut_off_is_corrupt(parse):
    document = docx.Document()
    document.add_paragraph("Text.")
    content = saved(document)

    with pytest.raises(DocumentCorrupt):
        parse(content[: len(content) // 2])


def zipped(**parts: str | bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


def test_a_package_without_its_main_part_is_corrupt(parse):
    with pytest.raises(DocumentCorrupt):
        parse(zipped(**{"[Content_Types].xml": "<Types/>", "word/other.xml": "<a/>"}))


@pytest.mark.parametrize("name", ["a.txt", "xl/workbook.xml"])
def test_another_archive_is_no_docx(parse, name):
    with pytest.raises(DocumentFormatMismatch):
        parse(zipped(**{name: "text"}))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(parse):
    bomb = zipped(**{"[Content_Types].xml": "<Types/>", "word/document.xml": b"\0" * 5_000_000})

    with pytest.raises(DocumentTooLarge):
        parse(bomb, ParsingLimits(max_unpacked_bytes=1_000_000))


def test_an_encrypted_docx_is_told_from_an_old_doc(parse):
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600

    with pytest.raises(DocumentEncrypted):
        parse(ole + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(DocumentFormatMismatch):
        parse(ole + "WordDocument".encode("utf-16-le"))


def test_a_docx_without_words_is_empty(parse):
    with pytest.raises(DocumentEmpty):
        parse(docx.Document())


def test_entities_of_a_hostile_part_are_not_expanded(parse):
    document = docx.Document()
    document.add_paragraph("Harmless.")
    content = saved(document)
    bomb = '<!DOCTYPE a [<!ENTITY b "xxxxxxxxxx"><!ENTITY c "&b;&b;&b;&b;">]>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for entry in old.infolist():
            data = old.read(entry).decode("utf-8", "replace")
            if entry.filename == "word/document.xml":
                head, body = data.split("?>", 1)
                data = f"{head}?>{bomb}{body}".replace("Harmless.", "Harmless.&c;")
            new.writestr(entry.filename, data)

    assert parse(buffer.getvalue()).text == "Harmless."


M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
INLINE = 'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
V = 'xmlns:v="urn:schemas-microsoft-com:vml"'


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        (f"<w:r><w:drawing><wp:inline {INLINE}/></w:drawing></w:r>", "shall copy"),
        ("<w:r><w:object/></w:r>", "shall copy"),
        (
            f'<w:r><w:pict><v:shape {V} style="width:9pt"><v:imagedata/></v:shape></w:pict></w:r>',
            "shall copy",
        ),
        ("<w:r><w:instrText>EQ \\f(1,2)</w:instrText></w:r>", "shall copy"),
        ('<w:fldSimple w:instr=" SYMBOL 174 "/>', "shall copy"),
    ],
    ids=["picture", "object", "old picture", "formula field", "symbol field"],
)
def test_a_sentence_with_a_drawing_in_it_is_incomplete(parse, drawn, read):
    document = docx.Document()
    append(document, paragraph(run("shall ") + drawn + run("copy")))

    parsed = parse(document)

    assert parsed.text == read
    assert [doubt.kind.value for doubt in parsed.doubts] == ["missing_words"]


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        (f'<w:r><w:pict><v:shape {V}><v:textpath string="not"/></v:shape></w:pict></w:r>', "shall not copy"),
        (
            "<w:ruby><w:rt>" + run("1") + "</w:rt><w:rubyBase>" + run("50") + "</w:rubyBase></w:ruby>",
            "shall (1) 50 copy",
        ),
        ("<w:r><w:t>not</w:t><w:ptab/></w:r>", "shall not copy"),
        ("<w:r><w:rPr><w:caps/></w:rPr><w:t>not</w:t></w:r>", "shall NOT copy"),
        (f"<m:oMath {M}><m:r><m:t>not</m:t></m:r></m:oMath>", "shall not copy"),
        ("<w:ins><w:r><w:t>not</w:t></w:r></w:ins>", "shall not copy"),
    ],
    ids=["word art", "ruby", "tab", "capitals", "formula", "inserted"],
)
def test_words_that_are_drawn_otherwise_are_read(parse, drawn, read):
    document = docx.Document()
    append(document, paragraph(run("shall ") + drawn + run(" copy")))

    parsed = parse(document)

    assert (parsed.text, parsed.doubts) == (read, ())


def test_a_note_that_is_called_in_a_cell_follows_the_table(parse):
    document = docx.Document()
    table = document.add_table(2, 2)
    for index, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = ["Fee", "Term", "USD 50", "Month"][index]
    call = parse_xml(f'<w:r {nsdecls("w")}><w:footnoteReference w:id="7"/></w:r>')
    table.cell(1, 0).paragraphs[0]._p.append(call)
    note = f'<w:footnote w:id="7">{paragraph(run("Net of VAT."))}</w:footnote>'
    notes = f"<w:footnotes {nsdecls('w')}>{note}</w:footnotes>"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"

    parsed = parse(with_part(saved(document), "footnotes.xml", notes, relation))

    assert [text for _, text in blocks(parsed)] == ["Fee | Term", "USD 50 | Month", "[1] Net of VAT."]
    assert parsed.reference_marks == 1
