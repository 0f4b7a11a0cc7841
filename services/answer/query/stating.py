"""What an answer may say: extracts word for word, or a model's claims as far as stored text bears them out.

A model's claim counts only with quotes that stand in their chunks, and only if it neither says what the lint
misses in them nor guesses. What leaves are its quotes, whole sentences: no check of words can tell whether a
shorter one means the same (`the Subscriber owns it` of `the Vendor denies that the Subscriber owns it`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chassis.telemetry import counter
from services.answer.answers import Citation, Statement
from services.answer.contracts.answer import FORBIDDEN_PHRASES, AnswerReply
from services.answer.corpus import Chunk
from services.answer.legible import legible
from services.answer.query.composing import Draft
from services.answer.query.extraction import MAX_STATEMENTS
from services.answer.sentences import Sentence, table_header_of
from services.answer.verification.citing import Citations, Quote, quote_of_definition, quote_of_sentence
from services.answer.verification.lint import LintRule, lint, replaced_words

_drops = counter(__name__, "clausegate.statements.dropped", "A model's statements kept back.", "{statement}")
_GUESS = re.compile(rf"\b(?:{'|'.join(FORBIDDEN_PHRASES)})\b".replace(" ", r"\s+"), re.IGNORECASE)


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
    """Its place among the claims, from 1."""
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
    sentences, best first; a table row cites its header as well."""
    drafted: list[tuple[Quote, Sentence | None]]
    drafted = [(quote_of_definition(one), None) for one in draft.asked_definitions()]
    drafted += [(quote_of_sentence(one), table_header_of(one)) for one in sentences]
    statements = list[Statement]()
    for quote, header in drafted:
        citation = None if _is_said(quote, citations.all) else citations.cite(quote)
        if citation is not None:
            heading = citations.cite(quote_of_sentence(header)) if header else None
            numbers = (citation.number, heading.number) if heading else (citation.number,)
            statements.append(Statement(citation.quote, (citation.source.upper(),), numbers))
        if len(statements) == MAX_STATEMENTS:
            break
    return tuple(statements)


def claims_of(reply: AnswerReply, handles: Mapping[str, Chunk]) -> tuple[Claim, ...]:
    """The claims of a reply, each quote as the whole sentences that it is from.

    Quotes under a handle that was not shown are left out.
    """
    return tuple(
        Claim(
            plain(one.text),
            tuple(
                Quote(
                    said.quote,
                    chunk.chunk_id,
                    chunk.document_id,
                    chunk.span.start,
                    whole_sentences=True,
                )
                for said in one.quotes
                if (chunk := handles.get(said.chunk))
            ),
        )
        for one in reply.statements
    )


def borne_out(claims: Sequence[Claim], citations: Citations, question: str) -> Stated:
    """The claims as far as the stored text bears them out, in order; nothing is said twice."""
    statements, dropped = dict[Statement, None](), list[Dropped]()
    for number, claim in enumerate(claims, start=1):
        stored = {quote: words for quote in claim.quotes if (words := citations.stored(quote))}
        why, rules = _fault(claim, tuple(stored.values()), question)
        left = () if why else tuple(_statements_of(stored, citations))
        statements |= dict.fromkeys(left)
        if not left:
            dropped.append(Dropped(number, why or Why.SAYS_NOTHING, rules))
    for one in dropped:
        _drops.add(1, {"clausegate.dropped.why": one.why})
    return Stated(tuple(statements), tuple(dropped))


def _fault(claim: Claim, quotes: Sequence[str], question: str) -> tuple[Why | None, tuple[LintRule, ...]]:
    """What is wrong with a claim, None for nothing, and the rules of the lint that it breaks.

    Conditions that it leaves out are no fault: what leaves is the quote, which has them.
    """
    if not quotes:
        return Why.NO_STORED_QUOTE, ()
    if claim.text in map(plain, quotes):
        return None, ()
    if _guesses(claim.text, quotes):
        return Why.GUESS, ()
    rules = dict.fromkeys(one.rule for one in lint(claim.text, quotes, question))
    broken = tuple(rule for rule in rules if rule is not LintRule.CONDITION)
    return (Why.GOES_BEYOND if broken else None), broken


def _statements_of(stored: Mapping[Quote, str], citations: Citations) -> Iterator[Statement]:
    """The quotes of a claim, one by one; headings and headers of tables are cited with the others."""
    standing = [quote for quote in stored if citations.says_something(quote)]
    cited = {quote: one for quote in stored if standing and (one := citations.cite(quote))}
    above = tuple(dict.fromkeys(one.number for quote, one in cited.items() if quote not in standing))
    for one in dict.fromkeys(cited[quote] for quote in standing):
        yield Statement(one.quote, (one.source.upper(),), (one.number, *above))


def overstates(text: str, quotes: Sequence[str], question: str = "") -> bool:
    """Whether a text says more than its quotes, or has a word in the place of one of theirs."""
    replaced = replaced_words(text, quotes, question)
    return _guesses(text, quotes) or bool(replaced) or bool(lint(text, quotes, question))


def _guesses(text: str, quotes: Sequence[str]) -> bool:
    """Whether a text holds a forbidden phrase that none of its quotes holds (LI-42)."""
    phrases = {" ".join(match.group().lower().split()) for match in _GUESS.finditer(text)}
    said = {" ".join(match.group().lower().split()) for one in quotes for match in _GUESS.finditer(one)}
    return not phrases <= said


def plain(text: str) -> str:
    """A model's words on one line, without characters that nobody sees."""
    return " ".join(legible(text).split())


def _is_said(quote: Quote, citations: tuple[Citation, ...]) -> bool:
    """Whether a definition that is quoted already holds the quote."""
    end = quote.start + len(quote.text)
    return any(
        one.document == quote.document_id and one.span.start < end and quote.start < one.span.end
        for one in citations
    )
