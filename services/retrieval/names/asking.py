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
from services.retrieval.names.lists import AGREEMENT_NOUNS, DETERMINERS, DOCUMENT_NOUNS, LINKS, TOLD_BY_NOUNS
from services.retrieval.names.words import Word, words_of

ONE, SEVERAL, AGREEMENT = "company", "parties", "agreement"
NOUN_WITHIN = 5
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
    cap in the agreement?`
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
        article = "" if determined else "the "
        called = _called(question, name.end, is_determined=bool(determined), before=before)
        if called is not None:
            yield Place(start, called.end, article + called.words)
        elif len(row) > 1 and len({role for _, role in row if role}) < len(row):
            yield Place(start, name.end, f"{article}{SEVERAL}")
        else:
            for span, role in row:
                article = "" if _DETERMINED.search(question[: span.start]) else "the "
                yield Place(span.start, span.end, f"{article}{role or ONE}")


def _called(question: str, end: int, *, is_determined: bool, before: str) -> Place | None:
    """The words behind a name that call a document with it, and what takes their place; None without any.

    Contracts call themselves `this Agreement`, whatever people call them: `the Acme software licence`. Of
    `the Acme insurance policy` all words but the name stay.
    """
    behind = question[end:]
    if not behind.startswith((" ", "-")) or not (is_determined or _CALLING.search(before)):
        return None
    words = words_of(behind)
    for number, word in enumerate(words[:NOUN_WITHIN]):
        if word.folded in LINKS or word.folded in DETERMINERS:
            return None
        if word.folded in DOCUMENT_NOUNS and not goes_on(words, number):
            is_agreement = word.folded in AGREEMENT_NOUNS
            return Place(end, end + word.end, AGREEMENT) if is_agreement else Place(end, end, "")
        if not before and not word.is_generic:
            return None
    return None


def goes_on(words: Sequence[Word], number: int) -> bool:
    """Whether the noun at `number` only tells what the next one is: `licence` of `the licence fee`."""
    following = words[number + 1 : number + 2]
    return any(word.folded in DOCUMENT_NOUNS or word.folded in TOLD_BY_NOUNS for word in following)
