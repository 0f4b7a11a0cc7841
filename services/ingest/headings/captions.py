"""Finds where the caption of a numbered clause ends: `Fees.`, `LIMITATION OF LIABILITY`, `Term and Fees`."""

from __future__ import annotations

import re

from corpus.spans import Span
from services.ingest.vocabulary import (
    CAPTION_ENDERS,
    CAPTION_SMALL_WORDS,
    COMPANY_ENDINGS,
    COMPANY_FORMS,
    NUMBER_KEYWORDS,
    SELDOM_FINAL,
    VERBS,
)

_MAX_WORDS = 14
_MAX_CHARACTERS = 140
_ACRONYM = 6
"""Characters of a word in capitals that may be a name; longer ones are captions."""
_WORD = re.compile(r"\S+")
_LEAD = re.compile(r"[\s.:)\]–—-]*")
_NEXT_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,4}[.)]?$|\d{1,3}[.)]$|\([a-z]{1,4}\)$|[A-Za-z]\.$")
_DASHES = frozenset({"-", "–", "—", "--"})
_JOINERS = _DASHES | {"&", "/", "A", "I", "a", "and", "for", "in", "of", "or", "the", "to"}
_OPENING_QUOTES = "\"“‘'"
_PUNCTUATION = ".,:;\"'”’()[]"


def caption_end(text: str, rest: Span, whole_line: bool) -> int | None:
    """Return the end of the caption at the start of `rest`, without final punctuation; None without one.

    `rest` is what follows the clause number on its line; `whole_line` tells whether the number opens the
    line, so that all of a short `rest` may be a caption, however it is written.
    """
    lead = _LEAD.match(text, rest.start, rest.end)
    start = lead.end() if lead else rest.start
    if start == rest.end or text[start] in _OPENING_QUOTES or not text[start].isupper():
        return None
    window = _WORD.finditer(text, start, min(rest.end, start + _MAX_CHARACTERS))
    words = [match.group() for match in window][:_MAX_WORDS]
    count = _capitals(words) if _is_capitals(words[0]) else _title(words)
    if (
        count is None
        and (whole_line or all(map(_is_title_word, words)))
        and words[-1] == _last_word(text, rest)
    ):
        count = None if _goes_on(words, text, rest.end) else len(words)
    if count is None or _names_no_topic(words[:count]):
        return None
    return start + _length_of(text, start, words[:count])


def is_party(words: list[str]) -> bool:
    """Tell whether `words` are the name of a company rather than a topic."""
    bare = [word.strip(_PUNCTUATION).lower() for word in words]
    return len(bare) > 1 and (bare[-1] in COMPANY_ENDINGS or not COMPANY_FORMS.isdisjoint(bare))


def _is_capitals(word: str) -> bool:
    return word.isupper() and sum(character.isalpha() for character in word) > 1


def _capitals(words: list[str]) -> int | None:
    """Capitals end where ordinary text begins; one such word before ordinary text may be a mere acronym."""
    count = 0
    for word in words:
        if not _is_capitals(word) and word not in _JOINERS:
            break
        count += 1
        if word[-1] in ".:":
            return count
    while count > 1 and words[count - 1] in _JOINERS:
        count -= 1
    return None if count == 1 < len(words) and _is_acronym(*words[:2]) else count


def _is_acronym(word: str, following: str) -> bool:
    """Whether `word` belongs to the text: `MD Anderson`, not `DEFINITIONS For purposes …`."""
    if _opens_text(following):
        return False
    return len(word) <= _ACRONYM or not following[0].isupper()


def _title(words: list[str]) -> int | None:
    """Title case ends with a full stop or colon, or before a dash, a number or the start of a sentence."""
    for index, word in enumerate(words):
        bare = word.strip(_PUNCTUATION)
        if index and _opens_text(word) and words[index - 1] not in CAPTION_SMALL_WORDS:
            return index - words[index - 1].isdigit()  # the page number in a table of contents
        if not _is_title_word(word):
            return None
        ending = word.rstrip("\"'”’)]")[-1:]
        if ending == ":" or (ending == "." and len(bare) > 1 and bare.lower() not in SELDOM_FINAL):
            return index + 1
    return None


def _is_title_word(word: str) -> bool:
    bare = word.strip(_PUNCTUATION)
    return not bare[:1].islower() or bare in CAPTION_SMALL_WORDS


def _last_word(text: str, rest: Span) -> str:
    """The last word of a line short enough to be a caption, else nothing."""
    line = text[rest.start : rest.end].split() if rest.end - rest.start <= 2 * _MAX_CHARACTERS else []
    return line[-1] if 0 < len(line) <= _MAX_WORDS else ""


def _opens_text(word: str) -> bool:
    return word in CAPTION_ENDERS or word in _DASHES or _NEXT_NUMBER.match(word) is not None


def _goes_on(words: list[str], text: str, end: int) -> bool:
    """Tell whether a line is part of a sentence: it has a verb, stops short, or is continued below."""
    final = words[-1][-1]
    if final in ",;" or (final == "." and len(words) > 1):
        return True
    has_verb = not VERBS.isdisjoint(word.strip(_PUNCTUATION).lower() for word in words)
    return has_verb or text[end : end + _MAX_CHARACTERS].lstrip()[:1].islower()


def _names_no_topic(words: list[str]) -> bool:
    """`Acme, Inc.` is a party, `Clause` the start of a reference, `Fees and` half a line."""
    last = words[-1].strip(_PUNCTUATION).lower()
    return (
        not last
        or words[-1][-1] in ",;"
        or last in NUMBER_KEYWORDS
        or last in CAPTION_SMALL_WORDS
        or is_party(words)
    )


def _length_of(text: str, start: int, words: list[str]) -> int:
    """How far `words` reach from `start`, without their final punctuation."""
    end = start
    for word in words:
        end = text.index(word, end) + len(word)
    return len(text[start:end].rstrip(" .:,;–—-"))
