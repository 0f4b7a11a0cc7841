"""What an answer states: extracts, or the quotes that a model has chosen, word for word and whole.

A model's quote leaves when it stands in its chunk and is more than a heading, whatever else the model says.
It leaves as the whole sentences that hold it, with what governs them: out of `the Vendor denies that the
Subscriber owns it` nobody can cut that the Subscriber does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chassis.telemetry import counter
from corpus.chunks import Chunk
from corpus.citations import Highlight
from services.answer.answers import Statement
from services.answer.context import without_marks
from services.answer.contracts.answer import GivenQuote
from services.answer.evidence.extraction import MAX_STATEMENTS
from services.answer.evidence.highlights import highlight_of
from services.answer.query.composing import Draft
from services.answer.sentences import Sentence, all_of, is_row, table_header_of
from services.answer.verification.citing import (
    Citations,
    Quote,
    Stored,
    quote_of_definition,
    quote_of_sentence,
)
from services.answer.verification.lint import LintRule

_drops = counter(__name__, "clausegate.quotes.dropped", "A model's quotes that did not leave.", "{quote}")


class Why(StrEnum):
    """Why something that a model says does not leave."""

    NO_STORED_QUOTE = "no_stored_quote"
    GUESS = "guess"
    GOES_BEYOND = "goes_beyond"
    SAYS_NOTHING = "says_nothing"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A quote of a model, or a sentence of its summary, that does not leave."""

    number: int
    """Its place among the model's quotes, or sentences, from 1."""
    why: Why
    rules: tuple[LintRule, ...] = ()
    """What a sentence breaks that goes beyond its quotes."""


@dataclass(frozen=True, slots=True)
class Left:
    """As what a quote has left."""

    statement: Statement
    readings: tuple[str, ...]
    """What the statement says to a reader, and the header of a table row, see `Stored.reading`."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What of a model's quotes leaves."""

    left: Mapping[int, Left]
    """By the place of the quote among the model's quotes, from 1; several may have left as one statement."""
    statements: tuple[Statement, ...]
    dropped: tuple[Dropped, ...]


def extracted(draft: Draft, sentences: Sequence[Sentence], citations: Citations) -> tuple[Statement, ...]:
    """At most three extracts. A term that is asked for is answered by its definitions first, then come the
    sentences, best first; a table row cites its header as well. What is doubtful comes last."""
    found = list[Stored]()
    for quote in [*map(quote_of_definition, draft.asked_definitions()), *map(quote_of_sentence, sentences)]:
        stored = None if _is_said(quote, found) else citations.find(quote)
        if stored is not None:
            found.append(stored)
    chosen = sorted(without_repeated(found)[:MAX_STATEMENTS], key=_is_doubtful)
    if draft.is_answer:
        _mark(chosen, draft.question, citations)
    return tuple(_statement(stored, _header_above(stored, citations), citations) for stored in chosen)


def _mark(chosen: Sequence[Stored], question: str, citations: Citations) -> None:
    """Cite the first quote with what of it answers the question, if that is certain."""
    if chosen and not _is_doubtful(chosen[0]) and (span := highlight_of(question, chosen[0].text)):
        citations.cite_stored(chosen[0], (Highlight(span.start, span.end),))


def without_repeated(quotes: Sequence[Stored]) -> list[Stored]:
    """The quotes whose words are not all among those of another: a lead-in says nothing beside its item.

    One that stands without any of its items is quoted with all of them.
    """
    standing = _not_held(quotes)
    return _not_held(list(dict.fromkeys(quote.whole() for quote in standing)))


def _not_held(quotes: Sequence[Stored]) -> list[Stored]:
    return [quote for quote in quotes if not any(other.holds(quote) for other in quotes)]


def quotes_of(given: Sequence[GivenQuote], handles: Mapping[str, Chunk]) -> tuple[Quote | None, ...]:
    """The quotes of a reply, each to be cited as the whole sentences that it is from; None for one under a
    handle that was not shown."""
    return tuple(_quote_of(quote, handles.get(quote.chunk)) for quote in given)


def _quote_of(given: GivenQuote, chunk: Chunk | None) -> Quote | None:
    if chunk is None:
        return None
    words, start = without_marks(given.quote), chunk.span.start
    return Quote(words, chunk.chunk_id, chunk.document_id, start, whole_sentences=True)


def quoted(quotes: Sequence[Quote | None], citations: Citations, question: str) -> Stated:
    """The quotes that stand in the stored text, as whole sentences, in order, doubtful ones last.

    Nothing is said twice; a table row cites its header as well.
    """
    found = [citations.find(quote) if quote else None for quote in quotes]
    dropped = tuple(_dropped(found))
    for lost in dropped:
        _drops.add(1, {"clausegate.dropped.why": lost.why})
    standing = {stored.parts: stored for stored in reversed(found) if stored and stored.says_something}
    chosen = sorted(without_repeated([*reversed(standing.values())]), key=_is_doubtful)
    _mark(chosen, question, citations)
    leaving = {stored: _left(stored, citations) for stored in chosen}
    left = {
        number: leaving[holding]
        for number, stored in enumerate(found, start=1)
        if stored and (holding := next((whole for whole in chosen if whole.covers(stored)), None))
    }
    return Stated(left, tuple(said.statement for said in leaving.values()), dropped)


def _dropped(found: Sequence[Stored | None]) -> Iterator[Dropped]:
    for number, stored in enumerate(found, start=1):
        if stored is None:
            yield Dropped(number, Why.NO_STORED_QUOTE)
        elif not stored.says_something:
            yield Dropped(number, Why.SAYS_NOTHING)


def _left(stored: Stored, citations: Citations) -> Left:
    header = _header_above(stored, citations)
    readings = (*([header.reading] if header else []), stored.reading)
    return Left(_statement(stored, header, citations), readings)


def _statement(stored: Stored, header: Stored | None, citations: Citations) -> Statement:
    """A quote as a statement; the header of a table row is cited with it."""
    cited = [citations.cite_stored(quote).number for quote in (stored, header) if quote]
    return Statement(stored.text, (stored.chunk.source.upper(),), tuple(cited), _is_doubtful(stored))


def _header_above(stored: Stored, citations: Citations) -> Stored | None:
    """The header above a table row; None for anything else, and where the row's own header leads into it."""
    if stored.parts[0].span.start < stored.span.start:
        return None
    rows = (sentence for sentence in all_of(stored.chunk) if is_row(sentence))
    row = next((row for row in rows if row.span.overlap(stored.span)), None)
    header = table_header_of(row) if row else None
    return citations.find(quote_of_sentence(header)) if header else None


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
