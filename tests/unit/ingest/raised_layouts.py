"""Ways in which files raise a figure beside a number, each as a function that writes such a file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from html import escape

import pymupdf

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml"

Writer = Callable[[str, str, str, str], bytes]
"""Takes the text before, what is raised, the text after, and the place: line, heading, item or cell."""


def html(template: str, sheet: str = "") -> Writer:
    """`template` holds {r} for what is raised, and {b} where the number before is set with it."""
    around = {
        "line": "<p>{}</p>",
        "heading": "<h2>{}</h2>",
        "item": "<ol><li>{}</ol>",
        "cell": "<table><tr><th>Fee<th>Term</tr><tr><td>{}<td>Month</tr></table>",
    }

    def write(before: str, raised: str, after: str, place: str) -> bytes:
        line = escape(before) + template.format(r=escape(raised)) + escape(after)
        return f"<style>{sheet}</style>{around[place].format(line)}<p>End.</p>".encode()

    return write


def markdown(template: str) -> Writer:
    around = {
        "line": "{}",
        "heading": "# {}",
        "item": "1. {}",
        "cell": "| Fee | Term |\n|---|---|\n| {} | Month |",
    }

    def write(before: str, raised: str, after: str, place: str) -> bytes:
        return around[place].format(before + template.format(r=raised) + after).encode()

    return write


SMALL = str.maketrans("0123456789-()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁽⁾")


def plain(before: str, raised: str, after: str, place: str) -> bytes:
    start = {"line": "", "heading": "FEES\n\n", "item": "(a) ", "cell": "Fee | "}[place]
    return f"{start}{before}{raised.translate(SMALL)}{after}\n\nEnd.".encode()


def word(properties: str, before_properties: str = "", styles: str = "") -> Writer:
    def write(before: str, raised: str, after: str, place: str) -> bytes:
        line = (
            run(before, before_properties)
            + run(raised, f"<w:rPr>{properties}</w:rPr>")
            + run(after, before_properties)
        )
        return package(placed(line, place), styles)

    return write


def word_note(before: str, raised: str, after: str, place: str) -> bytes:
    """A footnote that Word counts itself."""
    return package(placed(run(before) + '<w:r><w:footnoteReference w:id="2"/></w:r>' + run(after), place))


def run(text: str, properties: str = "") -> str:
    return f'<w:r>{properties}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def placed(line: str, place: str) -> str:
    if place == "cell":
        cells = [f"<w:tc><w:p>{cell}</w:p></w:tc>" for cell in (run("Fee"), run("Term"), line, run("Month"))]
        return f"<w:tbl><w:tr>{cells[0]}{cells[1]}</w:tr><w:tr>{cells[2]}{cells[3]}</w:tr></w:tbl>"
    level = {
        "heading": '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>',
        "item": "<w:pPr><w:ind w:left='9'/></w:pPr>",
    }
    return f"<w:p>{level.get(place, '')}{line}</w:p>"


def package(body: str, styles: str = "") -> bytes:
    """The smallest package that is a Word document."""
    types = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{TYPES}.{kind}+xml"/>'
        for name, kind in (("document", "document.main"), ("styles", "styles"))
    )
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f"{types}</Types>",
        "_rels/.rels": relations("officeDocument", "word/document.xml"),
        "word/_rels/document.xml.rels": relations("styles", "styles.xml"),
        "word/document.xml": f"<w:document {W}><w:body>{body}<w:sectPr/></w:body></w:document>",
        "word/styles.xml": f"<w:styles {W}>{styles}</w:styles>",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def relations(kind: str, target: str) -> str:
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{RELATIONS}/{kind}" Target="{target}"/></Relationships>'
    )


def pdf(size: float, rise: float, *, late: bool = False, font: str = "helv", turned: bool = False) -> Writer:
    """Figures of `size` points, `rise` points above a line of 11 points; drawn after all else when `late`."""

    def write(before: str, raised: str, after: str, place: str) -> bytes:
        document = pymupdf.open()
        page = document.new_page()
        pieces, at = [], 90.0
        for text, points, up in ((before, 11.0, 0.0), (raised, size, rise), (after, 11.0, 0.0)):
            pieces.append((at, text, points, up))
            at += pymupdf.get_text_length(text, fontname=font, fontsize=points)
        order = (0, 2, 1) if late else (0, 1, 2)
        for left, text, points, up in (pieces[index] for index in order):
            point = (300 - up, 700 - left) if turned else (left, 200 - up)
            page.insert_text(point, text, fontsize=points, fontname=font, rotate=90 if turned else 0)
        if place == "cell" and not turned:
            rule(page)
        return bytes(document.tobytes())

    return write


def rule(page: pymupdf.Page) -> None:
    """A table of two columns and two rows around the line."""
    for x in (80, 320, 420):
        page.draw_line((x, 160), (x, 210))
    for y in (160, 185, 210):
        page.draw_line((80, y), (420, y))
    for x, y, text in ((90, 178, "Fee"), (330, 178, "Term"), (330, 200, "Month")):
        page.insert_text((x, y), text, fontsize=11)


def pdf_of_html(before: str, raised: str, after: str, place: str) -> bytes:
    document = pymupdf.open()
    tag = "h2" if place == "heading" else "p"
    document.new_page().insert_htmlbox(
        (72, 72, 500, 300), f"<{tag}>{escape(before)}<sup>{escape(raised)}</sup>{escape(after)}</{tag}>"
    )
    return bytes(document.tobytes())


STYLED = (
    '<w:style w:type="character" w:styleId="Mark"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
)
LAYOUTS: dict[str, tuple[str, Writer]] = {
    "html sup": (".html", html("<sup>{r}</sup>")),
    "html sup in bold": (".html", html("<b><sup>{r}</sup></b>")),
    "html sup in sup": (".html", html("<sup><sup>{r}</sup></sup>")),
    "html sub": (".html", html("<sub>{r}</sub>")),
    "html link in sup": (".html", html('<sup><a href="#n1">{r}</a></sup>')),
    "html sup in link": (".html", html('<a href="#n1"><sup>{r}</sup></a>')),
    "html style": (".html", html('<span style="vertical-align: super">{r}</span>')),
    "html raised by length": (".html", html('<span style="vertical-align: 4px; font-size: 70%">{r}</span>')),
    "html top": (".html", html('<span style="vertical-align: top; font-size: 60%">{r}</span>')),
    "html relative": (".html", html('<i style="position: relative; top: -.4em; font-size: 8px">{r}</i>')),
    "html sheet": (".html", html('<span class="m">{r}</span>', "p span.m, .m { vertical-align: super }")),
    "html variant": (".html", html('<span style="font-variant-position: super">{r}</span>')),
    "html smaller": (".html", html('<span style="font-size: 60%">{r}</span>')),
    "html font": (".html", html('<font size="1">{r}</font>')),
    "html block": (".html", html('<span style="display: block">{r}</span>')),
    "html margin": (".html", html('<span style="margin-left: 1em">{r}</span>')),
    "html float": (".html", html('<span style="float: right">{r}</span>')),
    "html figures": (".html", lambda b, r, a, place: html("{r}")(b, r.translate(SMALL), a, place)),
    "html ruby": (".html", html("<ruby>x<rt>{r}</rt></ruby>")),
    "html note": (".html", html('<a role="doc-noteref" href="#x">{r}</a>')),
    "html before": (".html", html("<b></b>", 'b::before { content: "1"; vertical-align: super }')),
    "word vertAlign": (".docx", word('<w:vertAlign w:val="superscript"/>')),
    "word subscript": (".docx", word('<w:vertAlign w:val="subscript"/>')),
    "word position": (".docx", word('<w:position w:val="8"/><w:sz w:val="14"/>')),
    "word style": (".docx", word('<w:rStyle w:val="Mark"/>', styles=STYLED)),
    "word smaller": (".docx", word('<w:sz w:val="12"/>', '<w:rPr><w:sz w:val="22"/></w:rPr>')),
    "word note": (".docx", word_note),
    "markdown sup": (".md", markdown("<sup>{r}</sup>")),
    "markdown caret": (".md", markdown("^{r}^")),
    "markdown note": (".md", markdown("[^1]")),
    "markdown figures": (".md", lambda b, r, a, place: markdown("{r}")(b, r.translate(SMALL), a, place)),
    "text figures": (".txt", plain),
    "pdf small": (".pdf", pdf(6, 4)),
    "pdf smaller": (".pdf", pdf(7.5, 3, font="tiro")),
    "pdf little smaller": (".pdf", pdf(9.5, 2.5)),
    "pdf as large": (".pdf", pdf(11, 4)),
    "pdf on the line": (".pdf", pdf(6, 0)),
    "pdf lowered": (".pdf", pdf(7, -2.5)),
    "pdf drawn last": (".pdf", pdf(6, 4, late=True)),
    "pdf turned": (".pdf", pdf(6, 4, turned=True)),
    "pdf by html": (".pdf", pdf_of_html),
}
