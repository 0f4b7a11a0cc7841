"""Reads as much of CSS as tells which parts of a page nobody sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lxml import etree

Declarations = Mapping[str, str]
Colour = tuple[int, int, int]

MOST_RULES = 2_000
"""Rules of a page that are looked at: more would make every element dear."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE | re.DOTALL)
_PIECE = re.compile(r"[{}]|[^{}]+")
_SIMPLE = re.compile(r"([a-z][a-z0-9]*|\*)?((?:[.#][\w-]+)*)", re.IGNORECASE)
_ALWAYS = re.compile(r"@media\s+(?:all|screen|only\s+screen)|@layer\b[^;]*", re.IGNORECASE)
_RELEVANT = re.compile(
    r"display|visib|opacity|colou?r|backgr|font|posit|left|right|top|bottom|indent|clip|transf|width|height|overf|decor|list"
)
_LENGTH = re.compile(
    r"([+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))\s*(px|pt|pc|in|cm|mm|em|rem|ex|ch|vw|vh|%)?"
)
_PIXELS = {"px": 1.0, "": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "rem": 16.0}
_PIXELS |= {"vw": 10.0, "vh": 8.0}
_NAMED: Mapping[str, Colour] = {
    "white": (255, 255, 255),
    "snow": (255, 250, 250),
    "ivory": (255, 255, 240),
    "ghostwhite": (248, 248, 255),
    "whitesmoke": (245, 245, 245),
    "black": (0, 0, 0),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
    "silver": (192, 192, 192),
    "navy": (0, 0, 128),
}
_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})")
_TRANSPARENT = re.compile(
    r"transparent|(?:rgb|hsl)a?\([^()]{1,60}[,/]\s*0*\.?0*%?\s*\)|#[0-9a-f]{3}0|#[0-9a-f]{6}00"
)


def declarations(style: str) -> dict[str, str]:
    """The declarations of a style, names and values in lower case; of two with one name the last."""
    plain = _ESCAPE.sub(_unescaped, _COMMENT.sub("", style)) if "/*" in style or "\\" in style else style
    pairs = (one.partition(":") for one in plain.lower().split(";"))
    return {name.strip(): value.replace("!important", "").strip() for name, _, value in pairs if value}


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return str(escape[2])
    code = int(escape[1], 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def pixels(value: str, font_size: float) -> float | None:
    """A length in pixels; None for what is none. `font_size` is that of the element, in pixels."""
    match = _LENGTH.fullmatch(value)
    if match is None:
        return None
    number, unit = float(match[1]), match[2] or ""
    if unit in ("em", "ex", "ch", "%"):
        return number * font_size * (0.01 if unit == "%" else 1)
    return number * _PIXELS[unit]


def is_transparent(value: str) -> bool:
    """Whether a colour lets everything through."""
    return _TRANSPARENT.fullmatch(value) is not None


def colour(value: str) -> Colour | None:
    """Red, green and blue, 0 to 255, of a colour or of a background that names one; None where unknown."""
    if "url(" in value or "gradient" in value:
        return None
    if match := _HEX.search(value):
        digits = match[1]
        wide = digits if len(digits) > 4 else "".join(digit * 2 for digit in digits)
        return int(wide[:2], 16), int(wide[2:4], 16), int(wide[4:6], 16)
    if match := _RGB.search(value):
        return int(match[1]), int(match[2]), int(match[3])
    return next((_NAMED[word] for word in value.split() if word in _NAMED), None)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule for elements of one kind: `p.small#first`, without anything about where they stand."""

    tag: str
    ids: frozenset[str]
    classes: frozenset[str]
    declared: Declarations
    order: int

    def weight(self) -> tuple[int, int, int, int]:
        return len(self.ids), len(self.classes), bool(self.tag), self.order

    def fits(self, tag: str, element_id: str, classes: frozenset[str]) -> bool:
        return self.tag in ("", tag) and self.ids <= {element_id} and self.classes <= classes


class Stylesheet:
    """The rules of a page's `<style>` elements that hold for every screen.

    Rules whose selectors say where an element stands (`nav a`, `p:hover`) are not read.
    """

    def __init__(self, root: etree._Element) -> None:
        self._by_name: dict[str, list[_Rule]] = {}
        order = 0
        for sheet in root.iter("style"):
            for selector, declared in _rules("".join(map(str, sheet.itertext()))):
                if order < MOST_RULES:
                    order += self._add(selector, declared, order)

    def _add(self, selectors: str, declared: Declarations, order: int) -> bool:
        for selector in selectors.split(","):
            match = _SIMPLE.fullmatch(selector.strip())
            if match is None or not selector.strip():
                continue
            names = re.findall(r"[.#][\w-]+", match[2])
            tag = (match[1] or "").lower().replace("*", "")
            ids = frozenset(name[1:] for name in names if name[0] == "#")
            classes = frozenset(name[1:] for name in names if name[0] == ".")
            self._by_name.setdefault(names[-1] if names else tag, []).append(
                _Rule(tag, ids, classes, declared, order)
            )
        return True

    def of(self, element: etree._Element) -> Declarations:
        """What the sheets and the element's own `style` declare for it."""
        own = element.get("style")
        if not self._by_name:
            return declarations(own) if own else {}
        classes = frozenset(element.get("class", "").split())
        element_id = element.get("id", "")
        names = ["", element.tag, f"#{element_id}", *(f".{name}" for name in classes)]
        rules = [
            rule
            for name in names
            for rule in self._by_name.get(name, ())
            if rule.fits(element.tag, element_id, classes)
        ]
        merged: dict[str, str] = {}
        for rule in sorted(rules, key=_Rule.weight):
            merged.update(rule.declared)
        return merged | declarations(own) if own else merged


def _rules(sheet: str) -> Iterator[tuple[str, Declarations]]:
    """Selectors and declarations of the rules that hold for every screen and say anything of interest."""
    preludes: list[str] = []
    last = ""
    for piece in _PIECE.findall(_COMMENT.sub("", sheet)):
        if piece == "{":
            preludes.append(last.rpartition(";")[2].strip())
            last = ""
        elif piece == "}":
            prelude = preludes.pop() if preludes else ""
            declared = declarations(last) if prelude and prelude[0] != "@" else {}
            if _RELEVANT.search(" ".join(declared)) and all(map(_ALWAYS.fullmatch, preludes)):
                yield prelude, declared
            last = ""
        else:
            last = piece
