"""Splits legal prose into sentences.

Legal text breaks the usual rules: `No. 5`, `Acme, Inc. shall`, `Section 4.1. Fees.`, lines wrapped within a
sentence, one sentence that enumerates for a page. When in doubt two sentences stay together: a quote that
runs on does less harm than one that stops short.
"""

from __future__ import annotations

import re

from services.ingest.documents import Span
from services.ingest.vocabulary import NEVER_FINAL, NUMBER_KEYWORDS, SELDOM_FINAL, STARTERS

_STOP = re.compile(r"""[.!?…;:]["'”’»)\]]{0,3}\s+|\n\s*""")
_ITEM = re.compile(
    r"(?:(?:and|or)\s)?(?:\([A-Za-z0-9]{1,5}\)|[a-z0-9]{1,3}\))\s"
    r"|[•●▪‣◦*–—-]\s"
    r"|\d{1,3}(?:\.\d{1,3}){0,4}\.?\s+[^\Wa-z\d_]"
)
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
    for stop in _STOP.finditer(text, start, end):
        if _ends_sentence(text, start, stop):
            sentences.append(trimmed(text, Span(start, stop.end())))
            start = stop.end()
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


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    mark = text[stop.start()]
    if mark in ";:":
        return _ends_item(text, start, stop)
    if mark == "\n":
        return _breaks_line(text, start, stop)
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


def _breaks_line(text: str, start: int, stop: re.Match[str]) -> bool:
    """A line break alone ends a sentence only before a new item, and not in `Section⏎2.1`."""
    before = _token_before(text, start, stop.start())
    return before.lower() not in NUMBER_KEYWORDS and _ITEM.match(text, stop.end()) is not None


def _is_abbreviation(text: str, start: int, stop: re.Match[str]) -> bool:
    """Tell whether the full stop belongs to the word or number before it."""
    token = _token_before(text, start, stop.start())
    token_start = stop.start() - len(token)
    if _NUMBER.fullmatch(token) and _opens_sentence(text, start, token_start):
        return True
    word = token.strip("(\"'“‘[").lower()
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
