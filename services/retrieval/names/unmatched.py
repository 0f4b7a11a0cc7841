"""Finds the names in a question by which it asks for a document, and that no document bears.

A question is refused for such a name, so that little counts as one: words with a capital that stand where the
name of a party stands, as in `the Acme agreement`, `our contract with Acme` or `Does Acme have to pay?`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus.spans import Span
from services.retrieval.names.lists import DOCUMENT_NOUNS, NEVER_NAMES
from services.retrieval.names.words import Word, words_of

_DOCUMENT = (
    "(?:agreements?|contracts?|deals?|leases?|ndas?|msas?|sows?|amendments?|addend(?:um|a)"
    "|partnership|alliance)"
)
_DOCUMENT_OF = re.compile(
    rf"\b{_DOCUMENT}(?:\s[a-z]{{1,15}}){{0,2}}?\s(?:with|between|from|by)\s(?:the\s)?(?:[^?.;:]{{1,60}}\sand\s)?$",
    re.IGNORECASE,
)
"""Words before a name by which a document is called."""
_OF_DOCUMENT = re.compile(rf"(?P<kind>(?:['’]s?)?(?:\s[\w-]{{1,20}}){{0,4}}?)\s{_DOCUMENT}\b", re.IGNORECASE)
"""Words behind one."""
_ASKED_ABOUT = re.compile(
    r"\b(?:do|does|did|can|could|may|must|might|should|shall|will|would|is|are|was|were|has|have|had|if|when"
    r"|unless|owes?|pays?|tells?|between|than|from|by|against)\s(?:the\s)?$",
    re.IGNORECASE,
)
"""Words before the name of somebody who does, has or gets something."""
_ACTS = re.compile(
    r"['’]s?\s|\s(?:must|may|can|could|should|shall|will|would|has|have|had|is|was|does|doesn|did|cannot"
    r"|owes?|pays?|gets?|gives?|needs?|wants?|ends?|terminates?|breach(?:es)?|fails?|sells?|buys?|misses"
    r"|defaults?|charges|provides|receives|grants|supplies|delivers)\b"
)
"""Words behind one."""
_WITHIN_NAME = re.compile(r"\s?(?:&\s?|of\s(?:the\s)?|-)?")
_BEFORE_FORM = re.compile(r",?\s")
_ACRONYM = 5
"""Letters of words in capitals that may be short for anything: only a document is called by them."""


class Use(StrEnum):
    """What a question does with a name."""

    DOCUMENT = "document"
    """Calls a document by it: `the Acme agreement`."""
    PARTY = "party"
    """Says that it does, has or gets something: `Must Acme pay?`"""


@dataclass(frozen=True, slots=True)
class UnmatchedName:
    """Words of a question that look like a name and agree with none that a document bears."""

    text: str
    span: Span
    """In code points of the question."""
    use: Use
    stems: tuple[str, ...]
    """Of its words that tell it from others; at least one."""


def unmatched_names(question: str, matched: Sequence[Span]) -> list[UnmatchedName]:
    """The names besides those `matched`, in the order of the question; none where all words have capitals."""
    words = words_of(question)
    found = []
    for run in map(_without_noun, _runs(question, words)):
        span = Span(run[0].start, run[-1].end)
        if any(other.start < span.end and span.start < other.end for other in matched):
            continue
        stems = tuple(word.stem for word in run if word.tells)
        if not stems or any(word.folded in NEVER_NAMES for word in run):
            continue
        use = _use(question, span, run)
        if use is not None:
            found.append(UnmatchedName(question[span.start : span.end], span, use, stems))
    return found


def _use(question: str, span: Span, run: Sequence[Word]) -> Use | None:
    before, behind = question[: span.start], question[span.end :].removeprefix(".")
    called = _OF_DOCUMENT.match(behind)
    if _DOCUMENT_OF.search(before) or (called and all(word.is_generic for word in words_of(called["kind"]))):
        return Use.DOCUMENT
    if len(run) == 1 and run[0].text.isupper() and len(run[0].text) <= _ACRONYM:
        return None
    return Use.PARTY if _ASKED_ABOUT.search(before) or _ACTS.match(behind) else None


def _runs(question: str, words: Sequence[Word]) -> Iterator[list[Word]]:
    """The longest runs of words with a capital, company forms and links between them included."""
    run: list[Word] = []
    for word in words:
        between = question[run[-1].end : word.start] if run else ""
        gap = _BEFORE_FORM if word.is_form else _WITHIN_NAME
        if run and not (word.has_capital and gap.fullmatch(between)):
            yield run
            run = []
        if word.has_capital:
            run.append(word)
    if run:
        yield run


def _without_noun(run: list[Word]) -> list[Word]:
    """A run without the `Supply Agreement` at its end."""
    if run[-1].folded not in DOCUMENT_NOUNS:
        return run
    last = max((index for index, word in enumerate(run) if word.tells), default=len(run) - 1)
    return run[: last + 1]
