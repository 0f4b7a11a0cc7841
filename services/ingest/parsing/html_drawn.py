"""What a browser draws of an element besides its words: where they stand, and what sheets put around them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from lxml import etree

from services.ingest.parsing.css import Declarations, Stylesheet, pixels
from services.ingest.parsing.raised import CALL, END, GAP, LOWERED, RAISED, SMALL, for_tree

BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu ol p pre search section summary
    table tbody td tfoot th thead tr ul
    """.split()  # noqa: SIM905 - a list would take a screen
)
"""Elements that begin a line of their own."""
SMALLER = 0.8
"""Share of the size around: type that is no larger is set apart from the numbers beside it."""
APART = 3.0
"""Pixels between two words that a reader takes for a space."""
_SIZES = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
}
_FONT_SIZES = (10.0, 13.0, 16.0, 18.0, 24.0, 32.0, 48.0)
"""Pixels of `<font size>`, 1 to 7."""
_BY_ITSELF = {"sup": 0.83, "sub": 0.83, "small": 0.83}
_SPACED = ("margin-left", "margin-right", "padding-left", "padding-right", "border-left", "border-right")
_CONTENT = re.compile(
    r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(open-quote|close-quote)|attr\(\s*([\w-]+)\s*\)|([\w-]+\([^)]*\))|(/.*)|([\w-]+))""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|\n|(.))", re.DOTALL)
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
"""Characters that mean what a font draws for them, as of icons."""


def font_size(element: etree._Element, value: str, outer: float) -> float:
    """The size of an element's type in pixels; `outer` is that of the element around."""
    if not value or value in ("inherit", "unset"):
        if element.tag == "font":
            return _old_size(element.get("size", ""), outer)
        return outer * _BY_ITSELF.get(str(element.tag), 1.0)
    if value in ("smaller", "larger"):
        return outer * (0.83 if value == "smaller" else 1.2)
    length = pixels(value, outer)
    return _SIZES.get(value, 16.0) if length is None else length


def _old_size(size: str, outer: float) -> float:
    match = re.fullmatch(r"([+-]?)(\d)", size.strip())
    if match is None:
        return outer
    steps = int(match[2]) * (-1 if match[1] == "-" else 1) + (3 if match[1] else 0)
    return _FONT_SIZES[max(1, min(steps, 7)) - 1]


def is_boxed(element: etree._Element, declared: Declarations) -> bool:
    """Whether an element has a box that can be sized, clipped and turned, unlike words of a line."""
    display = declared.get("display", "")
    if declared.get("float", "none") != "none" or declared.get("position") in ("absolute", "fixed"):
        return True
    if display and display not in ("inherit", "unset", "revert", "initial"):
        return display not in ("inline", "contents")
    return element.tag in BLOCKS


def begins_line(element: etree._Element, declared: Declarations) -> bool:
    """Whether an element begins a line of its own and ends it."""
    if element.tag not in BLOCKS:
        return False
    shown = declared.get("display", "block")
    return element.tag in ("body", "html", "li") or shown not in (
        "inline",
        "inline-block",
        "inline-flex",
        "contents",
    )


@dataclass(frozen=True, slots=True)
class Words:
    """What is written before and after the words of an element."""

    before: str = ""
    after: str = ""
    apart: bool = False
    """Whether it stands apart from the words on either side, though markup does not say so."""

    @classmethod
    def of(cls, element: etree._Element, sheet: Stylesheet, shrinks: float, boxed: bool) -> Self:
        """For an element whose type is `shrinks` times that around it; `boxed` where all its siblings are."""
        declared = sheet.of(element)
        sign = _sign(element, declared, shrinks)
        turned = GAP if _is_turned(element, declared) else ""
        before = _generated(element, sheet, "before")
        after = _generated(element, sheet, "after")
        if element.tag == "q" and not before:
            before, after = "“", "”"
        apart = element.tag not in BLOCKS and (boxed or _stands_apart(element, declared))
        return cls(sign + turned + before, after + turned + (END if sign else ""), apart)

    def open(self, element: etree._Element) -> None:
        """Write what stands before an element's words."""
        if self.before or self.apart:
            element.text = f"{' ' if self.apart else ''}{self.before}{element.text or ''}"

    def close(self, element: etree._Element) -> None:
        """Write what stands behind them."""
        ending = self.after + (" " if self.apart else "")
        if not ending:
            return
        if len(element):
            element[-1].tail = (element[-1].tail or "") + ending
        else:
            element.text = (element.text or "") + ending


def _sign(element: etree._Element, declared: Declarations, shrinks: float) -> str:
    """How the words of an element stand in their line: the sign of `raised`, if any."""
    if _calls_note(element):
        return CALL
    sign = _aligned(declared, {"sup": "super", "sub": "sub"}.get(str(element.tag), ""), shrinks)
    return sign or (SMALL if shrinks <= SMALLER and element.tag not in BLOCKS else "")


def _aligned(declared: Declarations, usual: str, shrinks: float) -> str:
    align = declared.get("vertical-align", usual)
    variant = declared.get("font-variant-position", "normal")
    if variant in ("super", "sub"):
        align, shrinks = variant, SMALLER
    step = pixels(align, 16.0) or 0.0
    if declared.get("position") == "relative":
        step += (pixels(declared.get("bottom", ""), 16.0) or 0.0) - (
            pixels(declared.get("top", ""), 16.0) or 0.0
        )
    if (align in ("super", "text-top", "top") and (align == "super" or shrinks < 0.95)) or step >= 2:
        return RAISED
    if align == "sub" or (align in ("text-bottom", "bottom") and shrinks < 0.95) or step <= -2:
        return LOWERED
    return ""


def _calls_note(element: etree._Element) -> bool:
    """Whether an element is the mark of a note: a link within the page that is raised, or said to be one."""
    role = element.get("role", "") + element.get(
        "{http://www.idpf.org/2007/ops}type", element.get("epub:type", "")
    )
    if "noteref" in role:
        return True
    if element.tag != "sup":
        return False
    links = [link for link in element.iter("a") if link.get("href", "").startswith("#")]
    outer = element.getparent()
    is_linked = outer is not None and outer.tag == "a" and outer.get("href", "").startswith("#")
    return bool(links or is_linked)


def _stands_apart(element: etree._Element, declared: Declarations) -> bool:
    if not declared:
        return False
    if is_boxed(element, declared) and declared.get("display") not in ("inline-block", "inline-flex"):
        return True
    return any(_first_length(declared.get(name, "")) >= APART for name in _SPACED)


def _first_length(value: str) -> float:
    return max((pixels(part, 16.0) or 0.0 for part in value.split()), default=0.0)


def _is_turned(element: etree._Element, declared: Declarations) -> bool:
    """Whether an element's words are drawn in another order than they are written."""
    turned = element.tag == "bdo" and element.get("dir", "").lower() == "rtl"
    override = "override" in declared.get("unicode-bidi", "")
    reverse = declared.get("flex-direction", declared.get("flex-flow", "")).find("reverse") >= 0
    moved = declared.get("order", "0") not in ("0", "inherit", "initial", "unset")
    return turned or reverse or moved or (override and declared.get("direction") == "rtl")


def _generated(element: etree._Element, sheet: Stylesheet, name: str) -> str:
    """What a sheet writes before or after an element's words; a gap for what is no text."""
    declared = sheet.pseudo(element, name)
    content = declared.get("content", "")
    if not content or content in ("none", "normal") or _is_unseen(declared):
        return ""
    drawn = "".join(_content(match, element) for match in _CONTENT.finditer(content))
    if name == "before" and element.tag in BLOCKS and GAP in drawn:
        return ""  # the number or bullet of an item, which is no word of its sentence
    sign = _aligned(declared, "", pixels(declared.get("font-size", "1em"), 1.0) or 1.0)
    drawn = f"{sign}{drawn}{END}" if sign else drawn
    return f" {drawn} " if is_boxed(element, declared) and declared.get("display") else drawn


def _content(match: re.Match[str], element: etree._Element) -> str:
    text = match[1] if match[1] is not None else match[2]
    if text is not None:
        plain = _ESCAPE.sub(
            lambda found: chr(min(int(found[1], 16), 0xFFFD)) if found[1] else found[2] or "", text
        )
        return _PRIVATE.sub(GAP, for_tree(plain))
    if match[3]:
        return "“" if match[3] == "open-quote" else "”"
    if match[4]:
        return for_tree(element.get(match[4], ""))
    return GAP if match[5] else ""


def _is_unseen(declared: Declarations) -> bool:
    return (
        declared.get("display") == "none"
        or declared.get("visibility") in ("hidden", "collapse")
        or declared.get("opacity") in ("0", "0.0", "0%")
        or declared.get("font-size") in ("0", "0px")
    )
