"""Splits legal prose into sentences.

Legal text breaks the usual rules: `No. 5`, `Acme, Inc. shall`, `Section 4.1. Fees.`, lines wrapped within a
sentence, one sentence that enumerates for a page. When in doubt two sentences stay together: a quote that
runs on does less harm than one that stops short.
"""

from __future__ import annotations

import re

from corpus.spans import Span
from services.ingest import markers
from services.ingest.markers import Series
from services.ingest.vocabulary import (
    LEAD_WORDS,
    LIST_LEADS,
    NEVER_FINAL,
    NUMBER_KEYWORDS,
    OPEN_WORDS,
    REFERENCE_WORDS,
    SELDOM_FINAL,
    STARTERS,
)

_STOP = re.compile(r"""[.!?…;:]["'”’»)\]]{0,3}\s+|\n\s*""")
_ENDING = re.compile(r"""[.!?…;:]["'”’»)\]]{0,3}$""")
_ITEM = re.compile(
    r"(?:(?:and|or)\s)?(?:\([A-Za-z0-9]{1,5}\)|[a-z0-9]{1,3}\))\s"
    r"|[•●▪‣◦*–—-]\s"
    r"|\d{1,3}(?:\.\d{1,3}){0,4}\.?\s+[^\Wa-z\d_]"
)
_ASIDE = re.compile(r"([–—-])[^\S\n][^\n]*[^\S\n]\1\s")
"""A dash that is closed on its line opens an aside, not an item: `– and nobody else –`."""
_MARK = re.compile(
    r"\(?(?:\d{1,3}(?:\.\d{1,3}){0,5}|[A-Za-z]|[ivxl]{1,6}|[IVXLC]{1,6})[.)](?!\w)|\d{1,3}(?:\.\d{1,3})+\s"
)
"""How an item may begin on a page, where it stands on a line of its own."""
_CLAUSE = re.compile(r"(?:\d{1,3}|[A-Z])\.(?:\s|$)")
_LONE_NUMBER = re.compile(r"[\W_]*(?:\d{1,4}|[ivxl]{1,6})[\W_]*")
"""A line of nothing but the number of a page."""
_PART = re.compile(r"(?:\d{1,3}|[IVXLC]{1,6}|[A-Z])\b")
"""What a part of a document is called by: `Schedule⏎A`."""
_COUNTING = frozenset("(0123456789§")
"""How the number of a clause begins; a bullet counts nothing."""
_NEXT_ITEM = re.compile(r";\s+(?:and|or|and/or|but)$")
_COUNT = re.compile(r"(\d{1,3})\s")
"""A number without a mark of a clause: `5 Business Days`, or `5 Fees` of a table of contents."""
_QUANTITY = re.compile(r"\d{1,3}\.\d{1,3}\s")
_DATE = re.compile(
    r"\d{1,2}\.?\s+(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"[,.]?\s+\d{4}"
)
_DATED = re.compile(_DATE.pattern + "$")
_NUMBER = re.compile(
    r"\(?(?:\d{1,3}(?:\.\d{1,3}){0,5}|[IVXLC]{1,6}|[ivxlc]{1,6}|[A-Za-z])(?:\([A-Za-z0-9]{1,4}\)){0,3}\)?"
)
_LETTERED = re.compile(r"\(?(?:[a-z]|[ivxlc]{1,6})[.)]\s")
"""An item that a small letter counts, where a line begins with it behind the end of another: `a.`, `ii)`."""
_DOTTED = re.compile(r"[A-Za-z]{1,2}(?:\.[A-Za-z]{1,2}){1,4}")
_WORD = re.compile(r"\w+")

_LONG_SENTENCE = 300
"""Characters after which an enumeration is split at its items."""
_LONGEST_TOKEN = 24
"""No abbreviation or clause number is longer; looking back no further keeps the scan linear."""


def split(text: str, span: Span) -> list[Span]:
    """Return the sentences of `text` within `span`, in order, in time linear in its length.

    They cover the span: nothing but white space lies before, between and after them, and none starts or ends
    with white space.
    """
    sentences: list[Span] = []
    start = trimmed(text, span).start
    end = trimmed(text, span).end
    counted: dict[Series, int] = {}
    _count(text, start, end, counted)
    for stop in _STOP.finditer(text, start, end):
        if _ends_sentence(text, start, stop, counted):
            sentences.append(trimmed(text, Span(start, stop.end())))
            start = stop.end()
            if "\n" in stop.group():
                _count(text, start, end, counted)
    if start < end:
        sentences.append(Span(start, end))
    return sentences


def trimmed(text: str, span: Span) -> Span:
    """Return `span` without the white space at its ends; empty at its start when there is nothing else."""
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _count(text: str, start: int, end: int, counted: dict[Series, int]) -> None:
    """Remember which item of which series a line begins with."""
    marker = markers.read(text, start, end, opens_line=True)
    if marker is not None:
        counted.update(marker.readings)


def _ends_sentence(text: str, start: int, stop: re.Match[str], counted: dict[Series, int]) -> bool:
    mark = text[stop.start()]
    if mark in ";:":
        return _ends_item(text, start, stop)
    if mark == "\n":
        return _breaks_line(text, start, stop, counted)
    following = text[stop.end()]
    if following.islower() or following in ".,;":
        if "\n" in stop.group() and _LETTERED.match(text, stop.end()):
            return True
        return _ITEM.match(text, stop.end()) is not None
    return mark != "." or not _is_abbreviation(text, start, stop)


def _ends_item(text: str, start: int, stop: re.Match[str]) -> bool:
    """A list is split where its layout says so, and a long enumeration at every item."""
    if "\n" in stop.group():
        return not text[stop.end()].islower() or _LETTERED.match(text, stop.end()) is not None
    return stop.start() - start > _LONG_SENTENCE and _ITEM.match(text, stop.end()) is not None


def _breaks_line(text: str, start: int, stop: re.Match[str], counted: dict[Series, int]) -> bool:
    """A line break alone ends a sentence only before a new item, and not where the line above is open."""
    if _ITEM.match(text, stop.end()) is None and not _is_next_item(text, start, stop, counted):
        return False
    return not goes_on(text, start, stop.start(), stop.end())


def _is_next_item(text: str, start: int, stop: re.Match[str], counted: dict[Series, int]) -> bool:
    """Whether a line that goes on in small letters begins an item: the next of a list, or its first.

    `1. copy it, and⏎2. publish it` counts on, and `shall not⏎a. copy it` has to be completed by a list.
    """
    marker = markers.read(text, stop.end(), stop.endpos, opens_line=True)
    if marker is None or marker.is_bullet:
        return False
    end = trimmed(text, Span(start, stop.start())).end
    last = _token_before(text, start, end)
    if not last or _ends_reference(text, start, end, last):
        return False
    leads = last.lower() in LIST_LEADS or last[-1] in "—–"
    return any(
        counted.get(series) == value - 1 or (value == 1 and leads) for series, value in marker.readings
    )


def goes_on(text: str, start: int, end: int, position: int) -> bool:
    """Whether a sentence that begins at `start` goes on at `position`, although an item may begin there.

    Nothing but white space lies between `end` and `position`. A bare number is a quantity or a date,
    `from⏎1 March 2026`, unless it counts on from that of the line above. A number with a mark is a clause's,
    but in a reference, `under Section⏎4.2 Fees`, and after words that ask for a quantity.
    """
    end = trimmed(text, Span(start, end)).end
    last = _token_before(text, start, end)
    if not last or last[-1] in ".!?…;:":
        return False
    if _DATE.match(text, position) or _ASIDE.match(text, position):
        return True
    if text[position].isupper():
        return is_open(last)
    if text[position] in _COUNTING and _ends_reference(text, start, end, last):
        return True
    if _QUANTITY.match(text, position):
        return _bare(last) in OPEN_WORDS - LEAD_WORDS
    count = _COUNT.match(text, position)
    return count is not None and not _counts_on(text, start, end, int(count.group(1)))


def reads_on(above: str, below: str) -> bool | None:
    """Whether a sentence goes on from the line `above` to `below`; None when the words do not tell."""
    above, below = above.rstrip()[-_LONG_SENTENCE:], below.lstrip()[:_LONG_SENTENCE]
    if not above or not below:
        return False
    if _may_part(above, below) and _part(above, below):
        return False
    last = above.split()[-1]
    if _LONE_NUMBER.fullmatch(below) or _CLAUSE.match(below):
        return None
    if _MARK.match(below):
        refers = _ends_reference(above, 0, len(above), last) or _bare(last) in OPEN_WORDS - LEAD_WORDS
        return True if refers else None
    if below[0].islower():
        return above[-1] not in ".!?:;" or None
    if last.lower() in REFERENCE_WORDS and _PART.match(below):
        return True
    if _opens_quantity(above) and below.split()[0] not in STARTERS:
        return True
    opened = is_open(last) and not _NEXT_ITEM.search(above)
    return True if opened and below.split()[0] not in STARTERS else None


def _opens_quantity(above: str) -> bool:
    """Whether a line ends with a number that asks for what it counts, `within 5`; a date is whole."""
    words = above.split()[-2:]
    is_number = len(words) > 1 and words[1].isdigit() and _bare(words[0]) in OPEN_WORDS
    return is_number and _DATED.search(above) is None


def _may_part(above: str, below: str) -> bool:
    """Whether a sentence can end between two lines at all: a mark stands there, or an item begins."""
    return _ENDING.search(above, max(0, len(above) - 4)) is not None or _ITEM.match(below) is not None


def _part(above: str, below: str) -> bool:
    """Whether a sentence ends between two lines."""
    text = f"{above}\n{below}"
    return any(sentence.start == len(above) + 1 for sentence in split(text, Span(0, len(text))))


def is_open(word: str) -> bool:
    """Whether no sentence ends with `word`: `the`, `exceed`, `(`, `non-`, or anything with a comma."""
    if word[-1] in ",(&" or (word[-1] in "-–/" and word[-2:-1].isalpha()):
        return True
    return _bare(word) in OPEN_WORDS and word != "A"


def _bare(word: str) -> str:
    return word.strip("(\"'“‘[").lower()


def _ends_reference(text: str, start: int, end: int, last: str) -> bool:
    """Whether the text refers to a clause by `last`: `under Section`, `under Section 4.1⏎(a)`."""
    if last.lower() in REFERENCE_WORDS:
        return True
    words = text[max(start, end - 2 * _LONGEST_TOKEN) : end - len(last)].split()
    return bool(words) and words[-1].lower() in REFERENCE_WORDS and _NUMBER.fullmatch(last) is not None


def _counts_on(text: str, start: int, end: int, number: int) -> bool:
    """Whether the line that ends at `end` begins with the number before `number`."""
    line = max(start, text.rfind("\n", start, end) + 1)
    above = _COUNT.match(text, line)
    return above is not None and int(above.group(1)) + 1 == number


def _is_abbreviation(text: str, start: int, stop: re.Match[str]) -> bool:
    """Tell whether the full stop belongs to the word or number before it."""
    token = _token_before(text, start, stop.start())
    token_start = stop.start() - len(token)
    if _NUMBER.fullmatch(token) and _opens_sentence(text, start, token_start):
        return True
    if token.isdigit() and _DATE.match(text, token_start):
        return True
    word = _bare(token)
    if word in NEVER_FINAL:
        return True
    if word in SELDOM_FINAL or _DOTTED.fullmatch(word) or (len(word) == 1 and word.isalpha()):
        following = _WORD.match(text, stop.end())
        return following is not None and following.group() not in STARTERS
    return False


def _opens_sentence(text: str, start: int, position: int) -> bool:
    """Tell whether a number at `position` is the sentence's own: `4.1.`, `Section 4.1.`."""
    if position <= start:
        return True
    lead = text[start:position] if position - start <= _LONGEST_TOKEN else ""
    return lead.strip().lower() in NUMBER_KEYWORDS


def _token_before(text: str, start: int, position: int) -> str:
    """Return the last word before `position`, or its last characters when it is too long to matter."""
    window = text[max(start, position - _LONGEST_TOKEN) : position]
    words = window.split()
    return words[-1] if words and not window[-1].isspace() else ""
