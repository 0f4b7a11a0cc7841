"""Tells by its words what leads into a list, what completes it, and what is a condition after it.

Nothing here understands English: these are the turns that contracts are made of. When in doubt a text leads
in, and an item needs it: words too many above a quote do less harm than a `shall not` that is missing.
"""

from __future__ import annotations

import re
from enum import IntEnum

from services.ingest.vocabulary import STARTERS


class Lead(IntEnum):
    """How strongly a text asks to be completed by what follows."""

    NONE = 0
    WEAK = 1
    """A whole sentence: only items that are none need it."""
    LOOSE = 2
    """It ends without a mark, as a heading does, or where a page breaks: only what completes it needs it."""
    OPEN = 3
    """It breaks off: every item completes it."""


_MODAL = r"(?:shall|may|must|will|can|cannot|should|would|might)"
_VERB = re.compile(
    rf"\b(?:{_MODAL}|is|are|was|were|has|have|had|does|do|did|agrees?|means?|includes?|undertakes?|acknowledges?"
    r"|represents?|warrants?|covenants?|requires?|remains?|becomes?|applies|apply|continues?|begins?|ends?"
    r"|expires?|terminates?|consists?|constitutes?|prohibits?|permits?|grants?|pays?|ceases?|fails?|wishes"
    r"|needs?|not)\b",
    re.IGNORECASE,
)
_FINITE = re.compile(
    rf"\b(?:{_MODAL}|is|are|was|were|has|have|had|does|agrees?|means|includes|undertakes|acknowledges"
    r"|represents|warrants|covenants|requires|remains|becomes|applies|apply|continues|begins|ends|expires"
    r"|terminates|consists|constitutes|grants|pays|ceases)\b"
)
_RELATIVE = re.compile(
    r"\b(?:that|which|who|whom|whose|where|as|when|if|unless|until|because|than|it|they)\b"
)
_BREAKING_OFF = frozenset(("not", "shall", "will", "may", "must", "cannot", "to", "that", "following"))
_BREAK = re.compile(
    r"(?P<lead>[:—–]|\b(?:shall|will|may|must|not|cannot|following)\b[.:]?(?=\s*\n\s*[A-Z]|[^\S\n]*\n[^\S\n]*\n))"
    r"\s*\n"
)
_ANNOUNCES = re.compile(
    r"\b(?:(?:the|of) following|as follows|any of these|these (?:things|acts|uses|purposes|ways)"
    r"|listed below)\b[^.;:]{0,40}[.:]?$"
)
_FORMULA = re.compile(
    r"(?:\b(?:agree|agreed|agrees|covenant|stipulate)s?(?: and \w+)?(?: with each other)?"
    r"(?: as follows| to the following)?(?: terms| provisions)?"
    r"|\bwitness(?:eth|es)?|\bwhereas|\brecitals?|\bmeanings?(?: \w+){0,6}|\bdefinitions?"
    r"|\bdefined(?: \w+){0,3}|\bterms and conditions|\bcontents)\s?[:.,—–-]*$",
    re.IGNORECASE,
)
_PROHIBITS = re.compile(
    rf"\b(?:{_MODAL}|not|no|never|prohibit\w*|forbid\w*|forbidden|restrict\w*|refrain\w*|permit\w*|allow\w*"
    r"|right|entitled|obliged|agrees?)\b",
    re.IGNORECASE,
)
_COMPLETES = re.compile(
    r"[A-Z][a-z]+(?:,? (?:or|and|and/or) [a-z]+)?(?:ly)? (?:the|any|all|an?|its|their|such|each|every|this"
    r"|these|those|to|with|from|more|than|information|data|over|out|into|on|in|for|up|another|other)\b"
)
_DASHES = (":", "—", "–", "-", ":-")
_SENTENCE_ENDS = tuple('.!?”"')
_PAGE = re.compile(r"(?i:page|seite)?\W{0,4}\d{1,4}(?:\W{0,3}(?i:of|/)\W{0,3}\d{1,4})?\W{0,4}")
_ENDS_IN_PAGE = re.compile(r"\bpage\s\d{1,4}(?:\s?(?:of|/)\s?\d{1,4})?\W{0,4}$", re.IGNORECASE)
_DRAWN = re.compile(r"\s[=—–-]{3,}\s*\Z")
"""A line that is drawn below a caption; one of `_` is to be filled in."""
_NAMES_NO_MORE = re.compile(
    r"\b(?:except\w*|exclu\w*|without|unless|limit\w*|conditions?|only|if|when|events?|cases?|upon|until|subject|to"
    r"|following|foregoing|below|that|which|who|illegal\w*|unlawful\w*)\b",
    re.IGNORECASE,
)
"""Words by which a caption says something of what stands below it."""
_FRAGMENT_WORDS = 8
_LAST_WORDS = 80
"""Characters at the end of a text that tell whether a list follows."""
_CASES = (
    r"in\s+(?:each|every|either|all|both)(?:\s+of(?:\s+(?:the|these|those))?)?(?:\s+such|\s+foregoing)?"
    r"\s+(?:cases?|instances?)\b"
)
_CONDITION = re.compile(
    r"(?:and|but|or|then)?,?\s*(?:"
    rf"(?P<always>{_CASES}|(?:provided|providing)\b"
    r"|(?:in\s+)?each\s+of\s+(?:the\s+above|the\s+foregoing|which)\b"
    r")"
    r"|(?:unless|except|excepting|excluding|without(?!\s+limit)|save|subject\s+to|only|other\s+than"
    r"|so\s+long\s+as|as\s+long\s+as|to\s+the\s+extent|until|(?P<whole>if|however|always|whether|so\s+that))\b)",
    re.IGNORECASE,
)
_INLINE_CONDITION = re.compile(
    rf"(?:[,;:—–]\s*|\n\s*|\.\s+)(?=(?:(?:and|but)\s)?"
    rf"(?:{_CASES}|provided\b(?!\s(?:by|to|under|in|for|with)\b)))"
    r"|\n\s*(?=(?:unless|except|without|save|subject\s+to|but\s+only|only|so\s+long\s+as|to\s+the\s+extent)\b)",
    re.IGNORECASE,
)
_FOR_ALL = re.compile(rf"[,;:—–.]\s*(?=(?:(?:and|but)\s)?(?:provided\b.{{0,9}}\s)?{_CASES})", re.IGNORECASE)
_MAIN_CLAUSE = re.compile(rf",\s[^,]*?\b(?:{_MODAL}|is|are|has|have|does|agrees?|retains?|acknowledges?)\b")
_NOTHING = re.compile(r"\b(?:nothing|shall|neither|none|no)\b")
_SUBORDINATE = frozenset(
    ("if", "where", "when", "unless", "until", "upon", "except", "subject", "notwithstanding", "without")
)


def lead_of(text: str) -> Lead:
    """How strongly `text`, a sentence or its beginning, asks to be completed."""
    text = text.strip()
    if not text or says_nothing(text):
        return Lead.NONE
    text = _DRAWN.sub("", text)
    if text.endswith(_DASHES):
        return Lead.OPEN
    if _ANNOUNCES.search(_last_words(text)):
        return Lead.OPEN
    if text.endswith(_SENTENCE_ENDS):
        return Lead.WEAK if _PROHIBITS.search(text) else Lead.NONE
    if text.endswith(";"):
        return Lead.NONE
    if ends_open(text):
        return Lead.OPEN
    return Lead.LOOSE if _VERB.search(text) else Lead.NONE


def ends_open(text: str) -> bool:
    """Whether a text breaks off where its list has to follow: in a colon, or `shall not`."""
    text = _DRAWN.sub("", text).rstrip()
    return text.endswith(_DASHES) or text.rsplit(None, 1)[-1].lower() in _BREAKING_OFF


def breaks_off(text: str, start: int, end: int) -> int | None:
    """Where in a sentence its first line ends that breaks off: `shall not:⏎copy the Data;`.

    `shall not` does if the next line begins with a capital, or an empty one stands below it.
    """
    match = _BREAK.search(text, start, end)
    return match.end("lead") if match else None


def has_verb(text: str, start: int, end: int) -> bool:
    """Whether a part of a text says that somebody does something, so that more may be done."""
    return _VERB.search(text, start, end) is not None


def is_formula(text: str) -> bool:
    """Whether a text opens a whole contract or its definitions: `agree as follows:`."""
    return _FORMULA.search(_last_words(text)) is not None


def _last_words(text: str) -> str:
    """The end of a text, one space between its words, wherever its lines were broken."""
    return " ".join(text[-_LAST_WORDS:].split())


def stands_alone(text: str) -> bool:
    """Whether a text begins like a sentence with a subject and a verb of its own."""
    words = text.lstrip("\"“‘'([ 0123456789.)")
    if not words[:1].isupper():
        return False
    first = re.match(r"\w+", words)
    verb = _FINITE.search(words, first.end() if first else 0)
    if first is None or verb is None:
        return False
    if first.group().lower() in _SUBORDINATE:
        return _MAIN_CLAUSE.search(words) is not None or _FINITE.search(words, verb.end()) is not None
    return first.group() in STARTERS or _RELATIVE.search(words, first.end(), verb.start()) is None


def completes(text: str) -> bool:
    """Whether a text is what somebody does: `share the Data`, `Copy or sell any Data`."""
    if begins_small(text):
        return True
    return _COMPLETES.match(text) is not None and text.split(None, 1)[0] not in STARTERS


def begins_small(text: str) -> bool:
    """Whether a text begins with a small letter; `eLearning` is a name."""
    return text[:1].islower() and not text[1:2].isupper()


def is_caption(text: str) -> bool:
    """Whether a text names what stands below it and says nothing of it: `7. ROYALTIES:`, `4.1 Channel`."""
    return not any(pattern.search(text) for pattern in (_VERB, _PROHIBITS, _NAMES_NO_MORE))


def says_nothing(text: str) -> bool:
    """Whether a text is nothing but the number of a page, or a drawn line."""
    return _PAGE.fullmatch(text) is not None or (len(text) > 2 and not text.strip("=_—– \t\n-"))


def is_fragment(text: str) -> bool:
    """Whether a text says nothing: a page number, the title in a running header."""
    return (
        says_nothing(text)
        or _ENDS_IN_PAGE.search(text, max(0, len(text) - 24)) is not None
        or (
            len(text.split()) <= _FRAGMENT_WORDS
            and not _VERB.search(text)
            and not text.endswith((":", ";", ","))
        )
    )


def is_condition(text: str, *, opens_line: bool = True) -> bool:
    """Whether a text below a list restricts what stands in it, and is no sentence about something else."""
    match = _CONDITION.match(text)
    if match is None:
        return False
    if match["always"] is not None or not text[:1].isupper():
        return True
    return opens_line and match["whole"] is None and "," not in text and _NOTHING.search(text) is None


def condition_within(text: str, start: int, end: int, *, of_all: bool) -> int | None:
    """Where in the last item of a list a condition begins that governs all its items.

    With `of_all` only one that says so, `in each case`: others are that item's, if it is a sentence itself.
    """
    match = (_FOR_ALL if of_all else _INLINE_CONDITION).search(text, start, end)
    return match.end() if match else None
