"""Takes out of a part of a Word document the runs that Word does not show to its reader.

Struck-out runs go too, uncounted: what is crossed out in a contract does not hold, however well it is seen.
Hidden is what `w:vanish` says (of the run or of its styles), type smaller than two points, and text in the
colour of its ground, where the file says both: a table's style may paint cells, so inside a styled table only
a cell's own shading counts, and in text boxes none. Deleted revisions, comments and alternative texts are
never read. Runs that stay become what Word draws of them: in capitals where the file says so, raised and
lowered ones between the signs of `raised`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lxml import etree

from services.ingest.parsing.numbering import W
from services.ingest.parsing.raised import END, LOWERED, RAISED, SMALL, label, without_signs

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
LEAST_HALF_POINTS = 4
"""Word counts type in half points; smaller type is not read."""
SAME_COLOUR = 12
"""Steps, of 255, by which a colour must differ from its ground in red, green or blue."""
_OFF = ("0", "false", "off")
_UNKNOWN_GROUND = (f"{W}txbxContent", f"{W}pict", f"{W}drawing")
_SAID = (
    ("vanish", "vanish", "1"),
    ("strike", "struck", "1"),
    ("dstrike", "struck twice", "1"),
    ("sz", "size", ""),
    ("color", "colour", ""),
    ("caps", "capitals", "1"),
    ("vertAlign", "align", ""),
    ("position", "position", "0"),
)
"""Elements of run properties, what they are called here, and what one without a value means."""
_HIGHLIGHTS = {"black": "000000", "white": "FFFFFF", "none": ""}

Properties = Mapping[str, str]
"""Of a run: `vanish`, `struck`, `struck twice`, `size`, `colour`, `ground`, `capitals`, `align` and
`position`; only what the file says."""
LEAST_STEP = 4
"""Half points by which words are raised or lowered in their line."""
SMALLER = 0.8
"""Share of the size of the words before: figures that are no larger are no part of their number."""


class HiddenRuns:
    """Knows the styles of a document, and so what is hidden in its parts."""

    def __init__(self, styles: etree._Element) -> None:
        """Take the root of `styles.xml`."""
        self._elements = {style.get(f"{W}styleId", ""): style for style in styles.iterfind(f"{W}style")}
        self._known: dict[str, Properties] = {}
        defaults = styles.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr")
        self._defaults = _properties(defaults)
        self.marks: set[str] = set()
        """Those that paragraphs begin with, as notes do."""

    def remove(self, part: etree._Element) -> int:
        """Take hidden and struck-out runs out of a part; how many characters the hidden ones held.

        White space does not count.
        """
        looks = [(run, self._look(run)) for run in part.iter(f"{W}r")]
        hidden = [run for run, look in looks if _is_hidden(run, look)]
        count = sum(len("".join((text.text or "").split())) for run in hidden for text in run.iter(f"{W}t"))
        for text in part.iter(f"{W}t", f"{M}t"):
            text.text = without_signs(text.text or "")
        self._draw(looks)
        struck = [run for run, look in looks if _is_on(look, "struck") or _is_on(look, "struck twice")]
        for run in hidden + struck:
            for child in list(run):
                if child.tag != f"{W}rPr":
                    run.remove(child)
        return count

    def _draw(self, looks: list[tuple[etree._Element, Properties]]) -> None:
        """Write capitals, and signs around what is raised or lowered."""
        before: tuple[etree._Element | None, float] = (None, 0.0)
        for run, look in looks:
            texts = [text for text in run.iterchildren(f"{W}t") if text.text]
            if not texts:
                continue
            if _is_on(look, "capitals"):
                for text in texts:
                    text.text = (text.text or "").upper()
            size = _number(look.get("size", "")) or 0.0
            is_smaller = run.getparent() is before[0] and 0 < size <= before[1] * SMALLER
            sign = _sign(look) or (SMALL if is_smaller else "")
            if sign:
                texts[0].text = sign + (texts[0].text or "")
                texts[-1].text = (texts[-1].text or "") + END
                self._note_mark(run)
            else:
                before = (run.getparent(), size)

    def _note_mark(self, run: etree._Element) -> None:
        paragraph = next(run.iterancestors(f"{W}p"), None)
        texts = () if paragraph is None else (text.text or "" for text in paragraph.iter(f"{W}t"))
        mark = label(next((text for text in texts if text.strip()), ""))
        if mark is not None:
            self.marks.add(mark)

    def _look(self, run: etree._Element) -> Properties:
        paragraph = next(run.iterancestors(f"{W}p"), None)
        own = run.find(f"{W}rPr")
        look: dict[str, str] = {**self._defaults}
        if paragraph is not None:
            look |= self._named(paragraph.find(f"{W}pPr/{W}pStyle"))
        if own is not None:
            look |= self._named(own.find(f"{W}rStyle"))
            look |= _properties(own)
        return look

    def _named(self, reference: etree._Element | None) -> Properties:
        """What a style says over all that it is based on; a circle ends where it closes."""
        style_id = "" if reference is None else reference.get(f"{W}val", "")
        if style_id not in self._known:
            merged: dict[str, str] = {}
            for style in reversed(list(self._chain(style_id))):
                merged |= _properties(style.find(f"{W}rPr"))
                merged |= _shading(style.find(f"{W}pPr/{W}shd"))
            self._known[style_id] = merged
        return self._known[style_id]

    def _chain(self, style_id: str) -> Iterator[etree._Element]:
        met: set[str] = set()
        while style_id in self._elements and style_id not in met:
            met.add(style_id)
            yield self._elements[style_id]
            based_on = self._elements[style_id].find(f"{W}basedOn")
            style_id = "" if based_on is None else based_on.get(f"{W}val", "")


def _is_hidden(run: etree._Element, look: Properties) -> bool:
    if _is_on(look, "vanish"):
        return True
    size = look.get("size", "")
    if size.isdecimal() and len(size) < 5 and int(size) < LEAST_HALF_POINTS:
        return True
    colour = _rgb(look.get("colour", ""))
    return colour is not None and _is_same(colour, _rgb(look.get("ground") or _ground(run)))


def _sign(look: Properties) -> str:
    """How a run stands in its line: the sign of `raised`, if any."""
    align = look.get("align", "")
    step = _number(look.get("position", "0"))
    if align == "superscript" or (align != "subscript" and step >= LEAST_STEP):
        return RAISED
    return LOWERED if align == "subscript" or step <= -LEAST_STEP else ""


def _number(value: str) -> float:
    return float(value) if re.fullmatch(r"-?\d{1,4}", value) else 0.0


def _is_on(look: Properties, name: str) -> bool:
    return look.get(name, "0") not in _OFF


def _properties(element: etree._Element | None) -> dict[str, str]:
    found: dict[str, str] = {}
    if element is None:
        return found
    for name, key, unsaid in _SAID:
        said = element.find(f"{W}{name}")
        if said is not None:
            found[key] = said.get(f"{W}val", unsaid)
    found |= _shading(element.find(f"{W}shd"))
    highlight = element.find(f"{W}highlight")
    if highlight is not None:
        found["ground"] = _HIGHLIGHTS.get(highlight.get(f"{W}val", ""), "unknown")
    return found


def _shading(shading: etree._Element | None) -> dict[str, str]:
    """A pattern over the fill makes the ground unknown."""
    if shading is None or shading.get(f"{W}val") == "nil":
        return {}
    fill = shading.get(f"{W}fill", "auto")
    plain = shading.get(f"{W}val", "clear") == "clear"
    return {"ground": fill if plain else "unknown"} if fill != "auto" or not plain else {}


def _ground(run: etree._Element) -> str:
    """What a run stands on when neither it nor its styles say: paper, unless something else may be there."""
    paragraph = next(run.iterancestors(f"{W}p"), None)
    if paragraph is not None and (own := _shading(paragraph.find(f"{W}pPr/{W}shd"))):
        return own["ground"]
    for outer in run.iterancestors(f"{W}tc", f"{W}tbl", *_UNKNOWN_GROUND):
        if outer.tag in _UNKNOWN_GROUND or outer.find(f"{W}tblPr/{W}tblStyle") is not None:
            return "unknown"
        shaded = _shading(outer.find(f"{W}tcPr/{W}shd")) or _shading(outer.find(f"{W}tblPr/{W}shd"))
        if shaded:
            return shaded["ground"]
    paper = run.getroottree().getroot().find(f"{W}background")
    return "FFFFFF" if paper is None else paper.get(f"{W}color", "unknown")


def _rgb(colour: str) -> tuple[int, ...] | None:
    try:
        return tuple(bytes.fromhex(colour)) if len(colour) == 6 else None
    except ValueError:
        return None


def _is_same(colour: tuple[int, ...], other: tuple[int, ...] | None) -> bool:
    return other is not None and max(abs(a - b) for a, b in zip(colour, other, strict=True)) < SAME_COLOUR
