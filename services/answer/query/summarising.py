"""Decides which sentences of a model's summary leave: none that says what its quotes do not.

The quotes leave whatever the summary says, and stand below it. So a sentence that is true and fails a check
costs the reader nothing but a shortcut, and one that drops a condition or a denial of its quotes is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chassis.telemetry import counter
from services.answer.answers import SummarySentence
from services.answer.contracts.answer import GivenSentence
from services.answer.query.stating import Dropped, Left, Stated, Why
from services.answer.verification.lint import (
    LintRule,
    joined_halves,
    lint,
    replaced_words,
    says_something,
    unknown_beginnings,
)
from services.answer.verification.overstatement import guesses, plain

_drops = counter(
    __name__, "clausegate.summary.dropped", "Sentences of a summary that did not leave.", "{sentence}"
)
_YES_OR_NO = re.compile(r"yes\b[\s,.:;–—-]*|no\s*[,.:;–—-]+\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Summary:
    """What of a model's summary leaves."""

    sentences: tuple[SummarySentence, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def summarised(given: Sequence[GivenSentence], stated: Stated, question: str) -> Summary:
    """The sentences all of whose quotes left as an answer, and bear out what they say."""
    sentences, dropped = list[SummarySentence](), list[Dropped]()
    for number, sentence in enumerate(given, start=1):
        quotes, text = _quotes_of(sentence, stated.left), _worded(sentence.text)
        fault = _fault(text, quotes, question)
        if fault is None:
            numbers = (n for quote in quotes for n in quote.statement.citation_numbers)
            sentences.append(SummarySentence(text, tuple(sorted(set(numbers)))))
        else:
            why, rules = fault
            dropped.append(Dropped(number, why, rules))
            _drops.add(1, {"clausegate.dropped.why": why})
    return Summary(tuple(sentences), tuple(dropped))


def _quotes_of(sentence: GivenSentence, left: Mapping[int, Left]) -> list[Left]:
    """As what its quotes left; nothing unless all of them did, and none is in doubt."""
    quotes = [left.get(number) for number in sentence.quotes]
    firm = [quote for quote in quotes if quote and not quote.statement.possibly_related]
    return firm if len(firm) == len(quotes) else []


def _fault(text: str, quotes: Sequence[Left], question: str) -> tuple[Why, tuple[LintRule, ...]] | None:
    """What is wrong with a sentence, and the rules that it breaks; None for nothing.

    The question lends no names: asked for Delaware law, a model says so beside a quote of Illinois.
    """
    if not quotes:
        return Why.NO_STORED_QUOTE, ()
    readings = [reading for quote in quotes for reading in quote.readings]
    if guesses(text, readings):
        return Why.GUESS, ()
    rules = dict.fromkeys(finding.rule for finding in lint(text, readings))
    if unknown_beginnings(text, readings, question):
        rules[LintRule.NAME] = None
    if joined_halves(text, [" ".join(quote.readings) for quote in quotes]):
        rules[LintRule.RELATION] = None
    if replaced_words(text, readings):
        rules[LintRule.UNSUPPORTED_WORDS] = None
    if rules:
        return Why.GOES_BEYOND, tuple(rules)
    return None if says_something(text) else (Why.SAYS_NOTHING, ())


def _worded(text: str) -> str:
    """A sentence without its yes or no: nothing tells whether that is the answer, and the rest says it."""
    said = plain(text)
    begun = _YES_OR_NO.match(said)
    said = said[begun.end() :] if begun else said
    return said[:1].upper() + said[1:]
