"""Puts text in the place of elements that show words in other ways: fields, drawings, formulas.

What shows something that cannot be read as text (an image, a canvas, a film) leaves the sign of a gap, so
that the sentence around it counts as incomplete. A field or a drawing that stands in a block of its own is no
part of the text; in the middle of a sentence it is a word of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lxml import etree

from services.ingest.parsing.html_text import squeeze, visible_text
from services.ingest.parsing.raised import GAP, for_tree, plain_formula, raised

CONTROL, CONTROL_END = "\ufdd6", "\ufdd7"
"""Around the words of a field or drawing, between the other signs of `raised`."""
BLANK = "____"
"""An empty field."""
MARK_SIZE = 3
"""Pixels; what is no larger carries no word: images that count readers or keep distances."""
_CONTROLS = re.compile(f"{CONTROL}[^{CONTROL_END}]*{CONTROL_END}")
_FRACTION = re.compile(r"\d+/\d+")
_WRITES = re.compile(
    r"\bwrite|innerHTML|innerText|textContent|insertAdjacent|append|replaceWith|createTextNode"
)


def show(root: etree._Element) -> None:
    """Put the text that readers see in place of such elements of a tree, and of ruby."""
    # A list keeps hold of the elements: lxml climbs the tree whenever it lets go of one.
    found = list(root.iter(*_WORDS))
    for element in reversed(found):
        text = _WORDS[element.tag](element)
        if text is not None:
            _become(element, text)


def without_lone_controls(text: str) -> str:
    """The text of a block; empty where it consists of fields and drawings alone."""
    if CONTROL not in text and GAP not in text:
        return text
    rest = _CONTROLS.sub("", text)
    if not any(map(str.isalnum, rest)):
        return ""
    return re.sub(" {2,}", " ", text.replace(CONTROL, "").replace(CONTROL_END, ""))


def _become(element: etree._Element, text: str) -> None:
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = "span", text, tail


def _control(text: str) -> str:
    return f"{CONTROL}{text}{CONTROL_END}"


def _said(element: etree._Element, name: str) -> str:
    return for_tree(element.get(name, ""))


def _button(element: etree._Element) -> str:
    return _control(visible_text(element))


def _field(element: etree._Element) -> str | None:
    kind = element.get("type", "text").strip().lower()
    value = _said(element, "value")
    if kind == "hidden":
        return ""
    if kind in ("checkbox", "radio"):
        return _control(" ☒ " if element.get("checked") is not None else " ☐ ")
    if kind == "image":
        return _control(_said(element, "alt")) + GAP
    if kind in ("range", "color", "file", "password"):
        return GAP
    if kind in ("submit", "reset") and not value:
        return _control(kind.capitalize())
    return _control(value or _said(element, "placeholder") or BLANK)


def _area(element: etree._Element) -> str:
    return _control(squeeze("".join(map(str, element.itertext()))) or _said(element, "placeholder") or BLANK)


def _choice(element: etree._Element) -> str:
    """What a list of choices shows: the chosen one, else the first; all of one that is open."""
    options = list(element.iter("option"))
    chosen = [option for option in options if option.get("selected") is not None]
    is_open = element.get("multiple") is not None or element.get("size", "1") not in ("", "0", "1")
    shown = options if is_open else chosen[-1:] or options[:1]
    return _control(" ".join(_said(option, "label") or visible_text(option) for option in shown))


def _image(element: etree._Element) -> str:
    if _is_tiny(element):
        return ""
    return _control(_said(element, "alt")) + GAP


def _is_tiny(element: etree._Element) -> bool:
    sizes = [element.get(name, "").removesuffix("px") for name in ("width", "height")]
    return any(size.isdecimal() and len(size) < 5 and int(size) <= MARK_SIZE for size in sizes)


def _drawing(element: etree._Element) -> str:
    """The words of an SVG; whatever else it draws may be letters too."""
    words = [squeeze("".join(map(str, text.itertext()))) for text in element.iter("text")]
    only_words = all(
        part.tag in ("svg", "g", "text", "tspan", "title", "desc", "defs", "style", "a")
        for part in element.iter()
    )
    return _control(" ".join(filter(None, words))) + ("" if only_words and words else GAP)


def _gap(element: etree._Element) -> str:
    return "" if _is_tiny(element) else GAP


def _embedded(element: etree._Element) -> None:
    """A gap; lxml takes what follows for its content, which stays."""
    element.tag, element.text = "span", GAP + (element.text or "")


def _unscripted(element: etree._Element) -> str | None:
    """What stands for those whose browser runs no scripts: nobody knows what stands for the others."""
    has_words = any(str(text).strip() for text in element.itertext())
    return GAP if has_words and not _in_head(element) else None


def _in_head(element: etree._Element) -> bool:
    return next(element.iterancestors("head"), None) is not None


def _script(element: etree._Element) -> str | None:
    return GAP if _WRITES.search(element.text or "") and not _in_head(element) else None


def _template(element: etree._Element) -> str | None:
    return None if element.get("shadowrootmode") is None else GAP


def _annotation(element: etree._Element) -> str:
    """The small words above others, apart from them."""
    text = visible_text(element)
    return f" ({text}) " if text else ""


def _nothing(_element: etree._Element) -> str:
    return ""


_MATH: dict[str, tuple[str, ...]] = {
    "mfrac": ("(", ")/(", ")"),
    "msup": ("", "^(", ")"),
    "msub": ("", "_(", ")"),
    "msubsup": ("", "_(", ")^(", ")"),
    "munder": ("", "_(", ")"),
    "mover": ("", "^(", ")"),
    "munderover": ("", "_(", ")^(", ")"),
    "mroot": ("(", ")^(1/", ")"),
}
"""What stands before, between and after the parts of a formula in one line."""


def _formula(element: etree._Element) -> str:
    """A formula in one line."""
    written: list[str] = []
    waiting: list[etree._Element | str] = [element]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            written.append(part)
            continue
        if part.tag in ("annotation", "annotation-xml", "mphantom"):
            continue
        written.append((part.text or "").strip())
        signs = _MATH.get(str(part.tag), ("√(", ")") if part.tag == "msqrt" else ())
        inside: list[etree._Element | str] = []
        for index, child in enumerate(part):
            inside += [*signs[index : index + 1], child] if part.tag != "msqrt" else [child]
        if signs:
            inside = [*inside, signs[-1]] if part.tag != "msqrt" else [signs[0], *inside, signs[1]]
        if part.tag in ("mtr", "mtable", "mtext", "mspace"):
            inside = [" ", *inside, " "]
        waiting.extend(reversed(inside))
    text = plain_formula("".join(written))
    return raised(text) if _FRACTION.fullmatch(text) else text


_WORDS: dict[str, Callable[[etree._Element], str | None]] = {
    "button": _button,
    "input": _field,
    "textarea": _area,
    "select": _choice,
    "img": _image,
    "svg": _drawing,
    "math": _formula,
    "canvas": _gap,
    "object": _gap,
    "embed": _embedded,
    "video": _gap,
    "iframe": _gap,
    "meter": _gap,
    "progress": _gap,
    "noscript": _unscripted,
    "script": _script,
    "template": _template,
    "rt": _annotation,
    "rp": _nothing,
}
"""What readers see of an element; None leaves it as it is."""
