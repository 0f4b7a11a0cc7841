"""What an answer may say: extracts word for word, or a model's claims as far as stored text bears them out.

A model's claim leaves only with quotes that stand in their chunks, and only if it neither says what the lint
misses in them nor guesses. It leaves in its own words where it only shortens a quote, else as its quotes,
and so does every claim about fees, requirements or definitions (LI-41).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.answer.answers import Citation, Statement
from services.answer.contracts.answer import FORBIDDEN_PHRASES, AnswerReply
from services.answer.corpus import Chunk
from services.answer.query.composing import Draft
from services.answer.query.extraction import MAX_STATEMENTS
from services.answer.sentences import Sentence, table_header_of
from services.answer.verification.citing import Citations, Quote, quote_of_definition, quote_of_sentence
from services.answer.verification.lint import lint
from services.answer.verification.lint.tokens import tokens_of
from services.answer.verification.lint.wording import stem_of, words_of

_GUESS = re.compile(rf"\b(?:{'|'.join(FORBIDDEN_PHRASES)})\b".replace(" ", r"\s+"), re.IGNORECASE)
_BINDING = re.compile(
    r"[\d%€£¥$]|\b(?:shall|must|may|can|cannot|will|should|ought|require[sd]?|requirements?|requiring|need[s]?"
    r"|obliged|obligations?|oblige[sd]?|duty|duties|permit(?:s|ted)?|permission|allow(?:s|ed)?|entitle[sd]?"
    r"|prohibit(?:s|ed)?|forbid(?:s|den)?|fees?|charge[sd]?|prices?|royalt(?:y|ies)|pay(?:s|able|ments?)?|free"
    r"|means?|mean(?:t|ing)|define[sd]?|definitions?|refers?\s+to|includes?)\b",
    re.IGNORECASE,
)
"""What tells a fee, a requirement or a definition. Rather too much: the price is a quote."""

_CONDITION = re.compile(
    r"\b(?:if|when|whenever|where|while|during|until|unless|except|provided|providing|subject|only|solely|upon"
    r"|after|before|within|without|extent|long\s+as)\b",
    re.IGNORECASE,
)
"""What tells that something holds only sometimes."""


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
    stored = {quote: words for quote in claim.quotes if (words := citations.stored(quote))}
    quotes = tuple(stored.values())
    said = claim.text in map(plain, quotes)
    if not quotes or (not said and overstates(claim.text, quotes, question)):
        return
    cited = [citation for quote in stored if (citation := citations.cite(quote))]
    distinct = tuple({one.number: one for one in cited}.values())
    if not _BINDING.search(claim.text) and any(_shortens(claim.text, one) for one in quotes):
        yield _statement(claim.text, distinct)
    else:
        yield from (_statement(one.quote, (one,)) for one in distinct)


def _statement(text: str, cited: Sequence[Citation]) -> Statement:
    sources = dict.fromkeys(one.source.upper() for one in cited)
    return Statement(text, tuple(sources), tuple(one.number for one in cited))


def _shortens(text: str, quote: str) -> bool:
    """Whether all that a text does is to leave out words of a quote, and no condition: who does what to whom,
    and when, stays as it is."""
    wanted, left = _stems(text), iter(_stems(quote))
    in_order = bool(wanted) and all(stem in left for stem in wanted)
    return in_order and _conditions(quote) <= _conditions(text)


def _conditions(text: str) -> set[str]:
    return {match.group().lower() for match in _CONDITION.finditer(text)}


def _stems(text: str) -> list[str]:
    """Of the words that carry content, in order."""
    return [stem_of(token.word) for token in words_of(tokens_of(text))]


def overstates(text: str, quotes: Sequence[str], question: str) -> bool:
    """Whether a text says more than its quotes."""
    return _guesses(text, quotes) or bool(lint(text, quotes, question))


def _guesses(text: str, quotes: Sequence[str]) -> bool:
    """Whether a text holds a forbidden phrase that none of its quotes holds (LI-42)."""
    phrases = {" ".join(match.group().lower().split()) for match in _GUESS.finditer(text)}
    said = {" ".join(match.group().lower().split()) for one in quotes for match in _GUESS.finditer(one)}
    return not phrases <= said


def plain(text: str) -> str:
    """A model's words on one line, without characters that nobody sees: some turn round what is read."""
    return " ".join("".join(c for c in text if unicodedata.category(c) != "Cf").split())


def _is_said(quote: Quote, citations: tuple[Citation, ...]) -> bool:
    """Whether a definition that is quoted already holds the quote."""
    end = quote.start + len(quote.text)
    return any(
        one.document == quote.document_id and one.span.start < end and quote.start < one.span.end
        for one in citations
    )
