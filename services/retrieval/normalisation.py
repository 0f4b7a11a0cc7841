"""Reduces a question to the words worth searching for."""

from __future__ import annotations

import re

from services.retrieval.terms import DefinedTerms

LEADING = (
    r"what\s+is|what\s+are|what's|can\s+you|could\s+you|would\s+you|please\s+explain|please\s+tell\s+me"
    r"|how\s+does|how\s+do|how\s+is|tell\s+me\s+about|explain"
)
FILLER_WORDS = """
the a an is are was were be been being have has had do does did will would could should may might must shall
this that these those i me my we our you your for
"""
FILLERS = frozenset(FILLER_WORDS.split())
LEADING_PHRASES = re.compile(rf"(?:\s*(?:{LEADING})(?![\w'-])[\s,:]*)+")
QUOTED = re.compile(r'"[^"]*\w[^"]*"')
STRAIGHT_QUOTES = str.maketrans("“”„‟«»’‘", '""""""' + "''")
EDGES = re.compile(r"^[^\w&]+|[^\w&%]+$")
"""Punctuation around a word. A per cent sign and an ampersand belong to it."""


def normalise(question: str, terms: DefinedTerms) -> str:
    """The question in lower case without leading phrases, fillers and punctuation; itself if nothing is left.

    Phrases in double quotes keep their words and quotes, and so do the words of `terms`, except a term that
    consists of fillers alone (a licence may define “You”). Normalising again changes nothing.
    """
    text = question
    while (reduced := _reduced(text, terms)) != text:
        text = reduced
    return text or question


def _reduced(question: str, terms: DefinedTerms) -> str:
    text = question.lower().translate(STRAIGHT_QUOTES)
    leading = LEADING_PHRASES.match(text)
    text = text[leading.end() :] if leading else text
    words: list[str] = []
    at = 0
    for start, end in _protected(text, terms):
        words += _kept(text[at:start])
        words.append(" ".join(text[start:end].split()))
        at = end
    return " ".join(words + _kept(text[at:]))


def _kept(text: str) -> list[str]:
    words = (EDGES.sub("", word) for word in text.replace('"', " ").split())
    return [word for word in words if word and word not in FILLERS]


def _protected(text: str, terms: DefinedTerms) -> list[tuple[int, int]]:
    quoted = [match.span() for match in QUOTED.finditer(text)]
    used = [
        (use.start, use.end)
        for use in terms.uses(text)
        if not FILLERS.issuperset(text[use.start : use.end].split())
        and not any(start < use.end and use.start < end for start, end in quoted)
    ]
    return sorted(quoted + used)
