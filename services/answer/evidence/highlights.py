"""Marks what of a quote answers a question: an amount, a period, a date, whose law, or who.

Never a guess. Nothing is marked where the quote holds two things of the kind that is wanted, where something
multiplies or compares amounts, or where the question asks whether something may be done or what it means:
then the whole quote answers, with its conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from corpus.spans import Span
from corpus.stems import stems_of
from services.answer.evidence.wants import MONTH

_WORDS = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|eighteen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million)"
)
_SPELLED = rf"{_WORDS}(?:[\s-]+(?:and\s+)?{_WORDS}){{0,4}}"
_DIGITS = r"\d+(?:,\d{3})*(?:\.\d+)?"
_COUNT = rf"(?:{_SPELLED}(?:\s*\(\s*{_DIGITS}\s*\))?|{_DIGITS}(?:\s*\(\s*{_SPELLED}\s*\))?)"
_BOUND = (
    r"(?:(?:shall\s+|may\s+|does\s+|will\s+)?not\s+(?:to\s+)?exceed(?:ing)?\s+|(?:not|no)\s+(?:less|more|later|fewer|"
    r"longer|greater)\s+than\s+|at\s+(?:least|most)\s+|up\s+to\s+|(?:a\s+)?(?:minimum|maximum)\s+of\s+|"
    r"in\s+excess\s+of\s+|(?:more|less|greater|fewer|longer)\s+than\s+|within\s+|exceeds?\s+|approximately\s+)?"
)
_SIGN = r"(?:US\$|U\.S\.\$|USD|EUR|GBP|CAD|RMB|[$€£¥])"
_CURRENCY = r"(?:(?:U\.?S\.?\s+)?[Dd]ollars|USD|[Ee]uros?|EUR|GBP|pounds|RMB)"
_SCALE = r"(?:\s?(?:million|billion|thousand|MM?\b|[Kk]\b))?"
_RATE = (
    r"(?:\s*(?:/|per|an?|each|every)\s+(?:calendar\s+|contract\s+)?(?:annum|hour|day|week|month|quarter|year|unit|"
    r"user|share|copy|device|person)\b|\s+(?:annually|monthly|quarterly|weekly|hourly)\b)*"
)
_MONEY = (
    rf"(?:{_SPELLED}\s+(?:and\s+\w+/100\s+)?(?:{_CURRENCY}\s*)?\(\s*{_SIGN}\s?{_DIGITS}\s*\)(?:\s*{_CURRENCY})?"
    rf"|{_SIGN}\s?{_DIGITS}{_SCALE}(?:\s*{_CURRENCY})?|{_COUNT}{_SCALE}\s+{_CURRENCY})"
)
_PERCENT = (
    rf"(?:{_SPELLED}(?:\s+percent|\s+per\s+cent)?\s*\(\s*{_DIGITS}\s?%?\s*\)(?:\s*%|\s*percent|\s*per\s+cent)?"
    rf"|{_DIGITS}\s?(?:%|percent|per\s+cent)|{_SPELLED}\s+(?:percent|per\s+cent))"
)
_QUALIFIER = r"(?:(?:business|calendar|working|banking|consecutive|full|contract|additional|successive)\s+)?"
_UNIT = r"(?:minute|hour|day|week|month|quarter|year)"
_PERIOD = rf"{_COUNT}[\s-]+{_QUALIFIER}{_UNIT}s?\b(?:['’]s?)?"
_DATE = (
    rf"(?:{MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+(?:19|20)\d\d"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:day\s+of\s+)?{MONTH},?\s+(?:19|20)\d\d|\d{{1,2}}/\d{{1,2}}/(?:19|20)?\d\d)"
)
_NAME = r"[A-Z](?:[\w’'&-]|\.(?=\w))*"
_OF = r"(?:(?:State|Commonwealth|Province|City|(?:Federal\s+|People’s\s+)?Republic)\s+of\s+)?"
_LAW = re.compile(
    rf"\blaws?\s+(?:of|in)\s+(?P<place>(?:the\s+)?{_OF}{_NAME}(?:\s+(?:and\s+)?{_NAME}){{0,3}})"
)
_DOES = re.compile(
    rf"(?P<who>\b(?:[Tt]he\s+)?{_NAME}(?:\s+{_NAME}){{0,3}})\s+(?:shall|will|must|agrees\s+to)\s+(?:\w+ly\s+)?(?P<deed>[a-z]+)"
)
_PAYING = frozenset(stems_of("pay bear cover foot reimburse"))
_COMPARES = re.compile(
    r"\b(?:greater|lesser|higher|lower|larger|smaller|less|earlier|later)\s+of\b|\b(?:sum|product|average|balance)\s+of\b"
    r"|\b(?:twice|double|triple|half|one-half|(?:one|two)[\s-](?:third|quarter)s?|times|multiplied)\b|\bplus\b|\[\*+\]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A kind of thing that questions ask for, and what it looks like."""

    asked: re.Pattern[str]
    held: re.Pattern[str]
    rivals: re.Pattern[str] | None = None
    """What else might be meant where the quote holds it."""


_BEGINS = r"(?<![\w$.,-])"
"""Nothing of a word or a number stands before."""
_AMOUNT = re.compile(rf"{_BEGINS}(?:{_BOUND}{_MONEY}{_RATE})", re.IGNORECASE)
_SHARE = re.compile(rf"{_BEGINS}(?:{_BOUND}{_PERCENT}{_RATE})", re.IGNORECASE)
_KINDS = (
    _Wanted(
        re.compile(
            rf"\bhow\s+(?:long|soon|quickly|fast|early|late|far\s+(?:ahead|in\s+advance))\b|\bhow\s+much\s+(?:\w+\s+)?"
            rf"(?:notice|warning|time)\b|\bhow\s+many\s+(?:\w+\s+)?{_UNIT}s\b"
            r"|\bwhat(?:'s|\s+is)?\s+(?:the\s+)?(?:\w+\s+){0,2}(?:notice\s+period|deadline|term|duration|time\s+limit)\b",
            re.IGNORECASE,
        ),
        re.compile(rf"{_BEGINS}(?:{_BOUND}{_PERIOD})", re.IGNORECASE),
        re.compile(_DATE),
    ),
    _Wanted(
        re.compile(
            r"\bwhat\s+(?:\w+\s+){0,2}(?:percentage|percent|share|cut|royalty\s+rate|interest|commission)\b",
            re.IGNORECASE,
        ),
        _SHARE,
        _AMOUNT,
    ),
    _Wanted(
        re.compile(
            r"\bhow\s+much\s+(?:is|are|was|were|do|does|did|will|would|must|may|can|should|money|rent|to)\b|\bwhat\b.{0,40}\b(?:fees?|prices?|costs?|charges?|salary|cap|amount|penalty|budget|bonus|"
            r"rent|payment|deposit|royalt(?:y|ies)|rate|total|value|limit)\b|\bhow\s+(?:big|large|high)\b",
            re.IGNORECASE,
        ),
        _AMOUNT,
        _SHARE,
    ),
    _Wanted(
        re.compile(r"\bby\s+when\b", re.IGNORECASE),
        re.compile(
            rf"{_BEGINS}(?:within\s+{_PERIOD}|(?:not|no)\s+later\s+than\s+(?:{_PERIOD}|{_DATE})"
            rf"|(?:by|before)\s+{_DATE})",
            re.IGNORECASE,
        ),
    ),
    _Wanted(
        re.compile(r"\bwhen\b|\bwhat\s+date\b|\b(?:which|what)\s+day\b|\bas\s+of\s+what\b", re.IGNORECASE),
        re.compile(_DATE),
        re.compile(rf"{_BEGINS}(?:{_PERIOD})", re.IGNORECASE),
    ),
)
_ASKS_LAW = re.compile(
    r"\b(?:which|what|whose)\b.{0,30}\blaws?\b(?!.*\b(?:court|county|city)\b)", re.IGNORECASE
)
_ASKS_WHO = re.compile(
    r"\b(?:who|which\s+(?:party|side|company))\b(?!\s+(?:signed|is|are|was))", re.IGNORECASE
)
_DENIES = re.compile(r"\b(?:neither|nor|no|not|never|unless|except)\b", re.IGNORECASE)
_LOOSE = re.compile(r"(?:more|less|greater|fewer|longer)\s", re.IGNORECASE)


def highlight_of(question: str, quote: str) -> Span | None:
    """The place in a quote, in code points, of the one thing that the question wants; None when in doubt."""
    if _COMPARES.search(quote):
        return None
    for kind in _KINDS:
        if kind.asked.search(question):
            rival = kind.rivals and kind.rivals.search(quote)
            return None if rival else _only(kind.held.finditer(quote), quote)
    if _ASKS_LAW.search(question):
        return _only(_LAW.finditer(quote), quote, "place")
    if _ASKS_WHO.search(question):
        return _who(question, quote)
    return None


def _only(matches: Iterable[re.Match[str]], quote: str, group: str | int = 0) -> Span | None:
    """The one match; None where there are several, or where `more than` may be denied further left."""
    found = list(matches)
    if len(found) != 1:
        return None
    span = Span(*found[0].span(group))
    denied = _LOOSE.match(found[0].group()) and _DENIES.search(quote[: span.start])
    return None if denied else span


def _who(question: str, quote: str) -> Span | None:
    """Who does what the question asks for, where the quote says of one alone what it has to do."""
    asked, found = set(stems_of(question)), list(_DOES.finditer(quote))
    if len(found) != 1 or _DENIES.search(quote):
        return None
    deed = set(stems_of(found[0]["deed"]))
    same = not deed.isdisjoint(asked) or not (deed.isdisjoint(_PAYING) or asked.isdisjoint(_PAYING))
    return Span(*found[0].span("who")) if same else None
