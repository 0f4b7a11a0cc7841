"""Turns quotes into citations: nothing is cited that was not found, now, in the stored text of its chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from chassis.errors import Conflict
from services.answer.answers import Certificate, Citation
from services.answer.corpus import Chunk, Definition, Document, PageSpan, Span
from services.answer.sentences import Sentence, says_something, sentences_around
from services.answer.verification.quotes import QuoteMatch, find_quote
from services.answer.verification.signing import Signer

EXTRACTIVE = "extractive"
"""Stands for the chat model where none wrote the answer."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Who made the statements that are cited, as certificates say it."""

    config_sha256: str
    """Over the settings that shape an answer, see `Policy.sha256`."""
    model: str = EXTRACTIVE
    prompt_version: str = ""
    """Empty without a model, as is `prompt_sha256`."""
    prompt_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that a chunk is claimed to hold."""

    text: str
    chunk_id: str
    document_id: str
    start: int = 0
    """Where they are expected, in code points of the document; 0 for the first place in the chunk."""
    runs_on: bool = False
    """Whether they may run on into the next chunk: then those in this one are cited."""
    whole_sentences: bool = False
    """Whether the sentences that hold them are cited, see `sentences_around`: out of `may not share` a
    `may share` can be cut."""


def quote_in(chunk: Chunk, text: str, *, whole_sentences: bool = False) -> Quote:
    """Words that somebody says stand somewhere in a chunk."""
    return Quote(text, chunk.chunk_id, chunk.document_id, whole_sentences=whole_sentences)


def quote_of_sentence(sentence: Sentence) -> Quote:
    """A sentence as a quote; an item of a list comes with what leads into the list."""
    chunk = sentence.chunk
    return Quote(sentence.text, chunk.chunk_id, chunk.document_id, sentence.span.start, whole_sentences=True)


def quote_of_definition(definition: Definition) -> Quote:
    """A definition's own words as a quote."""
    return Quote(
        definition.text, definition.chunk_id, definition.document_id, definition.span.start, runs_on=True
    )


def pages_of(pages: Sequence[PageSpan], span: Span) -> tuple[int | None, int | None]:
    """First and last of `pages` that hold something of `span`; None twice where the format has no pages."""
    numbers = [page.page for page in pages if page.span.overlap(span)]
    return (min(numbers), max(numbers)) if numbers else (None, None)


def check_live(quoted: Iterable[str], stored: Mapping[str, Chunk]) -> None:
    """Raise `Conflict` unless every chunk that is to be quoted, by id, is among those that were read back.

    Without its words an answer would be another one, and nobody could tell: what took their place may say
    more, or the opposite.
    """
    if any(chunk_id not in stored for chunk_id in quoted):
        message = "A document that was to be quoted is being replaced; repeat the call."
        raise Conflict(message, retry_after_seconds=1.0)


class Citations:
    """The citations of one answer, numbered from 1 in order of first use. The same words get one number."""

    def __init__(
        self,
        chunks: Mapping[str, Chunk],
        documents: Mapping[str, Document],
        origin: Origin,
        signer: Signer,
    ) -> None:
        """`chunks` and `documents` as they stand in the index now, by id; what is gone is absent."""
        self._chunks = chunks
        self._documents = documents
        self._origin = origin
        self._signer = signer
        self._citations: dict[tuple[str, Span], Citation] = {}

    @property
    def all(self) -> tuple[Citation, ...]:
        """Every citation made so far, in order of number."""
        return tuple(self._citations.values())

    def holds(self, quote: Quote) -> bool:
        """Whether `cite` would give a citation."""
        return self._find(quote) is not None

    def stored(self, quote: Quote) -> str | None:
        """The words of a quote as its chunk spells them; None when `cite` would give no citation."""
        found = self._find(quote)
        return found[0].text[found[1].span.start : found[1].span.end] if found else None

    def says_something(self, quote: Quote) -> bool:
        """Whether `cite` would give a citation of more than headings and headers of tables."""
        found = self._find(quote)
        if found is None:
            return False
        chunk, start = found[0], found[0].span.start
        return says_something(chunk, Span(found[1].span.start + start, found[1].span.end + start))

    def cite(self, quote: Quote) -> Citation | None:
        """The citation of a quote; None, and nothing numbered, unless the stored chunk holds its words."""
        found = self._find(quote)
        if found is None:
            return None
        chunk, match = found
        span = Span(chunk.span.start + match.span.start, chunk.span.start + match.span.end)
        place = (chunk.document_id, span)
        if place not in self._citations:
            self._citations[place] = self._citation(chunk, match, span)
        return self._citations[place]

    def _find(self, quote: Quote) -> tuple[Chunk, QuoteMatch] | None:
        chunk = self._chunks.get(quote.chunk_id)
        if chunk is None or not self._is_live(chunk):
            return None
        words = _within(chunk, quote) if quote.runs_on else quote.text
        match = find_quote(chunk.text, words, near=quote.start - chunk.span.start)
        if match and quote.whole_sentences:
            match = replace(match, span=_widened(chunk, match.span))
        return (chunk, match) if match else None

    def _is_live(self, chunk: Chunk) -> bool:
        """Whether the chunk is of the version whose file the certificate names."""
        document = self._documents.get(chunk.document_id)
        return document is not None and document.generation == chunk.generation

    def _citation(self, chunk: Chunk, match: QuoteMatch, span: Span) -> Citation:
        quote = chunk.text[match.span.start : match.span.end]
        page, last_page = pages_of(chunk.pages, span)
        citation = Citation(
            number=len(self._citations) + 1,
            document=chunk.document_id,
            source=chunk.source,
            title=chunk.title,
            section=chunk.section_at(span.start),
            page=page,
            last_page=last_page,
            quote=quote,
            span=span,
            chunk_id=chunk.chunk_id,
            chunk_alias=chunk.alias,
            match_level=match.level,
            certificate=Certificate(
                document_sha256=self._documents[chunk.document_id].content_sha256,
                quote_sha256=hashlib.sha256(quote.encode()).hexdigest(),
                generation=chunk.generation,
                model=self._origin.model,
                prompt_version=self._origin.prompt_version,
                prompt_sha256=self._origin.prompt_sha256,
                config_sha256=self._origin.config_sha256,
            ),
        )
        return self._signer.sign(citation)


def _widened(chunk: Chunk, span: Span) -> Span:
    """Whole sentences around `span`; both in code points of the chunk's text."""
    start = chunk.span.start
    around = sentences_around(chunk, Span(span.start + start, span.end + start))
    return Span(around.start - start, around.end - start)


def _within(chunk: Chunk, quote: Quote) -> str:
    """The part of a quote that can stand in its chunk."""
    room = chunk.span.end - quote.start
    return quote.text[:room] if 0 < room < len(quote.text) else quote.text
