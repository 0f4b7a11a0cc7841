"""Takes out of a page the words that its style hides from everybody who looks at it, or strikes out.

Recognised: `hidden`, closed dialogues, `display: none`, `visibility`, `opacity`, tiny type, text in the
colour of its ground, what is moved off the screen, clipped or shrunk to nothing; whether `style`, `<font>` or
a simple rule of `<style>` says so. Not recognised: what scripts hide, rules that say where an element stands,
and text that something else covers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lxml import etree

from services.ingest.parsing.css import Colour, Declarations, Stylesheet, colour, is_transparent, pixels

LEAST_SIZE = 2.0
"""Pixels; smaller type is not read."""
LEAST_OPACITY = 0.05
OFF_SCREEN = -400.0
"""Pixels; what is moved further than this to the left or up is not on the screen."""
SAME_COLOUR = 12
"""Steps, of 255, by which a colour must differ from its ground in red, green or blue."""
WHITE: Colour = (255, 255, 255)
_NUMBER = re.compile(r"\d{0,3}(?:\.\d{0,6})?%?")
_NOTHING_LEFT = re.compile(
    r"rect\(\s*(?:[01](?:px)?[\s,]*){4}\)|inset\(\s*(?:[5-9]\d|100)%\s*\)|circle\(\s*0"
    r"|scale[xy]?\(\s*0(?:\.0\d*)?\s*[,)]|translate[xy]?\(\s*-\d{4,}|opacity\(\s*0%?\s*\)"
)


@dataclass(frozen=True, slots=True)
class _Look:
    """What an element hands on to those inside it."""

    visible: bool = True
    size: float = 16.0
    """Of its type, in pixels."""
    colour: Colour | None = None
    """None where nothing says."""
    clear: bool = False
    """Whether its colour is transparent."""
    ground: Colour | None = WHITE
    """None where it is not known."""

    def shows(self) -> bool:
        return self.visible and not self.clear and self.size >= LEAST_SIZE and not self._is_camouflaged()

    def _is_camouflaged(self) -> bool:
        if self.colour is None or self.ground is None:
            return False
        return (
            max(abs(one - other) for one, other in zip(self.colour, self.ground, strict=True)) < SAME_COLOUR
        )


def remove_hidden(root: etree._Element, sheet: Stylesheet) -> int:
    """Take hidden and struck-out words out of a tree; how many characters the hidden ones held.

    White space does not count, nor what programs read in filings (inline XBRL).
    """
    count = 0
    out = [(element, False) for element in root.iter("ix:header")]
    looks = [_Look()]
    # A walk keeps hold of the elements above: lxml climbs the tree whenever it lets go of one, which takes
    # time quadratic in the depth.
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            looks.pop()
            if not looks[-1].shows() and element is not root:
                count += _characters(element.tail)
                element.tail = None
            continue
        declared = sheet.of(element)
        is_gone = _is_gone(element, declared)
        is_out = is_gone or _is_struck(element, declared)
        if is_out:
            out.append((element, is_gone))
        if is_out or element.tag in _NO_WORDS:
            walk.skip_subtree()
            looks.append(looks[-1])
            continue
        looks.append(_look(element, declared, looks[-1]))
        if not looks[-1].shows():
            count += _characters(element.text)
            element.text = None
    return count + _take_out(out)


def _take_out(elements: list[tuple[etree._Element, bool]]) -> int:
    """Empty elements; how many characters those held that count."""
    count = 0
    for element, counts in elements:
        count += _characters("".join(map(str, element.itertext()))) if counts else 0
        _empty(element)
    return count


_NO_WORDS = frozenset({"script", "style", "head"})
_STRUCK = frozenset({"del", "s", "strike"})


def _characters(text: str | None) -> int:
    return len("".join((text or "").split()))


def _empty(element: etree._Element) -> None:
    """Leave nothing in an element; what follows it stays."""
    tail = element.tail
    element.clear()
    element.tail = tail


def _is_struck(element: etree._Element, declared: Declarations) -> bool:
    """Whether an element's words are crossed out, and so do not hold, however well they are seen."""
    drawn = declared.get("text-decoration-line") or declared.get("text-decoration", "")
    return element.tag in _STRUCK or "line-through" in drawn


def _is_gone(element: etree._Element, declared: Declarations) -> bool:
    """Whether nothing inside an element can be seen, whatever it says itself."""
    if element.get("hidden") is not None or (element.tag == "dialog" and element.get("open") is None):
        return True
    if not declared:
        return False
    return (
        declared.get("display") == "none"
        or declared.get("content-visibility") == "hidden"
        or _is_faint(declared.get("opacity", ""))
        or any(
            _NOTHING_LEFT.search(declared.get(name, ""))
            for name in ("clip", "clip-path", "transform", "filter")
        )
        or _is_moved_away(declared)
        or _is_shrunk(declared)
    )


def _is_faint(opacity: str) -> bool:
    if not opacity or _NUMBER.fullmatch(opacity) is None or not any(map(str.isdigit, opacity)):
        return False
    return float(opacity.rstrip("%")) * (0.01 if opacity.endswith("%") else 1) < LEAST_OPACITY


def _is_moved_away(declared: Declarations) -> bool:
    names = ["text-indent", "margin-left", "margin-top"]
    if declared.get("position", "static") in ("absolute", "fixed", "relative"):
        names += ["left", "top", "right", "bottom"]
    return any((pixels(declared.get(name, ""), 16.0) or 0.0) <= OFF_SCREEN for name in names)


def _is_shrunk(declared: Declarations) -> bool:
    """Whether an element that cuts off what does not fit has no room."""
    if not declared.get("overflow", "").startswith(("hidden", "clip")):
        return False
    names = ("width", "height", "max-width", "max-height")
    lengths = (pixels(declared[name], 16.0) for name in names if name in declared)
    return any(length is not None and length <= 1 for length in lengths)


def _look(element: etree._Element, declared: Declarations, outer: _Look) -> _Look:
    painted = (
        declared.get("background-color") or declared.get("background") or element.get("bgcolor", "").lower()
    )
    painted = "" if painted and is_transparent(painted) else painted
    written = declared.get("color") or (element.get("color", "").lower() if element.tag == "font" else "")
    if not (painted or written or declared or element.get("background")):
        return outer
    return replace(
        outer,
        visible=_visible(declared.get("visibility", ""), outer.visible),
        size=_size(declared.get("font-size", ""), outer.size),
        colour=colour(written) if written and written != "inherit" else outer.colour,
        clear=is_transparent(written) if written and written != "inherit" else outer.clear,
        ground=_ground(painted, declared, element, outer.ground),
    )


def _visible(value: str, outer: bool) -> bool:
    return outer if value in ("", "inherit") else value not in ("hidden", "collapse")


def _size(value: str, outer: float) -> float:
    length = pixels(value, outer) if value else outer
    return 16.0 if length is None else length


def _ground(
    painted: str, declared: Declarations, element: etree._Element, outer: Colour | None
) -> Colour | None:
    if element.get("background") or declared.get("background-image", "none") != "none":
        return None
    return colour(painted) if painted and painted not in ("inherit", "none") else outer
