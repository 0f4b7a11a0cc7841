"""The words of a question or of a name, with what tells whether they name somebody."""

from __future__ import annotations

import re
from dataclasses import dataclass

from corpus.stems import stems_of
from services.retrieval.lexicon import is_question_word
from services.retrieval.names.lists import COMPANY_FORMS, GENERIC, LINKS, NEVER_NAMES

_WORD = re.compile(r"[^\W_]+")
_SHORTENED = re.compile(r"\b(?:[A-Z]|Mrs?|Ms|Dr|Prof|St|Inc|Corp|Co|Ltd|No)\.$")
_POSSESSIVE = re.compile(r"['’](?:[sS](?![^\W_])|(?=\s|$))")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question or of a name."""

    text: str
    folded: str
    start: int
    end: int
    has_capital: bool
    """Or a digit. A capital that begins a sentence does not count, nor any where all words have one."""
    stem: str
    """As documents are indexed by."""
    is_generic: bool
    """Whether it names nobody alone."""

    @property
    def is_link(self) -> bool:
        """Whether a name only goes on over it: `of`."""
        return self.folded in LINKS and self.text.islower()

    @property
    def is_form(self) -> bool:
        """Whether it is a company form: `Limited`, not `limited`."""
        written = self.text[0].isupper() or self.folded in ("inc", "llc", "ltd", "corp", "plc", "gmbh")
        return written and self.folded in COMPANY_FORMS

    @property
    def tells(self) -> bool:
        """Whether it tells a name from others."""
        return not self.is_generic and self.text[0].isalpha()


def words_of(text: str) -> list[Word]:
    """The words of a question or a name, without the `'s` of a possessive."""
    plain = _POSSESSIVE.sub(lambda match: " " * len(match[0]), text)
    found = list(_WORD.finditer(plain))
    wordy = [match[0] for match in found if fold(match[0]) not in LINKS and match[0][0].isalpha()]
    shouted = len(wordy) > 2 and all(word[0].isupper() for word in wordy)
    return [
        _word(match, not shouted and _has_capital(match[0], starts=_starts_sentence(plain, match.start())))
        for match in found
    ]


def _word(match: re.Match[str], has_capital: bool) -> Word:
    folded = fold(match[0])
    return Word(match[0], folded, match.start(), match.end(), has_capital, stem(folded), _is_generic(folded))


def stems_in_capitals(text: str) -> set[str]:
    """Stems of the words of a text that have a capital, wherever they stand."""
    return {stem(fold(word)) for word in _WORD.findall(text) if any(map(str.isupper, word))}


def _starts_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip()
    return not before or (before[-1] in ".?!:;" and not _SHORTENED.search(before))


def _is_generic(folded: str) -> bool:
    listed = any(folded in words for words in (GENERIC, LINKS, COMPANY_FORMS, NEVER_NAMES))
    return listed or len(folded) == 1 or folded.isdigit() or is_question_word(stem(folded))


def _has_capital(word: str, *, starts: bool) -> bool:
    if word == "I":
        return False
    if any(map(str.isupper, word[1:])) or word[0].isdigit():
        return True
    return word[0].isupper() and not starts


def fold(text: str) -> str:
    """The letters and digits of a text without case."""
    return "".join(character for character in text.casefold() if character.isalnum())


def stem(word: str) -> str:
    """The stem of one word."""
    return next(iter(stems_of(word)), word)
