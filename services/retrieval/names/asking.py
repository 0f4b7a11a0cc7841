"""Says what a question asks of the documents that it names: the question with plain words for the names.

A document says `the Licensee` where people say `Acme`: a name finds nothing in it but its first page. All
else that is asked stays, since its words are looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.spans import Span
from services.retrieval.lexicon import is_question_word
from services.retrieval.names.lists import DOCUMENT_NOUNS, LINKS
from services.retrieval.names.words import words_of

ONE, SEVERAL = "company", "the parties"
NOUN_WITHIN = 4
"""Words behind a name of which one may be the noun of its document: `the Acme master supply agreement`."""

_JOINED = re.compile(r"\s?(?:[/,&–-]|,?\s?\b(?:and|or)\b)?\s?(?:the\s)?")
_DETERMINED = re.compile(
    r"\b(?:the|our|my|your|their|its|his|her|this|that|an?)\s(?:(?:19|20)\d\d\s)?$", re.I
)
_CALLING = re.compile(r"(?:^|\b(?:in|under|of|with|for|from|by)\s)$", re.I)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name stands in a question, or several in a row, and the words that take its place."""

    start: int
    end: int
    words: str


def without_names(question: str, names: Mapping[Span, str], segments: Sequence[Span]) -> str:
    """The segments of a question, in one line, with other words for names; itself when nothing else is asked.

    `names` are where they stand, with the role of each party in its document; empty where it is not known.
    `Must Acme pay?` asks `Must the Licensee pay?`, and `Is there a cap in the Acme lease?` asks `Is there a
    cap in the lease?`
    """
    places = list(_places(question, sorted(names.items(), key=lambda named: named[0].start)))
    cut = [replace(place, words=" ") for place in places]
    if all(is_question_word(word.stem) for word in words_of(_replaced(question, cut, segments))):
        return question
    return " ".join(_replaced(question, places, segments).split())


def _replaced(question: str, places: Sequence[Place], segments: Sequence[Span]) -> str:
    """The segments with the words of the places."""
    replaced = []
    for segment in segments:
        at, pieces = segment.start, []
        for place in places:
            if segment.start <= place.start and place.end <= segment.end:
                pieces += [question[at : place.start], place.words]
                at = place.end
        replaced.append("".join([*pieces, question[at : segment.end]]).strip())
    return "; ".join(replaced)


def _places(question: str, names: Sequence[tuple[Span, str]]) -> Iterator[Place]:
    """Names in a row are one place where they call a document, or where not each has a role of its own."""
    first = 0
    for number, (name, _) in enumerate(names, 1):
        if number < len(names) and _JOINED.fullmatch(question[name.end : names[number][0].start]):
            continue
        row = names[first:number]
        first = number
        start = row[0][0].start
        before = question[:start]
        determined = _DETERMINED.search(before)
        if _names_document(question[name.end :]) and (determined or _CALLING.search(before)):
            yield Place(start, name.end, "" if determined else "the")
        elif len(row) > 1 and len({role for _, role in row if role}) < len(row):
            yield Place(start, name.end, SEVERAL)
        else:
            for span, role in row:
                article = "" if _DETERMINED.search(question[: span.start]) else "the "
                yield Place(span.start, span.end, f"{article}{role or ONE}")


def _names_document(behind: str) -> bool:
    """Whether a document is called by the name that these words stand behind."""
    if not behind.startswith((" ", "-")):
        return False
    for word in words_of(behind)[:NOUN_WITHIN]:
        if word.folded in LINKS:
            return False
        if word.folded in DOCUMENT_NOUNS:
            return True
    return False
