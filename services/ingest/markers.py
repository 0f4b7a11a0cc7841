"""Reads what stands before an item of a list: `(a)`, `a.`, `ii)`, `4.1.1`, `1.`, a bullet or a dash."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BULLET = re.compile(r"[•●▪■□◆◇►▶➢➤✓✔‣◦○·∙⁃*–—−§-](?=\s)|o(?=\s)")
_PATH = re.compile(r"(?:Section\s|Clause\s|SECTION\s|§\s?)?(\d{1,3}(?:\.\d{1,3}){1,5})\.?(?=\s)")
_SIGN = re.compile(
    r"(?:(?:and|or|and/or)\s)?"
    r"(?:(?P<open>\()?(?P<sign>[A-Za-z]{1,6}|\d{1,3})(?P<close>\))|(?P<dotted>[A-Za-z]{1,6}|\d{1,3})\.)(?=\s|\()"
)
_INLINE = re.compile(
    r"(?:(?P<inside>\((?:[A-Za-z]{1,4}|\d{1,2})\))"
    r"|\n\s*(?:(?P<line>\(?(?:[A-Za-z]{1,4}|\d{1,2})[.)])|(?P<path>\d{1,3}(?:\.\d{1,3}){1,5})\.?))(?=\s|$)"
)
_REFERENCE = re.compile(
    r"(?:\b(?:paragraphs?|clauses?|sections?|subsections?|items?|articles?|parts?|to|in|under|of|with|§"
    r"|(?<!;\s)(?<!;\sand/)(?:and|or)"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)|\d)\s$",
    re.IGNORECASE,
)
_LONGEST_REFERENCE = 16
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ROMAN_NUMBER = re.compile(r"(?:c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")


@dataclass(frozen=True, slots=True)
class Series:
    """A way of marking items; those of one list share it."""

    form: str
    """What stands around the number, a bullet, or the number above (`4.1.` of `4.1.2`)."""
    kind: str
    """`number`, `letter`, `roman`, with `upper` before where it is in capitals; empty for a bullet."""


@dataclass(frozen=True, slots=True)
class Marker:
    """The mark of an item."""

    readings: tuple[tuple[Series, int], ...]
    """What it may be, and which of its series, from 1: `i` is a letter or a number. For a bullet 0."""
    end: int
    """Where the item's words begin; of a mark within a sentence, where it stands itself."""

    @property
    def opening(self) -> bool:
        """Whether a list may begin with it."""
        return any(value <= 1 for _, value in self.readings)

    @property
    def is_bullet(self) -> bool:
        """Whether it counts nothing."""
        return self.readings[0][1] == 0


UNMARKED = Series("", "")
"""Items that are paragraphs, or have a list style that draws nothing."""
ROWS = Series("|", "")
"""Rows of a table as items."""


def read(text: str, start: int, end: int, *, opens_line: bool) -> Marker | None:
    """The mark at `start`; within a line, where a number may be a sum, only one in brackets."""
    sign = _SIGN.match(text, start, end)
    if sign and (opens_line or sign["close"]):
        form = (sign["open"] or "") + (sign["close"] or ".")
        readings = _readings(form, sign["sign"] or sign["dotted"])
        if readings:
            return Marker(readings, sign.end())
    if not opens_line:
        return None
    if path := _PATH.match(text, start, end):
        above, _, last = path[1].rpartition(".")
        return Marker(((Series(f"{above}.", "number"), int(last)),), path.end())
    if bullet := _BULLET.match(text, start, end):
        return Marker(((Series(bullet.group(), ""), 0),), bullet.end())
    return None


def within(text: str, start: int, end: int) -> Iterator[Marker]:
    """The marks within a sentence, `shall not (a) copy, (b) share`, not `under (a)` or `one (1)`."""
    for match in _INLINE.finditer(text, start + 1, end):
        path, sign = match["path"], match["line"] or match["inside"]
        if path:
            above, _, last = path.rpartition(".")
            yield Marker(((Series(f"{above}.", "number"), int(last)),), match.start())
        elif (match["line"] or text[match.start() - 1].isspace()) and not _REFERENCE.search(
            text, max(start, match.start() - _LONGEST_REFERENCE), match.start()
        ):
            form = "".join(character for character in sign if character in "().")
            readings = _readings(form, sign.strip("()."))
            if readings:
                yield Marker(readings, match.start())


def _readings(form: str, sign: str) -> tuple[tuple[Series, int], ...]:
    if sign.isdigit():
        return ((Series(form, "number"), int(sign)),)
    lower, case = sign.lower(), "upper " if sign.isupper() else ""
    if sign not in (lower, sign.upper()):
        return ()
    found = []
    if len(set(lower)) == 1 and len(lower) <= 3:
        found.append((Series(form, f"{case}letter"), ord(lower[0]) - 96 + 26 * (len(lower) - 1)))
    if _ROMAN_NUMBER.fullmatch(lower):
        found.append((Series(form, f"{case}roman"), _roman(lower)))
    return tuple(found)


def _roman(letters: str) -> int:
    values = [_ROMAN[letter] for letter in letters]
    following = [*values[1:], 0]
    return sum(-own if own < after else own for own, after in zip(values, following, strict=True))
