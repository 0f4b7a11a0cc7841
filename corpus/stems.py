"""Text as words that can be counted: the one function that makes stems, for documents and questions alike.

Indexes hold what it made: a change of what `stems_of` returns changes the layout of every store.
"""

from __future__ import annotations

import re
import threading
import unicodedata

import Stemmer

_WORD = re.compile(r"\w\w+")
# A compound is kept whole, beside its words, only when cutting it up would lose a part: `10b-5`, `s&p`,
# `401(k)`, `1.2(a)`, `2.50`, `1,000`. Not `real-time` or `and/or`, whose words say it all, nor a
# possessive `'s`.
_COMPOUND = re.compile(r"\b\w+(?:(?:[-&./]|(?<=\d),(?=\d))\w+|(?<=\d)\(\w+\)|(?<=\))\(\w+\))+")
_JOINERS = re.compile(r"[-&./,()]+")


class _Stemmers(threading.local):
    """One stemmer a thread: they cache words and are not thread-safe."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english")


_stemmers = _Stemmers()


def stems_of(text: str) -> list[str]:
    r"""Snowball English stems of the words (`\w\w+`) of a text, lower-cased, in order, then its compounds.

    Nothing is left out as a stop word, since legal text needs "no", "not" and "or". A compound such as
    `10b-5` is not stemmed; its brackets fall away, so that `401(k)` and `401k` are one token.
    """
    folded = unicodedata.normalize("NFKC", text).lower()
    words: list[str] = _stemmers.english.stemWords(_WORD.findall(folded))
    return words + [
        compound.replace("(", "").replace(")", "")
        for compound in _COMPOUND.findall(folded)
        if any(len(part) == 1 for part in _JOINERS.split(compound))
    ]
