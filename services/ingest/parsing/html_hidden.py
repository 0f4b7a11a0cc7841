"""Takes out of a page the words that its style hides from everybody who looks at it, or strikes out.

Recognised: `hidden`, closed dialogues, `display: none`, `visibility`, `opacity`, tiny type, text in the
colour of its ground, what is moved off the screen, clipped or shrunk to nothing; whether attributes or the
sheets of the page say so (`css`). Not recognised: what scripts and the sheets of other files hide, and text
that something else covers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lxml import etree

from services.ingest.parsing.css import Colour, Declarations, Stylesheet, colour, is_transparent, pixels
from services.ingest.parsing.html_drawn import Words, font_size, is_boxed
from services.ingest.parsing.raised import for_tree

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
    """Size of its type, in pixels."""
    colour: Colour | None = None
    """None where nothing says."""
    clear: bool = False
    """Whether its colour is transparent, and nothing else paints its letters."""
    ground: Colour | None = WHITE
    """None where it is not known."""
    case: str = "none"
    """How its letters are changed (`text-transform`)."""
    boxes: bool = False
    """Whether what is inside stands in boxes of its own (flex, grid)."""

    def shows(self) -> bool:
        return self.visible and not self.clear and self.size >= LEAST_SIZE and not self._is_camouflaged()

    def _is_camouflaged(self) -> bool:
        if self.colour is None or self.ground is None:
            return False
        return (
            max(abs(shade - ground) for shade, ground in zip(self.colour, self.ground, strict=True))
            < SAME_COLOUR
        )


def remove_hidden(root: etree._Element, sheet: Stylesheet) -> int:
    """Take hidden and struck-out words out of a tree; how many characters the hidden ones held.

    White space does not count, nor what programs read in filings (inline XBRL). The words that stay become
    what is drawn of them: in capitals where the style says so, raised and lowered ones between the signs of
    `raised`, with what the sheets put before and after them.
    """
    count = 0
    out = [(element, False) for element in root.iter("ix:header")]
    looks = [_Look()]
    words: list[Words] = []
    # A walk keeps hold of the elements above: lxml climbs the tree whenever it lets go of one, which takes
    # time quadratic in the depth.
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            looks.pop()
            words.pop().close(element)
            count += _tail(element, looks[-1]) if element is not root else 0
            continue
        declared = sheet.of(element)
        outer, look = looks[-1], _look(element, declared, looks[-1])
        looks.append(look)
        unseen = not look.shows() and element.tag in _DRAWN_WHOLE
        is_gone = unseen or _is_gone(element, declared, outer)
        is_out = is_gone or _is_struck(element, declared)
        if is_out:
            out.append((element, is_gone))
        if is_out or element.tag in _NO_WORDS:
            walk.skip_subtree()
            words.append(Words())
            continue
        count += _text(element, look)
        shrinks = look.size / outer.size if outer.size else 1.0
        words.append(Words.of(element, sheet, shrinks, outer.boxes) if look.shows() else Words())
        words[-1].open(element)
    return count + _take_out(out)


def _text(element: etree._Element, look: _Look) -> int:
    """Leave of an element's own text what is seen of it; how many characters are not."""
    if not look.shows():
        count = _characters(element.text)
        element.text = None
        return count
    if element.text:
        element.text = _cased(for_tree(element.text), look.case)
    return 0


def _tail(element: etree._Element, look: _Look) -> int:
    """The same of the text behind an element; `look` is that of the element around both."""
    if look.shows():
        if element.tail:
            element.tail = _cased(for_tree(element.tail), look.case)
        return 0
    count = _characters(element.tail)
    element.tail = None
    return count


def _cased(text: str, case: str) -> str:
    if case == "uppercase":
        return text.upper()
    if case == "lowercase":
        return text.lower()
    return _WORD.sub(lambda word: word[0][0].upper() + word[0][1:], text) if case == "capitalize" else text


def _take_out(elements: list[tuple[etree._Element, bool]]) -> int:
    """Empty elements; how many characters those held that count."""
    count = 0
    for element, counts in elements:
        count += _characters("".join(map(str, element.itertext()))) if counts else 0
        _empty(element)
    return count


_NO_WORDS = frozenset({"script", "style", "head"})
_DRAWN_WHOLE = frozenset({"img", "input", "textarea", "select", "svg", "canvas", "object", "video", "iframe"})
"""Elements that show something besides their own text; they become nothing where they are not seen."""
_WORD = re.compile(r"(?<![\w’'])[^\W\d_]\w*")
_STRUCK = frozenset({"del", "s", "strike"})


def _characters(text: str | None) -> int:
    return len("".join((text or "").split()))


def _empty(element: etree._Element) -> None:
    """Leave nothing of an element; what follows it stays."""
    tail = element.tail
    element.clear()
    element.tail = tail
    if element.tag not in ("html", "body", "table", "tr", "td", "th", "li"):
        element.tag = "span"


def _is_struck(element: etree._Element, declared: Declarations) -> bool:
    """Whether an element's words are crossed out, and so do not hold, however well they are seen."""
    drawn = declared.get("text-decoration-line", "line-through" if element.tag in _STRUCK else "")
    return "line-through" in drawn


def _is_gone(element: etree._Element, declared: Declarations, outer: _Look) -> bool:
    """Whether nothing inside an element can be seen, whatever it says itself."""
    if element.tag == "embed":  # lxml takes what follows it for its content
        return False
    if declared.get("display", _default_display(element)) == "none":
        return True
    if not declared:
        return False
    boxed = outer.boxes or is_boxed(element, declared)
    return (
        (boxed and declared.get("content-visibility") == "hidden")
        or _is_faint(declared.get("opacity", ""))
        or any(_NOTHING_LEFT.search(declared.get(name, "")) for name in ("clip-path", "filter"))
        or (_is_placed(declared) and _NOTHING_LEFT.search(declared.get("clip", "")) is not None)
        or (boxed and _NOTHING_LEFT.search(declared.get("transform", "")) is not None)
        or _is_moved_away(declared, boxed)
        or (boxed and _is_shrunk(declared))
    )


def _default_display(element: etree._Element) -> str:
    """`none` for what is closed or hidden as long as no sheet says otherwise."""
    is_closed = element.tag == "dialog" and element.get("open") is None
    return (
        "none" if is_closed or element.get("hidden") is not None or element.get("popover") is not None else ""
    )


def _is_placed(declared: Declarations) -> bool:
    return declared.get("position", "static") in ("absolute", "fixed")


def _is_faint(opacity: str) -> bool:
    if not opacity or _NUMBER.fullmatch(opacity) is None or not any(map(str.isdigit, opacity)):
        return False
    return float(opacity.rstrip("%")) * (0.01 if opacity.endswith("%") else 1) < LEAST_OPACITY


def _is_moved_away(declared: Declarations, boxed: bool) -> bool:
    names = ["margin-left", *(("text-indent", "margin-top") if boxed else ())]
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
    painted = declared.get("background-color") or element.get("bgcolor", "").lower()
    painted = "" if painted and is_transparent(painted) else painted
    letters = declared.get("-webkit-text-fill-color") or declared.get("color", "")
    written = letters or (element.get("color", "").lower() if element.tag == "font" else "")
    written = "" if written in ("inherit", "currentcolor") else written
    size = font_size(element, declared.get("font-size", ""), outer.size)
    if not (painted or written or declared or element.get("background")) and size == outer.size:
        return replace(outer, boxes=False) if outer.boxes else outer
    clear = is_transparent(written) and not _is_painted_otherwise(declared)
    return replace(
        outer,
        visible=_visible(declared.get("visibility", ""), outer.visible),
        size=size,
        colour=colour(written) if written else outer.colour,
        clear=clear if written else outer.clear,
        ground=_ground(painted, declared, element, outer.ground),
        case=declared.get("text-transform", outer.case).replace("inherit", outer.case),
        boxes=declared.get("display", "").endswith(("flex", "grid")),
    )


def _is_painted_otherwise(declared: Declarations) -> bool:
    """Whether clear letters are seen by their shadow, their outline or the ground cut to their shape."""
    shadow = declared.get("text-shadow", "none")
    stroke = declared.get("-webkit-text-stroke", "") + declared.get("-webkit-text-stroke-width", "")
    clip = declared.get("background-clip", "") + declared.get("-webkit-background-clip", "")
    return shadow != "none" or any(map(str.isdigit, stroke)) or "text" in clip


def _visible(value: str, outer: bool) -> bool:
    return outer if value in ("", "inherit") else value not in ("hidden", "collapse")


def _ground(
    painted: str, declared: Declarations, element: etree._Element, outer: Colour | None
) -> Colour | None:
    if element.get("background") or declared.get("background-image", "none") != "none":
        return None
    return colour(painted) if painted and painted not in ("inherit", "none") else outer
