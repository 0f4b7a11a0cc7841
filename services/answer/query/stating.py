"""What an answer may say: extracts word for word, or a model's claims as far as stored text bears them out.

A model's claim counts only with quotes that stand in their chunks, and only if it neither says what the lint
misses in them nor guesses. What leaves are its quotes, whole sentences: no check of words can tell whether a
shorter one means the same (`the Subscriber owns it` of `the Vendor denies that the Subscriber owns it`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.answer.answers import Citation, Statement
from services.answer.contracts.answer import FORBIDDEN_PHRASES, AnswerReply
from services.answer.corpus import Chunk
from services.answer.legible import legible
from services.answer.query.composing import Draft
from services.answer.query.extraction import MAX_STATEMENTS
from services.answer.sentences import Sentence, table_header_of
from services.answer.verification.citing import Citations, Quote, quote_of_definition, quote_of_sentence
from services.answer.verification.lint import LintRule, lint

_GUESS = re.compile(rf"\b(?:{'|'.join(FORBIDDEN_PHRASES)})\b".replace(" ", r"\s+"), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a model says, and the words that it says it has read."""

    text: str
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """What of a model's claims leaves."""

    statements: tuple[Statement, ...]
    dropped: int
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
    statements, dropped = dict[Statement, None](), 0
    for claim in claims:
        left = tuple(_statements_of(claim, citations, question))
        statements |= dict.fromkeys(left)
        dropped += not left
    return Stated(tuple(statements), dropped)


def _statements_of(claim: Claim, citations: Citations, question: str) -> Iterator[Statement]:
    """The quotes of a claim, one by one; headings and headers of tables are cited with the others."""
    stored = {quote: words for quote in claim.quotes if (words := citations.stored(quote))}
    quotes = tuple(stored.values())
    said = claim.text in map(plain, quotes)
    if not quotes or (not said and _goes_beyond(claim.text, quotes, question)):
        return
    standing = [quote for quote in stored if citations.says_something(quote)]
    cited = {quote: one for quote in stored if standing and (one := citations.cite(quote))}
    above = tuple(dict.fromkeys(one.number for quote, one in cited.items() if quote not in standing))
    for one in dict.fromkeys(cited[quote] for quote in standing):
        yield Statement(one.quote, (one.source.upper(),), (one.number, *above))


def _goes_beyond(text: str, quotes: Sequence[str], question: str) -> bool:
    """The same but for conditions that a text leaves out: what leaves is the quote, which has them."""
    findings = lint(text, quotes, question)
    return _guesses(text, quotes) or any(one.rule is not LintRule.CONDITION for one in findings)


def overstates(text: str, quotes: Sequence[str], question: str = "") -> bool:
    """Whether a text says more than its quotes."""
    return _guesses(text, quotes) or bool(lint(text, quotes, question))


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
