"""The style that a page's own sheets and `style` attributes give its elements, as the cascade decides.

Read as on a screen 1,280 pixels wide. Not read: sheets of other files, custom properties (`var()`), what
scripts set, container queries, and states such as `:hover`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import cssselect2
import tinycss2
from lxml import etree

Declarations = dict[str, str]
"""Names and values in lower case, but the values of `content` as they are written."""
Colour = tuple[int, int, int]

MOST_RULES = 5_000
"""Rules of a page that are looked at: more would make every element dear."""
LONGEST_SELECTOR = 1_000
"""Characters; the library compiles selectors, and long ones deeply."""
DEEPEST = 500
"""Levels below which elements have the style of their own attribute only: combinators climb the tree."""
SCREEN = {"width": 1280.0, "height": 800.0}
"""Pixels."""
_RELEVANT = re.compile(
    r"display|visib|opacity|colou?r|backgr|font|posit|left|right|top|bottom|indent|clip|transf|width|height|overf"
    r"|decor|list|margin|padding|border|float|content|align|shadow|fill|stroke|direction|bidi|filter|order|flex"
)
_LENGTH = re.compile(
    r"([+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))\s*(px|pt|pc|in|cm|mm|em|rem|ex|ch|vw|vh|%)?"
)
_PIXELS = {"px": 1.0, "": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "rem": 16.0}
_PIXELS |= {"vw": 12.8, "vh": 8.0}
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
_FONT_SIZE = re.compile(
    r"(?:^|\s)((?:x{1,2}-)?(?:small|large)|medium|smaller|larger|[\d.]+(?:[a-z]{2,3}|%)?)(?:\s*/|\s|$)"
)
_SIDES = ("top", "right", "bottom", "left")
_SAME_AS = {"text-decoration": "text-decoration-line", "overflow-x": "overflow", "overflow-y": "overflow"}


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
class _Declared:
    """The declarations of one rule, those that are `!important` apart."""

    normal: Declarations
    important: Declarations


@dataclass(frozen=True, slots=True)
class _Rule:
    declared: _Declared
    is_layered: bool
    """Rules of a layer come after all others, and their important ones before."""


NOTHING: Declarations = {}


@dataclass(frozen=True, slots=True)
class _Look:
    own: Declarations
    pseudo: Mapping[str, Declarations]
    """By name: `before`, `after`, `marker`."""


class Stylesheet:
    """What the `<style>` elements of a page and the attributes of its elements declare."""

    def __init__(self, root: etree._Element) -> None:
        self._attributes: dict[str, _Declared] = {}
        self._known: dict[tuple[Any, ...], _Look] = {}
        self._looks: dict[etree._Element, _Look] = {}
        matcher = cssselect2.Matcher()
        count = 0
        for sheet in root.iter("style"):
            if _applies(sheet):
                with suppress(RecursionError):  # brackets within brackets without end are no style
                    rules = tinycss2.parse_stylesheet("".join(map(str, sheet.itertext())), True, True)
                    count += _add(matcher, rules, _Scope(), MOST_RULES - count)
        if count:
            self._match(root, matcher)

    def of(self, element: etree._Element) -> Declarations:
        """What holds for an element."""
        style = element.get("style")
        known = self._looks.get(element)
        if known is not None:
            return known.own
        return self._attribute(style).normal | self._attribute(style).important if style else NOTHING

    def pseudo(self, element: etree._Element, name: str) -> Declarations:
        """What holds for what the sheets put `before` or `after` the content of an element."""
        known = self._looks.get(element)
        return NOTHING if known is None else known.pseudo.get(name, NOTHING)

    def _match(self, root: etree._Element, matcher: cssselect2.Matcher) -> None:
        waiting: list[tuple[_Wrapped, int]] = [(_Wrapped.from_html_root(root), 0)]
        while waiting:
            wrapped, depth = waiting.pop()
            matches = matcher.match(wrapped)
            element = wrapped.etree_element
            if matches:
                self._looks[element] = self._look(matches, element.get("style", ""))
            if depth < DEEPEST:
                waiting.extend((child, depth + 1) for child in reversed(list(wrapped.iter_children())))

    def _look(self, matches: Sequence[tuple[Any, int, str | None, _Rule]], style: str) -> _Look:
        key = (style, *(order for _, order, _, _ in matches), *(pseudo for _, _, pseudo, _ in matches))
        if key not in self._known:
            attribute = self._attribute(style) if style else _Declared(NOTHING, NOTHING)
            own = _merged([rule for _, _, pseudo, rule in matches if pseudo is None], attribute)
            names = {pseudo for _, _, pseudo, _ in matches if pseudo is not None}
            pseudos = {
                name: _merged([rule for _, _, pseudo, rule in matches if pseudo == name], None)
                for name in names
            }
            self._known[key] = _Look(own, pseudos)
        return self._known[key]

    def _attribute(self, style: str) -> _Declared:
        known = self._attributes.get(style)
        if known is None:
            known = _Declared(NOTHING, NOTHING)
            with suppress(RecursionError):
                parsed = tinycss2.parse_blocks_contents(style, True, True) if _says(style) else []
                known = _declared(parsed)
            self._attributes[style] = known
        return known


class _Wrapped(cssselect2.ElementWrapper):  # type: ignore[misc]
    """An element for the library; which would keep all that stand before each, quadratic in their number."""

    @property
    def ancestors(self) -> Iterator[_Wrapped]:
        element = self.parent
        while element is not None:
            yield element
            element = element.parent

    @property
    def previous_siblings(self) -> Iterator[_Wrapped]:
        element = self.previous
        while element is not None:
            yield element
            element = element.previous


def _says(style: str) -> bool:
    return "\\" in style or "/*" in style or _RELEVANT.search(style.lower()) is not None


def _applies(sheet: etree._Element) -> bool:
    kind = sheet.get("type", "").strip().lower()
    inert = next(sheet.iterancestors("noscript", "template"), None) is not None
    return kind in ("", "text/css") and not inert and _media_hold(sheet.get("media", ""))


@dataclass(frozen=True, slots=True)
class _Scope:
    selector: str = ""
    """Selector of the rule around, for rules within rules."""
    is_layered: bool = False


def _add(matcher: cssselect2.Matcher, rules: Sequence[Any], scope: _Scope, room: int) -> int:
    """Add the rules that hold on this screen; how many."""
    count = 0
    for rule in rules:
        if count >= room:
            break
        if rule.type == "qualified-rule":
            count += _add_rule(matcher, rule, scope, room - count)
        elif rule.type == "at-rule" and rule.content is not None and _holds(rule):
            layered = scope.is_layered or rule.lower_at_keyword == "layer"
            inner = tinycss2.parse_blocks_contents(rule.content, True, True)
            own = [node for node in inner if node.type == "declaration"]
            if scope.selector and own:
                _add_selector(matcher, scope.selector, _Rule(_declared(own), layered))
            count += _add(matcher, inner, _Scope(scope.selector, layered), room - count)
    return count


def _add_rule(matcher: cssselect2.Matcher, rule: Any, scope: _Scope, room: int) -> int:
    selector = tinycss2.serialize(rule.prelude).strip()
    if scope.selector:
        around = f":is({scope.selector})"
        selector = selector.replace("&", around) if "&" in selector else f"{around} {selector}"
    if not selector or len(selector) > LONGEST_SELECTOR:
        return 0
    inner = tinycss2.parse_blocks_contents(rule.content, True, True)
    declared = _declared(inner)
    if declared.normal or declared.important:
        _add_selector(matcher, selector, _Rule(declared, scope.is_layered))
    nested = [node for node in inner if node.type in ("qualified-rule", "at-rule")]
    return 1 + (_add(matcher, nested, _Scope(selector, scope.is_layered), room - 1) if nested else 0)


def _add_selector(matcher: cssselect2.Matcher, selector: str, rule: _Rule) -> None:
    """Add a rule; one selector that is wrong or unknown makes a browser drop the whole rule as well."""
    try:
        compiled = cssselect2.compile_selector_list(selector)
    except (cssselect2.SelectorError, RecursionError, MemoryError, SyntaxError):
        return
    for test in compiled:
        matcher.add_selector(test, rule)


def _declared(nodes: Sequence[Any]) -> _Declared:
    normal: dict[str, str] = {}
    important: dict[str, str] = {}
    for node in nodes:
        if node.type == "declaration" and _RELEVANT.search(node.lower_name):
            value = tinycss2.serialize([part for part in node.value if part.type != "comment"]).strip()
            value = value if node.lower_name == "content" else value.lower()
            (important if node.important else normal).update(_longhands(node.lower_name, value))
    return _Declared(normal, important)


def _longhands(name: str, value: str) -> dict[str, str]:
    """A declaration by the names that are asked for: of two ways to write it the last one wins."""
    if name == "background":
        is_image = "url(" in value or "gradient" in value
        plain = "transparent" if value in ("none", "0", "0 0") else value
        return {"background-color": plain, "background-image": value if is_image else "none"}
    if name == "font":
        size = _FONT_SIZE.search(value)
        return {"font-size": size[1]} if size else {}
    if name == "list-style":
        return {"list-style-type": value}
    if name in ("margin", "padding"):
        parts = value.split()[:4]
        sides = {1: (0, 0, 0, 0), 2: (0, 1, 0, 1), 3: (0, 1, 2, 1), 4: (0, 1, 2, 3)}.get(len(parts), ())
        return {f"{name}-{side}": parts[at] for side, at in zip(_SIDES, sides, strict=False)}
    return {_SAME_AS.get(name, name): value}


def _merged(rules: Sequence[_Rule], attribute: _Declared | None) -> Declarations:
    """What wins; `rules` come in the order of their weight, lightest first."""
    merged: dict[str, str] = {}
    for layered in (True, False):
        for rule in rules:
            if rule.is_layered is layered:
                merged |= rule.declared.normal
    merged |= attribute.normal if attribute else {}
    for layered in (False, True):
        for rule in rules:
            if rule.is_layered is layered:
                merged |= rule.declared.important
    return merged | (attribute.important if attribute else {})


def _holds(rule: Any) -> bool:
    prelude = tinycss2.serialize(rule.prelude).strip().lower()
    if rule.lower_at_keyword == "media":
        return _media_hold(prelude)
    if rule.lower_at_keyword == "supports":
        return not prelude.startswith("not")
    return bool(rule.lower_at_keyword == "layer")


_TRUE_FEATURES = frozenset(
    """
    hover color any-hover pointer any-pointer grid:0 hover:hover any-hover:hover pointer:fine any-pointer:fine
    orientation:landscape prefers-color-scheme:light scripting:enabled prefers-reduced-motion:no-preference
    update:fast display-mode:browser prefers-contrast:no-preference forced-colors:none
    """.split()  # noqa: SIM905 - a list would take a screen
)
_FEATURE = re.compile(r"(min-|max-)?(width|height):(.+)")
_RANGE = re.compile(r"(width|height)([<>]=?)(.+)")


def _media_hold(query: str) -> bool:
    """Whether a media query holds on the screen; what is unknown does not."""
    return not query.strip() or any(_one_media_holds(part.strip()) for part in query.lower().split(","))


def _one_media_holds(query: str) -> bool:
    negated = query.startswith("not ")
    query = query.removeprefix("not ").removeprefix("only ")
    conditions = [part.strip() for part in re.split(r"\sand\s", query)]
    holds = all(
        _feature_holds(re.sub(r"[\s()]", "", part)) if part.startswith("(") else part in ("all", "screen", "")
        for part in conditions
    )
    return holds is not negated


def _feature_holds(feature: str) -> bool:
    if match := _FEATURE.fullmatch(feature):
        length = pixels(match[3], 16.0)
        own = SCREEN[match[2]]
        if length is None:
            return False
        return own >= length if match[1] == "min-" else own <= length if match[1] else own == length
    if match := _RANGE.fullmatch(feature):
        length = pixels(match[3], 16.0)
        if length is None:
            return False
        return SCREEN[match[1]] >= length if match[2][0] == ">" else SCREEN[match[1]] <= length
    return feature in _TRUE_FEATURES
