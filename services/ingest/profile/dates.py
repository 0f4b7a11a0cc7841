"""Finds the dates by which an agreement is known: when it was made, and from when it has effect."""

from __future__ import annotations

import re
from datetime import date

from corpus.profiles import DatePrecision, StatedDate
from services.ingest.profile.passage import Passage
from services.ingest.profile.vocabulary import ORDINALS

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>(?:{'|'.join(_MONTHS)})[a-z]{{0,6}})\.?"
_YEAR = r"(?P<year>(?:1[89]|20)\d\d)(?!\d)"
_DAY = r"(?P<day>(?<!\d)[0-3]?\d)\s?(?:st|nd|rd|t\s?h|d)?(?![\dA-Za-z])"
_WORDED = r"(?P<worded>[a-z]{5,7}(?:[\s-][a-z]{5,7})?)(?:\s\(\w{1,5}\))?"
_BLANK = r"(?:[_●•*]{1,20}|\[[^\[\]\d]{0,15}\])"
_FORMS = (
    # January 5th, 2020; January __, 2020; January 2020
    re.compile(rf"{_MONTH}\s?(?:{_DAY}|{_BLANK})?\s?,?\s?{_YEAR}", re.IGNORECASE),
    # 5 January 2020; 5th day of January, 2020; the first day of January 2020; ____ day of January, 2020
    re.compile(
        rf"(?:{_DAY}|{_WORDED}|{_BLANK})?\s?(?:day\s)?(?:of\s)?(?:-{{2,9}}\s)?{_MONTH}"
        rf"(?:\sday)?\s?,?\s?(?:of\s)?{_YEAR}",
        re.IGNORECASE,
    ),
    # 2020-01-05
    re.compile(r"(?P<year>(?:1[89]|20)\d\d)-(?P<month>[01]\d)-(?P<day>[0-3]\d)(?!\d)"),
    # 1/25/2020; 25.1.2020
    re.compile(
        r"(?P<first>[0-3]?\d)(?P<sign>[/.-])(?P<second>[0-3]?\d)(?P=sign)"
        r"(?P<year>(?:(?:19|20)\d\d)|\d\d)(?![\d/])"
    ),
    # ____, 2020; [ ] day of [ ], 2020; nothing at all where a form was not filled in
    re.compile(rf"(?:{_BLANK}\s?(?:day\sof\s)?(?:{_BLANK})?\s?)?,?\s?{_YEAR}", re.IGNORECASE),
)
_FILL = (
    r"(?:[\s,:]{1,2}(?:\(\"?Agreement\"?\)|and|as|of|on|this|the|effective|entered|into|made|executed|delivered"
    r"|dated|signed|is|was|are|hereby|with|effect|from|in|duplicate|shall|be|being|day|date|for|reference|agreed"
    r"|upon)\b){0,12}[\s,:]{1,2}"
)
"""Words between `made` and its date."""
_MADE = re.compile(
    rf"\b(?i:made|agreed?|entered\sinto|executed|concluded|signed|dated){_FILL}", re.IGNORECASE
)
_AS_OF = re.compile(r"(?<!effective\s)\b(?:as\sof|dated|on\sthis|this)\s(?:the\s|this\s)?", re.IGNORECASE)
_SIGNING = re.compile(r"\b(?:witness|signed|executed|done)\b", re.IGNORECASE)
_SIGNED_AS_OF = re.compile(r"\b(?:as\sof|dated|on|this)\s(?:the\s|this\s)?", re.IGNORECASE)
_DATE_LINE = re.compile(
    r"(?:^|\n)(?:date(?:\sof\s(?:issue|agreement|this\sagreement))?|dated)\s?:?\s(?:as\sof\s)?", re.IGNORECASE
)
_COVER_DATE = re.compile(r"(?<!effective)\s(?:date|dated)\s?:\s", re.IGNORECASE)
_LETTER_DATE = re.compile(r"(?:^|\n)(?=[^\n]{6,40}(?:\n|$))")
_BEHIND = re.compile(
    r"(?:\sref\.?\s[^\n,]{1,40}?)?(?:[\s,]{1,2}\((?:[^()]{0,120})\))?[\s,]{1,2}"
    rf"(?:dated|made|entered\sinto|executed|effective|with\san?\seffective\sdate){_FILL}",
    re.IGNORECASE,
)
_EFFECTIVE = re.compile(
    r"\b(?:effective|effect)\b(?:\sdate\sof\sthis\s[\w\s]{1,40}\b(?:shall\sbe|is):?)?"
    r"(?:[\s,:]{1,2}(?:as|of|on|from|and|the|this|for|all|purposes|with|in|upon|entered|into|made)\b){0,8}[\s,:]{1,2}",
    re.IGNORECASE,
)
_CALLED_EFFECTIVE = re.compile(
    r"[\s,]{0,2}(?:\(|the\s[\"“])(?:(?:the|hereinafter|herein|called|referred|to|as)\s){0,5}[\"“]?"
    r"(?:agreement\s)?effective\sdate",
    re.IGNORECASE,
)
"""Calls the date before it the effective one: `(the “Effective Date”)`."""
_EFFECTIVE_LINE = re.compile(
    r"(?:(?:^|\n)(?:\W|\d{1,2}(?:\.\d{1,2})?[.)]?\s)?(?:contract\s|agreement\s)?|\b\d{1,2}\.\s)"
    r"effective\sdate\s?[:|]?\s(?:[:|]\s)?",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"[\"“]effective\sdate[\"”]?\s(?:shall\s)?(?:means?|be|is)[\s,:]{1,2}(?:as\sof\s|the\s|on\s)?",
    re.IGNORECASE,
)
_SAME_DAY = re.compile(
    r"\beffective\s(?:as\sof\s|on\s|from\s)?(?:the\s)?(?:date|day)(?:\sand\syear)?\s"
    r"(?:set\sforth|first|of\sexecution\sfirst)\s(?:above|below|written|listed|set|herein)"
    r"|\bas\sof\sthe\s(?:latest|later|last)\s(?:date|of\sthe\sdates)[^.;()]{0,80}\((?:the\s)?[\"“]effective"
    r"\sdate",
    re.IGNORECASE,
)
"""Says that the agreement has effect from when it is made, or from the last signature."""
_EFFECT_OF = re.compile(r"\beffective\b[^.,;()]{0,40}\Z", re.IGNORECASE)
"""Words behind which `as of` tells from when it has effect, not when it was made."""
_SALUTATION = re.compile(r"\n(?:Ladies\sand\sGentlemen|Gentlemen|Dear\s[^\n]{1,60})\s?[:,\n]")
_SIGNED = re.compile(r"\bby:|/s/|\bin\switness\s", re.IGNORECASE)
_SIGNED_ON = re.compile(r"\b(?:dated?|signed)\s?:\s", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:agreement|contract|lease|note|statement|letter|indenture)(?:\s\([^()]*\))?,?\s$", re.IGNORECASE
)
_AMENDED = re.compile(r"(?i)\b(?:amendment|addendum|supplement)\b[^;]{0,80}?\bto\s(?:the|that|an?|its)\s")
_ANOTHER = 250
"""Characters behind the first words of an agreement where `Agreement dated …` is another one's date."""
_BEGINNING = 2_500
"""Characters of the words that begin an agreement, in which its date stands."""
_HEAD = 800
"""Characters at the top in which a line that is a date dates the document."""
_COVER = 8_000
"""Characters at the top in which a line tells the effective date."""


def behind(passage: Passage, position: int) -> StatedDate | None:
    """The date that the words at `position` give what stands before: `, dated as of March 1, 1998`."""
    lead = _BEHIND.match(passage.text, position)
    return _at(passage, lead.end()) if lead else None


def dated(opening: Passage, signatures: Passage, starts: int, ends: int) -> StatedDate | None:
    """When the agreement was made, by the words `starts` to `ends` that begin it, its cover or its end."""
    ends = min(ends, starts + _BEGINNING)
    signed = _SIGNED.search(opening.text, 0, _HEAD)
    head = signed.start() if signed else _HEAD
    begun = (_own(opening, _MADE, starts, ends), _own(opening, _AS_OF, starts, ends))
    above = (
        _first(opening, _DATE_LINE, 0, head),
        _first(opening, _COVER_DATE, 0, min(starts, head)),
        _first(opening, _LETTER_DATE, 0, head),
        _first(opening, _MADE, 0, starts),
    )
    letter = _SALUTATION.search(opening.text, 0, _BEGINNING)
    places = (*begun, *above) if starts and not (letter and letter.start() < starts) else (*above, *begun)
    found = next((place for place in places if place is not None), None)
    return found or _signed(signatures) or _agreed(signatures)


def effective(opening: Passage, starts: int, ends: int, made: StatedDate | None) -> StatedDate | None:
    """From when the agreement has effect, by its own words; `made` is when it was made."""
    text = opening.text
    for said in (
        _first(opening, _EFFECTIVE, starts, ends),
        _called(opening, starts),
        _first(opening, _EFFECTIVE, 0, min(_BEGINNING, ends)),
        _first(opening, _EFFECTIVE_LINE, 0, min(len(text), _COVER)),
        _first(opening, _MEANS, 0, len(text)),
    ):
        if said is not None:
            return said
    return made if made and _SAME_DAY.search(text) else None


def _called(opening: Passage, start: int) -> StatedDate | None:
    """The first date that the text calls the effective one, from where it begins or else above."""
    found = (match for form in _FORMS[:-1] for match in form.finditer(opening.text, 0, start + _COVER))
    called = [match for match in found if _CALLED_EFFECTIVE.match(opening.text, match.end())]
    called.sort(key=lambda match: (match.start() < start, match.start()))
    return _stated(opening, called[0]) if called else None


def _own(opening: Passage, lead: re.Pattern[str], start: int, end: int) -> StatedDate | None:
    """The first date that is not that of another agreement, such as `the Note Purchase Agreement dated …`."""
    for match in lead.finditer(opening.text, start, end):
        said = opening.text[start : match.start()]
        far = len(said) > _ANOTHER or _AMENDED.search(said) is not None
        if lead is _AS_OF and _EFFECT_OF.search(said):
            continue
        another = far and _OTHERS.search(said[-_ANOTHER:]) is not None
        if not another and (stated := _at(opening, match.end())) is not None:
            return stated
    return None


def _first(passage: Passage, lead: re.Pattern[str], start: int, end: int) -> StatedDate | None:
    """The first date right behind a lead."""
    leads = lead.finditer(passage.text, start, end)
    return next((stated for match in leads if (stated := _at(passage, match.end()))), None)


def _signed(signatures: Passage) -> StatedDate | None:
    """The first date that signatures give in words: `IN WITNESS WHEREOF … on this 3rd day of May`."""
    text = signatures.text
    for match in _SIGNED_AS_OF.finditer(text):
        signing = _SIGNING.search(text, max(0, match.start() - _ANOTHER), match.start())
        if signing and (stated := _at(signatures, match.end())):
            return stated
    return None


def _agreed(signatures: Passage) -> StatedDate | None:
    """The date beside all signatures."""
    said = [_match(signatures.text, lead.end()) for lead in _SIGNED_ON.finditer(signatures.text)]
    stated = [_stated(signatures, match) for match in said if match]
    return stated[0] if len({one.iso if one else "" for one in stated}) == 1 else None


def _at(passage: Passage, position: int) -> StatedDate | None:
    found = _match(passage.text, position)
    return _stated(passage, found) if found else None


def _match(text: str, position: int) -> re.Match[str] | None:
    return next((match for form in _FORMS if (match := form.match(text, position))), None)


def _stated(passage: Passage, match: re.Match[str]) -> StatedDate | None:
    parts = match.groupdict()
    year, month, day = _year(parts["year"]), _month(parts.get("month")), _day(parts)
    if "first" in parts:
        month, day = _numeric(int(parts["first"]), int(parts["second"]), parts["sign"])
    span = passage.span(match.start(), match.end())
    if month is None:
        return StatedDate(f"{year:04}", DatePrecision.YEAR, span)
    if day is None:
        return StatedDate(f"{year:04}-{month:02}", DatePrecision.MONTH, span)
    try:
        return StatedDate(date(year, month, day).isoformat(), DatePrecision.DAY, span)
    except ValueError:
        return None


def _year(digits: str) -> int:
    year = int(digits)
    return year if year > 99 else year + (1900 if year >= 70 else 2000)


def _month(written: str | None) -> int | None:
    if written is None:
        return None
    return int(written) if written.isdigit() else _MONTHS.index(written[:3].lower()) + 1


def _day(parts: dict[str, str | None]) -> int | None:
    day, worded = parts.get("day"), (parts.get("worded") or "").lower().replace(" ", "-")
    if day:
        return int(day)
    return ORDINALS.index(worded) + 1 if worded in ORDINALS else None


def _numeric(first: int, second: int, sign: str) -> tuple[int | None, int | None]:
    """Month and day of a date in figures; neither where it could be read both ways."""
    if first == second or sign == ".":
        return second, first
    if first > 12:
        return second, first
    return (first, second) if second > 12 else (None, None)
