"""Reads the numbers of clauses and their captions: `ARTICLE IV`, `Section 4.1`, `4.1(a) Fees.`, `B. Term`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from corpus.spans import Span
from services.ingest.headings.captions import caption_end
from services.ingest.vocabulary import NUMBER_KEYWORDS


class Series(StrEnum):
    """A way of counting clauses. Clauses of one series under one parent are numbered through."""

    EXHIBIT = "exhibit"
    ARTICLE = "article"
    ROMAN = "roman"
    UPPER = "upper"
    DECIMAL = "decimal"
    LETTER = "letter"
    LOWER_ROMAN = "lower_roman"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a number may mean: `C.` is the third of the letters or the hundredth of the Roman numbers."""

    series: Series
    path: tuple[int, ...]
    """`4.1(b)` is 4, 1, 2."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A clause number that may begin a clause, with the caption behind it."""

    span: Span
    """Number and caption, without final punctuation."""
    readings: tuple[Reading, ...]
    """The likelier first."""
    captioned: bool
    plain: bool
    """`5` without anything to say that it numbers a clause."""
    opens_line: bool
    separated: bool
    """Whether a line, a sentence or an item ends before it; otherwise it may be a mere reference."""


_KEYWORD = (
    r"ARTICLE|Article|SECTION|Section|CLAUSE|Clause|PART|Part|CHAPTER|Chapter|EXHIBIT|Exhibit"
    r"|SCHEDULE|Schedule|ANNEX|Annex|APPENDIX|Appendix|ATTACHMENT|Attachment|Sec\.|SEC\.|§"
)
_DECIMAL = r"\d{1,3}(?:\.\d{1,3}){0,4}"
_MARK = re.compile(
    # The look-ahead makes the scan four times as fast: most words begin in lower case.
    r"(?<!\S)(?=[\d(A-Z§])(?:"
    rf"(?P<keyword>{_KEYWORD})\s{{0,3}}"
    rf"(?P<number>{_DECIMAL}(?:\([a-z]{{1,3}}\))?|[IVXLC]{{1,7}}|[A-Z](?:-\d{{1,2}})?)(?![\w-])[.:)]?"
    rf"|(?P<decimal>{_DECIMAL})(?P<sub>\([a-z]{{1,3}}\))?(?P<close>[.)]?)(?=\s)"
    r"|\((?P<letter>[a-z]{1,4})\)(?=\s)"
    r"|(?P<upper>[A-Z]|[IVXL]{2,6})[.)](?=\s))"
)
_DIVISIONS = frozenset({"article", "part", "chapter"})
_APPENDED = frozenset({"exhibit", "schedule", "annex", "appendix", "attachment"})
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_TEXT_FOLLOWS = re.compile(r"""[\s.:)–—-]{0,12}["'“”‘’(\[<]{0,2}[^\Wa-z_\d]""")
_SENTENCE_MARKS = frozenset('.;:?!”"’_')
_WIDE_GAP = "   "
_LOOK_BACK = 24
"""Characters that tell whether a number is a reference."""
_SHOUTED = 4
"""Letters in capitals that are more than an acronym."""


def marks(text: str, line: Span) -> Iterator[Mark]:
    """Yield the clause numbers of a line, in order, that have words behind them or the line to themselves."""
    for match in _MARK.finditer(text, line.start, line.end):
        before = text[max(line.start, match.start() - _LOOK_BACK) : match.start()]
        if _is_reference(before):
            continue
        if match.end() == line.end or _TEXT_FOLLOWS.match(text, match.end(), line.end):
            readings = _readings(match)
            if readings:
                yield _mark(text, line, match, readings, before)


def _mark(text: str, line: Span, match: re.Match[str], readings: tuple[Reading, ...], before: str) -> Mark:
    end = caption_end(text, Span(match.end(), line.end), whole_line=not before)
    return Mark(
        span=Span(match.start(), end or _without_punctuation(text, match)),
        readings=readings,
        captioned=end is not None,
        plain=match["close"] == "" and len(readings[0].path) == 1,
        opens_line=not before,
        separated=_is_separated(before),
    )


def _is_reference(before: str) -> bool:
    """Tell the number in `under Section 4.1` from one that begins a clause, by what stands before it."""
    if not before or _is_separated(before):
        return False
    words = before.split()
    return not words or not words[-1][0].isupper()


def _is_separated(before: str) -> bool:
    """Whether `before` ends a line, a sentence, or a title in capitals."""
    if not before or before.endswith(_WIDE_GAP):
        return True
    words = before.split()
    return bool(words) and (words[-1][-1] in _SENTENCE_MARKS or _is_shouted(words[-1]))


def _is_shouted(word: str) -> bool:
    return len(word) >= _SHOUTED and word.isalpha() and word.isupper() and word.lower() not in NUMBER_KEYWORDS


def _without_punctuation(text: str, match: re.Match[str]) -> int:
    return match.start() + len(match.group().rstrip(".:")) if match["letter"] is None else match.end()


def _readings(match: re.Match[str]) -> tuple[Reading, ...]:
    keyword = (match["keyword"] or "").lower()
    if keyword in _APPENDED:
        number = match["number"]
        # `Exhibit 10.5` is how filings with the SEC are numbered, not a part of the contract.
        return () if "." in number else (Reading(Series.EXHIBIT, _counted(number)),)
    if keyword:
        series = Series.ARTICLE if keyword in _DIVISIONS else Series.DECIMAL
        return (Reading(series, _counted(match["number"])),)
    if match["decimal"]:
        return (Reading(Series.DECIMAL, _counted(match["decimal"] + (match["sub"] or ""))),)
    if match["letter"]:
        return _lettered(match["letter"], Series.LETTER, Series.LOWER_ROMAN)
    return _lettered(match["upper"].lower(), Series.UPPER, Series.ROMAN)


def _lettered(letters: str, alphabet: Series, roman: Series) -> tuple[Reading, ...]:
    readings = []
    if len(set(letters)) == 1 and len(letters) <= 2:
        readings.append(Reading(alphabet, (ord(letters[0]) - 96 + 26 * (len(letters) - 1),)))
    if all(letter in _ROMAN for letter in letters):
        readings.append(Reading(roman, (_roman(letters),)))
    return tuple(reversed(readings)) if letters == "i" else tuple(readings)


def _counted(number: str) -> tuple[int, ...]:
    """Turn `4.1(b)`, `IV`, `A-1` into its parts; `4.0` is 4."""
    values = [_value(part) for part in re.split(r"[.()-]", number) if part]
    return tuple(values[:-1] if len(values) > 1 and values[-1] == 0 else values)


def _value(part: str) -> int:
    if part.isdigit():
        return int(part)
    if part.isupper() and all(letter in _ROMAN for letter in part.lower()) and part not in "CL":
        return _roman(part.lower())
    return ord(part[0].lower()) - 96


def _roman(letters: str) -> int:
    values = [_ROMAN[letter] for letter in letters]
    return sum(
        -value if value < following else value
        for value, following in zip(values, [*values[1:], 0], strict=True)
    )
