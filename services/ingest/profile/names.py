"""Tells where the name of a company or a person ends, and what is left of it without its company form."""

from __future__ import annotations

import re

from services.ingest.profile.vocabulary import (
    BODIES,
    COMPANY_FORMS,
    FORMS_IN_CAPITALS,
    NAME_ENDERS,
    NAME_LINKS,
    NOT_FIRST_IN_NAMES,
    OFFICES,
    PUBLIC_BODIES,
    SECOND_HALVES,
    SHORTENED_FORMS,
    STATES,
    TRADES,
)

_WORD = re.compile(r"[^\s,;:()\"“”\[\]]{1,60}")
_IN_PARENTHESES = re.compile(r"(?:\s?\((?:[A-Z][\w.&]{0,25}\s?){1,3}\)){1,2}(?=[\s,])")
_OF_PLACE = re.compile(r"\s(?:of|OF)(?:[ ][A-Z][\w.]{1,20}){1,2}(?=[\s,;(.]|$)")
_NEXT_FORM = re.compile(r",?\s(?:\((?P<aside>[^\s,;:()]{1,15})\)|(?P<word>[^\s,;:()]{1,15}))")
_OF_NUMBERS = re.compile(r"^\d{5}|\d\.\d|\s\d+\s.*\s\d+\b|\s\d+\s[A-Z][a-z]|[A-Z]{2}\s\d{5}")
_PARTNERS = re.compile(r",\s(?:[A-Z]\w{1,20},\s){0,2}[A-Z]\w{1,20},?\s&\s[A-Z]")
"""Goes on behind the first of several partners: `Quill, Marrow & Farrant, Inc.`."""
_JOINED = re.compile(r"(?i:and)\s([A-Za-z]{3,20})\b")
_LONGEST = 14
"""Words of a name."""


def is_form(word: str) -> bool:
    """Whether a word is a company form such as `Inc.`."""
    bare = word.rstrip(".,").lower()
    return bare in COMPANY_FORMS and (bare not in FORMS_IN_CAPITALS or word[0].isupper())


def name_end(text: str, start: int, *, wraps: bool = True) -> int | None:
    """Where the name that starts at `start` ends (exclusive); None when no name starts there.

    It ends behind its company form, or else behind its last word with a capital. It goes on over the end of a
    line if it `wraps`.
    """
    end: int | None = None
    position = start
    for count in range(_LONGEST):
        word = _WORD.match(text, position)
        if word is None or (_closes(word[0], first=count == 0) and not _joins_trades(text, position)):
            break
        if is_form(word[0]) and count:
            return _without_stop(text, position, _behind_forms(text, word.end() - word[0].endswith("..")))
        if _opens_name(word[0]):
            end = word.end()
            if _ends_sentence(word[0]):
                return end - 1
        elif (word[0] not in NAME_LINKS and word[0].lower() != "and") or not count:
            break
        following = _next_word(text, word.end())
        if following is None or (not wraps and "\n" in text[word.end() : following]):
            break
        position = following
    return end


def has_form(name: str) -> bool:
    """Whether a name says that it is a company's or another body's."""
    words = name.replace(",", " ").split()
    return len(words) > 1 and (
        words[0].lower() in PUBLIC_BODIES or any(is_form(word) or is_body(word) for word in words[1:])
    )


def ends_in_form(name: str) -> bool:
    """Whether a name ends in a company form."""
    words = name.split()
    return len(words) > 1 and is_form(words[-1])


def is_body(word: str) -> bool:
    """Whether the name of an organisation may hold a word as a part of it: `Bank`."""
    return word.lower().strip(".,") in BODIES


def without_form(name: str) -> str:
    """The name without the company form at its end; the name itself when nothing else is left."""
    kept = name
    while True:
        shorter = kept.rstrip(" ,")
        last = re.search(r"[\s,]\(?([^\s,()]+)\)?$", shorter)
        if last is None or not is_form(last[1]):
            return shorter
        kept = shorter[: last.start()]


def folded(name: str) -> str:
    """The letters and digits of a name, for comparing: without case, marks and white space."""
    return "".join(character for character in name.casefold() if character.isalnum())


def may_name(words: str) -> bool:
    """Whether words may name a party: no number, place or company form alone, no line of contents."""
    wordy = re.search(r"[^\W\d_]{2}", words) is not None and not all(map(is_form, words.split()))
    if not has_form(words) and is_office(words):
        return False
    return wordy and words.split()[0].lower() not in SECOND_HALVES and _OF_NUMBERS.search(words) is None


def is_office(words: str) -> bool:
    """Whether words tell what somebody is in a company: `Senior Vice President`."""
    return not OFFICES.isdisjoint(words.lower().replace(",", " ").split())


def within_partners(text: str, comma: int) -> bool:
    """Whether a comma stands between the names of partners, not of parties."""
    return (
        _PARTNERS.match(text, comma) is not None
        and re.search(r"\b[A-Z]\w*$", text[max(0, comma - 25) : comma]) is not None
    )


def _closes(word: str, *, first: bool) -> bool:
    return word.strip(".").lower() in (NOT_FIRST_IN_NAMES if first else NAME_ENDERS)


def _joins_trades(text: str, position: int) -> bool:
    """Whether `and` stands at `position` between two lines of business."""
    joined = _JOINED.match(text, position)
    before = text[max(0, position - 25) : position].split()
    return (
        joined is not None
        and joined[1].lower() in TRADES
        and before[-1:] != []
        and before[-1].lower() in TRADES
    )


def _opens_name(word: str) -> bool:
    """Whether a word has a capital or a digit where a name has it: `Acme`, `iVillage`, `3M`."""
    return word[0].isupper() or word[0].isdigit() or any(map(str.isupper, word[1:3])) or ".com" in word


def _ends_sentence(word: str) -> bool:
    return word.endswith(".") and len(word) > 4 and "." not in word[:-1]


def _next_word(text: str, position: int) -> int | None:
    """Where the next word of the name may start, over a comma before a company form."""
    aside = _IN_PARENTHESES.match(text, position)
    if aside:
        position = aside.end()
    if _PARTNERS.match(text, position):
        return position + 2
    if text.startswith(",", position):
        following = _WORD.match(text, position + 2)
        return position + 2 if following and is_form(following[0]) and following[0] not in STATES else None
    if position < len(text) and text[position].isspace():
        return position + 1
    return None


def _without_stop(text: str, start: int, end: int) -> int:
    """The end of a form, less the full stop of a sentence: `Inc.` has one of its own, `GmbH` has none."""
    last = text[start:end].split()[-1]
    is_own = "." in last[:-1] or last.strip(".,()").lower() in SHORTENED_FORMS
    return end - 1 if last.endswith(".") and not is_own else end


def _behind_forms(text: str, end: int) -> int:
    """The end of a name of which a form ends at `end`: `Co., Ltd.` has two, `Company of Delaware` goes on."""
    while following := _NEXT_FORM.match(text, end):
        last = following["aside"] or following["word"]
        if not is_form(last) and last.lower() not in ("partnership", "liability"):
            break
        end = following.end()
    place = _OF_PLACE.match(text, end) if is_body(text[max(0, end - 15) : end].split()[-1]) else None
    return place.end() if place else end
