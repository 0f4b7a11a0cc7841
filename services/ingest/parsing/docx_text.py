"""What of a paragraph of a Word document is text: runs, symbols, form fields and formulas."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from services.ingest.parsing.numbering import W
from services.ingest.parsing.raised import GAP, plain_formula

FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SKIPPED = {f"{W}{name}" for name in ("del", "moveFrom", "txbxContent", "pPr", "rPr")} | {FALLBACK}
_TEXTS = (f"{W}t", f"{_M}t")
_CHARACTERS = {
    f"{W}tab": " ",
    f"{W}ptab": " ",
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "-",
    f"{W}softHyphen": "\u00ad",
}
_SYMBOLS = {
    "symbol": "\xa3≤\xb3≥\xb1±\xb4×\xb8÷\xb9≠\xbb≈\xb0°\xb7•\x2d−\xa5∞\xd2®\xd3©\xd4™\xb2″\xa2′\xe5∑\xd6√",
    "wingdings": "\xa8☐\x6f☐\x71☐\xfe☑\xfd☒\x78☒\xfc✓\xfb✗\x6c●\x6e■\xa7▪\x9f•\xd8➢\xe0→\x76❖",
    "wingdings 2": "\xa3☐\x52☑\x53☒\x50✓\x4f✗",
}
"""By font: a character's code, and what it draws. What a contract hangs on is among them; the rest is drawn
as U+FFFD, so that nobody takes a sentence for whole."""
_FRAMES = {
    f"{_M}num": ("(", ")"),
    f"{_M}den": ("/(", ")"),
    f"{_M}sup": ("^(", ")"),
    f"{_M}sub": ("_(", ")"),
    f"{_M}rad": ("√(", ")"),
}
"""What stands around parts of a formula when it is written in one line."""
_DRAWN_FIELDS = ("EQ", "SYMBOL", "LISTNUM", "ADVANCE")
"""Fields that show something without holding it as text."""
_INLINE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}inline"
_V = "{urn:schemas-microsoft-com:vml}"


def paragraph_text(paragraph: etree._Element, marks: Mapping[etree._Element, str] | None = None) -> str:
    """The text of a `w:p` as Word shows it, without its number; `marks` stand for references to notes.

    What is drawn in a line and is no text leaves the sign of a gap (see `building`).
    """
    pieces: list[str] = []
    waiting: list[etree._Element | str] = [paragraph]
    while waiting:
        element = waiting.pop()
        if isinstance(element, str):
            pieces.append(element)
        elif element.tag in _TEXTS:
            pieces.append(element.text or "")
        elif element.tag not in _SKIPPED:
            pieces.append(marks.get(element, "") if marks else "")
            before, after = _drawn(element)
            waiting.extend((after, *reversed(element), before))
    text = "".join(pieces)
    text = plain_formula(text) if ")" in text and ("^(" in text or "_(" in text or ")/(" in text) else text
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def _drawn(element: etree._Element) -> tuple[str, str]:
    """What an element shows before and after what is in it."""
    if element.tag in _CHARACTERS:
        return _CHARACTERS[element.tag], ""
    if element.tag in _READERS:
        return _READERS[element.tag](element), ""
    if element.tag == f"{W}rt":
        return " (", ") "
    if element.tag == f"{_M}d":
        return _said(element, f"{_M}dPr/{_M}begChr", "("), _said(element, f"{_M}dPr/{_M}endChr", ")")
    if element.tag == f"{_M}naryPr":
        return _said(element, f"{_M}chr", "∫"), ""
    if element.tag in _FRAMES and any(text.text for text in element.iter(f"{_M}t")):
        return _FRAMES[element.tag]
    return "", ""


def _field(element: etree._Element) -> str:
    """The sign of a gap for a field that draws something."""
    code = (element.text or "") if element.tag == f"{W}instrText" else element.get(f"{W}instr", "")
    return GAP if code.upper().split()[:1] and code.upper().split()[0] in _DRAWN_FIELDS else ""


def _picture(element: etree._Element) -> str:
    """The sign of a gap for what is drawn in a line; the words of an old WordArt."""
    if element.tag == f"{W}object" or element.find(_INLINE) is not None:
        return GAP if next(element.iter(f"{W}txbxContent"), None) is None else ""
    words = " ".join(path.get("string", "") for path in element.iter(f"{_V}textpath"))
    if words.strip():
        return words
    shapes = [image.getparent() for image in element.iter(f"{_V}imagedata")]
    return (
        GAP if any(shape is not None and "absolute" not in shape.get("style", "") for shape in shapes) else ""
    )


def _symbol(element: etree._Element) -> str:
    """A character of a font that has its own: files write them in the private area, as F000 and more."""
    try:
        code = int(element.get(f"{W}char", ""), 16)
    except ValueError:
        return "\ufffd"
    known = _SYMBOLS.get(element.get(f"{W}font", "").lower(), "")
    drawn = dict(zip(known[::2], known[1::2], strict=True)).get(chr(code & 0xFF))
    if drawn is not None:
        return drawn
    return chr(code) if 0x20 <= code < 0xD800 and not known else "\ufffd"


def _form_field(element: etree._Element) -> str:
    """The box or the choice that an old form field shows; its text, where it has one, is a run."""
    box = element.find(f"{W}ffData/{W}checkBox")
    if box is not None:
        said = box.find(f"{W}checked")
        said = box.find(f"{W}default") if said is None else said
        ticked = said is not None and said.get(f"{W}val", "1") not in ("0", "false", "off")
        return "☒" if ticked else "☐"
    choices = element.find(f"{W}ffData/{W}ddList")
    if choices is None:
        return ""
    entries = [entry.get(f"{W}val", "") for entry in choices.iterfind(f"{W}listEntry")]
    chosen = choices.find(f"{W}result")
    chosen = choices.find(f"{W}default") if chosen is None else chosen
    index = "0" if chosen is None else chosen.get(f"{W}val", "0")
    return entries[int(index)] if index.isdecimal() and len(index) < 5 and int(index) < len(entries) else ""


def _said(element: etree._Element, path: str, unsaid: str) -> str:
    """The character that a property of a formula names, which may be none."""
    found = element.find(path)
    return unsaid if found is None else found.get(f"{_M}val", "")


_READERS = {
    f"{W}sym": _symbol,
    f"{W}fldChar": _form_field,
    f"{W}instrText": _field,
    f"{W}fldSimple": _field,
    f"{W}drawing": _picture,
    f"{W}pict": _picture,
    f"{W}object": _picture,
}
