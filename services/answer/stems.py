"""Cuts text into the stems that keyword shares count; the same cut as retrieval's."""

from __future__ import annotations

import re
import threading
import unicodedata

import Stemmer

_WORD = re.compile(r"\w\w+")
# `10b-5`, `s&p`, `401(k)`: compounds that lose a part when cut into words are kept whole beside them.
_COMPOUND = re.compile(r"\b\w+(?:(?:[-&./]|(?<=\d),(?=\d))\w+|(?<=\d)\(\w+\)|(?<=\))\(\w+\))+")
_JOINERS = re.compile(r"[-&./,()]+")
_BRACKETS = str.maketrans("", "", "()")


class _Stemmers(threading.local):
    """One stemmer a thread: they cache words and are not thread-safe."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english")


_stemmers = _Stemmers()


def stems_of(text: str) -> list[str]:
    """English Snowball stems of the words of two characters and more, in order, then the compounds."""
    folded = unicodedata.normalize("NFKC", text).lower()
    words: list[str] = _stemmers.english.stemWords(_WORD.findall(folded))
    compounds = _COMPOUND.findall(folded)
    lossy = (compound for compound in compounds if any(len(part) == 1 for part in _JOINERS.split(compound)))
    return words + [compound.translate(_BRACKETS) for compound in lossy]
