"""The numbers that Word shows before paragraphs: `1.1`, `(a)`, `Article IV`. A file says only how to count.

After ECMA-376 part 1, 17.9: a paragraph names a list (`numId`) and a level; the list names the abstract
list whose levels say format, start and text; a level begins anew after every paragraph of a higher level.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from lxml import etree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
LEVELS = 9
BULLET = "•"
"""Stands for any bullet: the file's own is a character of a symbol font."""
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"))
_ROMAN_SMALL = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list counts."""

    format: str = "decimal"
    """`w:numFmt`."""
    text: str = ""
    """`w:lvlText`: `%1` stands for the number of the first level."""
    start: int = 1
    legal: bool = False
    """`w:isLgl`: show all levels in decimals."""
    restarts: bool = True
    """Whether it begins anew below each paragraph of a higher level (`w:lvlRestart` is not 0)."""


class Numbering:
    """Counts the paragraphs of one document, in order."""

    def __init__(self, part: etree._Element | None) -> None:
        """Take the root of `numbering.xml`, or None when the document has none."""
        self._levels: dict[str, dict[int, Level]] = {}
        self._own: dict[str, dict[int, Level]] = {}
        self._abstract: dict[str, str] = {}
        self._starts: dict[str, dict[int, int]] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        if part is None:
            return
        styled: dict[str, str] = {}
        linked: dict[str, str] = {}
        for abstract in part.iterfind(f"{W}abstractNum"):
            abstract_id = abstract.get(f"{W}abstractNumId", "")
            self._levels[abstract_id] = _levels(abstract)
            styled.setdefault(_value(abstract, "styleLink"), abstract_id)
            linked[abstract_id] = _value(abstract, "numStyleLink")
        for number in part.iterfind(f"{W}num"):
            number_id = number.get(f"{W}numId", "")
            abstract_id = _value(number, "abstractNumId")
            if linked.get(abstract_id):  # a list style says how it counts
                abstract_id = styled.get(linked[abstract_id], abstract_id)
            self._abstract[number_id] = abstract_id
            self._own[number_id] = {
                depth: level
                for override in number.iterfind(f"{W}lvlOverride")
                for depth, level in _levels(override).items()
            }
            self._starts[number_id] = {
                _int(override, "ilvl"): int(_value(override, "startOverride"))
                for override in number.iterfind(f"{W}lvlOverride")
                if _value(override, "startOverride").isdigit()
            }

    def next(self, number_id: str, depth: int) -> str:
        """Count a paragraph of list `number_id` at level `depth` (0 to 8); what Word shows before it."""
        abstract = self._abstract.get(number_id)
        if abstract is None or not 0 <= depth < LEVELS:
            return ""
        levels = self._levels.get(abstract, {}) | self._own.get(number_id, {})
        level = levels.get(depth, Level())
        counts = self._counts[abstract]
        for override, start in self._starts.pop(number_id, {}).items():
            counts[override] = start - 1
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in counts if other > depth]:
            if levels.get(deeper, Level()).restarts:
                del counts[deeper]
        if level.format == "bullet":
            return BULLET
        return _shown(level, levels, counts) if level.format != "none" else ""


def _shown(level: Level, levels: dict[int, Level], counts: dict[int, int]) -> str:
    text = level.text
    for depth in range(LEVELS):
        if f"%{depth + 1}" in text:
            own = levels.get(depth, Level())
            count = counts.get(depth, own.start)
            text = text.replace(f"%{depth + 1}", count_as(count, "decimal" if level.legal else own.format))
    return text.strip()


def count_as(count: int, form: str) -> str:
    """A number in a `w:numFmt`; in decimals where the format is a rare one."""
    if form in ("lowerLetter", "upperLetter") and count > 0:
        letters = chr(ord("a") + (count - 1) % 26) * min(1 + (count - 1) // 26, 9)
        return letters if form == "lowerLetter" else letters.upper()
    if form in ("lowerRoman", "upperRoman") and 0 < count < 4000:
        numeral = ""
        for value, digits in _ROMAN + _ROMAN_SMALL:
            times, count = divmod(count, value)
            numeral += digits * times
        return numeral if form == "lowerRoman" else numeral.upper()
    return f"{count:02d}" if form == "decimalZero" else str(count)


def _levels(parent: etree._Element) -> dict[int, Level]:
    return {_int(level, "ilvl"): _level(level) for level in parent.iterfind(f"{W}lvl")}


def _level(element: etree._Element) -> Level:
    start = _value(element, "start")
    return Level(
        format=_value(element, "numFmt") or "decimal",
        text=_value(element, "lvlText"),
        start=int(start) if start.isdigit() else 1,
        legal=element.find(f"{W}isLgl") is not None,
        restarts=_value(element, "lvlRestart") != "0",
    )


def _value(element: etree._Element, name: str) -> str:
    child = element.find(f"{W}{name}")
    return "" if child is None else child.get(f"{W}val", "")


def _int(element: etree._Element, attribute: str) -> int:
    value = element.get(f"{W}{attribute}", "0")
    return int(value) if value.isdigit() else 0
