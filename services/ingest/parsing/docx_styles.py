"""What a Word style says about structure: heading levels and lists, inherited from the styles below it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from services.ingest.parsing.numbering import W

MAX_LEVEL = 6
_HEADING = re.compile(r"heading (\d)")


@dataclass(frozen=True, slots=True)
class Structure:
    """What a paragraph's properties say; None where they say nothing."""

    level: int | None = None
    """Heading level, 1 to 6; 0 for what is expressly no heading."""
    number_id: str | None = None
    """The list it belongs to; `0` for what is expressly in none."""
    depth: int | None = None
    """Level in that list, from 0."""

    def over(self, base: Structure) -> Structure:
        """These properties, completed from a style."""
        return Structure(
            base.level if self.level is None else self.level,
            base.number_id if self.number_id is None else self.number_id,
            base.depth if self.depth is None else self.depth,
        )


class Styles:
    """The paragraph styles of a document."""

    def __init__(self, root: etree._Element) -> None:
        """Take the root of `styles.xml`."""
        self._elements = {
            style.get(f"{W}styleId", ""): style
            for style in root.iterfind(f"{W}style")
            if style.get(f"{W}type") == "paragraph"
        }
        self._known: dict[str, Structure] = {}

    def structure(self, paragraph: etree._Element) -> Structure:
        """What a `w:p` is, by its own properties and its style's."""
        properties = paragraph.find(f"{W}pPr")
        if properties is None:
            return Structure()
        style = properties.find(f"{W}pStyle")
        named = self._named("" if style is None else style.get(f"{W}val", ""))
        return _structure(properties).over(named)

    def _named(self, style_id: str) -> Structure:
        """A style over all that it is based on; a circle ends where it closes."""
        if style_id in self._known:
            return self._known[style_id]
        chain: dict[str, etree._Element] = {}
        current: str | None = style_id
        while current is not None and current in self._elements and current not in chain:
            chain[current] = self._elements[current]
            based_on = chain[current].find(f"{W}basedOn")
            current = None if based_on is None else based_on.get(f"{W}val")
        structure = Structure()
        for style in reversed(chain.values()):
            structure = _style_structure(style).over(structure)
        self._known[style_id] = structure
        return structure


def _style_structure(style: etree._Element) -> Structure:
    properties = style.find(f"{W}pPr")
    own = Structure() if properties is None else _structure(properties)
    name = style.find(f"{W}name")
    return own.over(Structure(level=_named_level("" if name is None else name.get(f"{W}val", ""))))


def _named_level(name: str) -> int | None:
    """Word's built-in headings are known by name, in English in every language's files."""
    if name.lower() == "title":
        return 1
    heading = _HEADING.fullmatch(name.lower())
    return min(int(heading.group(1)), MAX_LEVEL) if heading else None


def _structure(properties: etree._Element) -> Structure:
    level = number_id = depth = None
    outline = properties.find(f"{W}outlineLvl")
    if outline is not None and (value := outline.get(f"{W}val", "")).isdigit():
        level = min(int(value) + 1, MAX_LEVEL) if int(value) < 9 else 0
    number = properties.find(f"{W}numPr")
    if number is not None:
        list_id, list_level = number.find(f"{W}numId"), number.find(f"{W}ilvl")
        number_id = None if list_id is None else list_id.get(f"{W}val")
        if list_level is not None and (value := list_level.get(f"{W}val", "")).isdigit():
            depth = int(value)
    return Structure(level, number_id, depth)
