"""What a question wants to be told, by its own words, and which sentences hold something of that kind.

`How long may they wait?` wants a period: a sentence that names one is likelier to answer than one that only
speaks of waiting. Nothing is left out for it: what is wanted is one reason among others to prefer a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

_NUMBER = (
    r"(?:\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|fifty|sixty|ninety|hundred|thousand|million|half|\[\*+\])"
)
MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"


class Want(StrEnum):
    """Something that a question may want to be told."""

    AMOUNT = "amount"
    NUMBER = "number"
    PERIOD = "period"
    DATE = "date"
    SIGNER = "signer"
    PLACE = "place"
    PERMISSION = "permission"
    DUTY = "duty"
    CONDITION = "condition"


@dataclass(frozen=True, slots=True)
class _Kind:
    """One thing to want."""

    want: Want
    asked: re.Pattern[str]
    """Words of a question that wants it."""
    held: re.Pattern[str]
    """Words of a sentence that holds it."""


_KINDS = (
    _Kind(
        Want.AMOUNT,
        re.compile(
            r"\bhow (?:much|big|large|high|small|valuable)\b|\bmaximum\b|\bthe most\b|\bcosts?\s*\?"
            r"|\bwhat\b.{0,60}\b(?:fees?|prices?|rates?|costs?|charges?|salary|royalt|commissions?|percentage|"
            r"share|cut|cap|amount|penalty|interest|budget|bonus|discount|payout|target|value)\b",
            re.IGNORECASE,
        ),
        re.compile(
            rf"[$€£¥%]|\b(?:US\$|USD|EUR|GBP|RMB|dollars|euros|per\s?cent|cents)\b|\b{_NUMBER}\b",
            re.IGNORECASE,
        ),
    ),
    _Kind(
        Want.NUMBER,
        re.compile(r"\bhow (?:many|often)\b|\bminimum\b|\bat least\b", re.IGNORECASE),
        re.compile(rf"\b{_NUMBER}\b|\b(?:once|twice|monthly|quarterly|annual|daily|weekly)", re.IGNORECASE),
    ),
    _Kind(
        Want.PERIOD,
        re.compile(
            r"\bhow (?:long|soon|quick|quickly|fast|early|late|often)\b|\bhow much (?:notice|warning|time)\b"
            r"|\bhow many (?:\w+ )?(?:day|week|month|year|hour|minute)s?\b"
            r"|\bwhat (?:\w+ )?(?:notice|term|period|deadline)\b",
            re.IGNORECASE,
        ),
        re.compile(
            rf"\b{_NUMBER}\W{{1,3}}(?:\(?\w*\)?\W{{1,3}})?(?:(?:business|calendar|working|consecutive|full|"
            r"additional|successive|contract)\s)?(?:hour|day|week|month|quarter|year|minute)s?\b"
            r"|\b(?:annual|monthly|weekly|daily|quarterly|perpetu|promptly|immediately)",
            re.IGNORECASE,
        ),
    ),
    _Kind(
        Want.DATE,
        re.compile(r"\b(?:when|(?:what|which) (?:date|day)|until when|deadline|dated?)\b", re.IGNORECASE),
        re.compile(
            rf"\b{MONTH}\b(?=\s+\d|,)|\d\s+(?:day\s+of\s+)?{MONTH}|\b(?:19|20)\d\d\b"
            r"|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b(?:first|last|tenth|fifteenth|\d+(?:st|nd|rd|th))\s(?:\w+\s)?day\b"
            r"|\b(?:no later than|not later than|within|until|upon|commenc|deemed)\b"
        ),
    ),
    _Kind(
        Want.SIGNER,
        re.compile(r"\bsign(?:s|ed|ing|atory)?\b", re.IGNORECASE),
        re.compile(r"\bBy:|/s/|\b(?:Title|Name):"),
    ),
    _Kind(
        Want.PLACE,
        re.compile(
            r"\bwhere\b|\baddress\b"
            r"|\b(?:which|what|whose) (?:\w+ )?(?:countr|state|city|cities|court|law|county|territor|place|"
            r"town|region|jurisdiction)",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:laws? of|state of|courts? (?:of|in|located)|located (?:at|in)|venue|jurisdiction|"
            r"territor|countr|city of|county|place of business|street|avenue|worldwide|throughout the world)"
            r"|\b\d{5}\b",
            re.IGNORECASE,
        ),
    ),
    _Kind(
        Want.PERMISSION,
        re.compile(
            r"^(?:so\W+)?(?:can|could|may|might|is it (?:ok|possible|allowed)|am i)\b"
            r"|\b(?:allowed|free to|able to|permitted|ok to|barred|get to)\b"
            r"|\b(?:can|may) (?:we|i|they|he|she|you)\b",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:may|can|entitled to|right to|permitted|free to|option to|shall not|will not|must not|"
            r"cannot|prohibit)",
            re.IGNORECASE,
        ),
    ),
    _Kind(
        Want.DUTY,
        re.compile(
            r"\b(?:must|ha(?:ve|s) to|needs? to|obliged|required|supposed to|responsible|on the hook"
            r"|bound to)\b",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:shall|will|must|agrees? to|responsible|obligat|required|undertakes?|liable)", re.IGNORECASE
        ),
    ),
    _Kind(
        Want.CONDITION,
        re.compile(
            r"\bif\b|\bwhat if\b|\bwhat happens\b|\bconsequence|\bsuppose\b|\bunder what\b|\bconditions?\b"
            r"|\bwhat (?:needs|has to happen|do we need|must happen|counts)|\bat what point\b|\bany way\b"
            r"|\bcircumstances\b|\bdepend",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:if|unless|provided that|in the event|subject to|upon|except|so long as|until|should|"
            r"conditioned)\b",
            re.IGNORECASE,
        ),
    ),
)
_SAYS_LITTLE = re.compile(r"\[\*+\]|\*{3}|-{5,}|_{5,}|IN WITNESS|\bcounterparts\b", re.IGNORECASE)

_PAGE = re.compile(r"\bPage\s+\d+\s+of\s+\d+\W*\Z", re.IGNORECASE)
_SIGNATURE = re.compile(r"/s/|\bBy:|_{5,}|\bName:|\bIN WITNESS WHEREOF\b")
_ASKS_WHO = re.compile(
    r"\b(?:who|whose|sign\w*|names?|titles?|role|position|dated?|date|when|execut\w*|address\w*|e-?mail|phone"
    r"|attention|officer|president|chief|number|language|copies|parties)\b",
    re.IGNORECASE,
)


def wanted(question: str) -> frozenset[Want]:
    """What a question wants; nothing for many a question, several things for some."""
    return frozenset(kind.want for kind in _KINDS if kind.asked.search(question))


def held_by(text: str, wants: Iterable[Want]) -> frozenset[Want]:
    """Those of `wants` that a sentence holds."""
    sought = set(wants)
    return frozenset(kind.want for kind in _KINDS if kind.want in sought and kind.held.search(text))


def is_no_statement(text: str, question: str) -> bool:
    """Whether a sentence is a page's last line, or a signature that the question does not ask for."""
    signature = _SIGNATURE.search(text) is not None and not _ASKS_WHO.search(question)
    return signature or _PAGE.search(text) is not None


def says_little(text: str) -> bool:
    """Whether words are blacked out or to be filled in, or a sentence only closes the document."""
    return _SAYS_LITTLE.search(text) is not None
