"""What an answer may say: extracts word for word, or a model's claims that stored text supports.

A model's claim counts only with quotes that stand in their chunks, and only if it neither says what the lint
misses in them nor guesses. What leaves are its quotes, whole sentences: no check of words can tell whether a
shorter one means the same (`the Subscriber owns it` of `the Vendor denies that the Subscriber owns it`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chassis.telemetry import counter
from corpus.chunks import Chunk
from services.answer.answers import Statement
from services.answer.context import without_marks
from services.answer.contracts.answer import AnswerReply
from services.answer.evidence.extraction import MAX_STATEMENTS
from services.answer.query.composing import Draft
from services.answer.sentences import Sentence, table_header_of
from services.answer.verification.citing import (
    Citations,
    Quote,
    Stored,
    quote_of_definition,
    quote_of_sentence,
)
from services.answer.verification.lint import LintRule, lint
from services.answer.verification.overstatement import guesses, plain

_drops = counter(__name__, "clausegate.statements.dropped", "A model's statements kept back.", "{statement}")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a model says, and the words that it says it has read."""

    text: str
    quotes: tuple[Quote, ...]


class Why(StrEnum):
    """Why nothing of a claim leaves."""

    NO_STORED_QUOTE = "no_stored_quote"
    GUESS = "guess"
    GOES_BEYOND = "goes_beyond"
    SAYS_NOTHING = "says_nothing"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A claim of which nothing leaves."""

    number: int
    """The claim's place among all claims, from 1."""
    why: Why
    rules: tuple[LintRule, ...] = ()
    """What it breaks when it goes beyond its quotes."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What of a model's claims leaves."""

    statements: tuple[Statement, ...]
    dropped: tuple[Dropped, ...]
    """Claims of which nothing leaves."""


def extracted(draft: Draft, sentences: Sequence[Sentence], citations: Citations) -> tuple[Statement, ...]:
    """At most three extracts. A term that is asked for is answered by its definitions first, then come the
    sentences, best first; a table row cites its header as well. What is doubtful comes last."""
    found = list[Stored]()
    for quote in [*map(quote_of_definition, draft.asked_definitions()), *map(quote_of_sentence, sentences)]:
        stored = None if _is_said(quote, found) else citations.find(quote)
        if stored is not None:
            found.append(stored)
    chosen = sorted(without_repeated(found)[:MAX_STATEMENTS], key=_is_doubtful)
    headers = {(sentence.chunk.chunk_id, sentence.span): table_header_of(sentence) for sentence in sentences}
    return tuple(
        _statement(
            stored, _above(stored, headers.get((stored.chunk.chunk_id, stored.span)), citations), citations
        )
        for stored in chosen
    )


def _above(row: Stored, header: Sentence | None, citations: Citations) -> tuple[Stored, ...]:
    """The header above a table row, unless the quote of the row has it."""
    found = citations.find(quote_of_sentence(header)) if header else None
    return (found,) if found and not row.holds(found) else ()


def without_repeated(quotes: Sequence[Stored]) -> list[Stored]:
    """The quotes whose words are not all among those of another: a lead-in says nothing beside its item.

    One that stands without any of its items is quoted with all of them.
    """
    standing = _not_held(quotes)
    return _not_held(list(dict.fromkeys(quote.whole() for quote in standing)))


def _not_held(quotes: Sequence[Stored]) -> list[Stored]:
    return [quote for quote in quotes if not any(other.holds(quote) for other in quotes)]


def claims_of(reply: AnswerReply, handles: Mapping[str, Chunk]) -> tuple[Claim, ...]:
    """The claims of a reply, each quote as the whole sentences that it is from.

    Quotes under a handle that was not shown are left out.
    """
    return tuple(
        Claim(
            plain(statement.text),
            tuple(
                Quote(
                    without_marks(said.quote),
                    chunk.chunk_id,
                    chunk.document_id,
                    chunk.span.start,
                    whole_sentences=True,
                )
                for said in statement.quotes
                if (chunk := handles.get(said.chunk))
            ),
        )
        for statement in reply.statements
    )


def supported_claims(claims: Sequence[Claim], citations: Citations, question: str) -> Stated:
    """The claims that stored text supports, as its quotes, in order, doubtful ones last; nothing is said
    twice."""
    held, dropped = dict[Stored, tuple[Stored, ...]](), list[Dropped]()
    for number, claim in enumerate(claims, start=1):
        stored = tuple(dict.fromkeys(found for quote in claim.quotes if (found := citations.find(quote))))
        why, rules = _fault(claim, stored, question)
        standing = () if why else tuple(quote for quote in stored if quote.says_something)
        above = tuple(quote for quote in stored if quote not in standing)
        for quote in standing:
            held.setdefault(quote, above)
        if not standing:
            dropped.append(Dropped(number, why or Why.SAYS_NOTHING, rules))
    for lost in dropped:
        _drops.add(1, {"clausegate.dropped.why": lost.why})
    above_of = {quote.whole(): above for quote, above in held.items()} | held
    chosen = sorted(without_repeated(tuple(held)), key=_is_doubtful)
    return Stated(tuple(_statement(quote, above_of[quote], citations) for quote in chosen), tuple(dropped))


def _fault(claim: Claim, quotes: Sequence[Stored], question: str) -> tuple[Why | None, tuple[LintRule, ...]]:
    """What is wrong with a claim, None for nothing, and the rules of the lint that it breaks.

    Conditions that it leaves out are no fault: what leaves is the quote, which has them. Nor is it one to
    give the words of a quote without the lead-in that comes with them.
    """
    if not quotes:
        return Why.NO_STORED_QUOTE, ()
    if claim.text in [
        plain(words) for quote in quotes for words in (quote.words, quote.text, quote.without_dots)
    ]:
        return None, ()
    readings = [quote.reading for quote in quotes]
    if guesses(claim.text, readings):
        return Why.GUESS, ()
    rules = dict.fromkeys(finding.rule for finding in lint(claim.text, readings, question))
    broken = tuple(rule for rule in rules if rule is not LintRule.CONDITION)
    return (Why.GOES_BEYOND if broken else None), broken


def _statement(quote: Stored, above: Sequence[Stored], citations: Citations) -> Statement:
    """A quote as a statement; headings and headers of tables are cited with it."""
    own = citations.cite_stored(quote)
    numbers = tuple(dict.fromkeys([own.number, *(citations.cite_stored(quote).number for quote in above)]))
    return Statement(quote.text, (quote.chunk.source.upper(),), numbers, _is_doubtful(quote))


def _is_doubtful(quote: Stored) -> bool:
    return bool(quote.doubts)


def _is_said(quote: Quote, found: Sequence[Stored]) -> bool:
    """Whether a definition that is quoted already holds the quote."""
    end = quote.start + len(quote.text)
    return any(
        stored.chunk.document_id == quote.document_id
        and stored.span.start < end
        and quote.start < stored.span.end
        for stored in found
    )
