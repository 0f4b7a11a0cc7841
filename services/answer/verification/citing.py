"""Turns quotes into citations: nothing is cited that was not found, now, in the stored text of its chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chassis.errors import Conflict
from corpus.chunks import Chunk, TextDoubtKind
from corpus.citations import Certificate, Citation, Highlight, MatchLevel, QuoteBox, QuotePart
from corpus.definitions import Definition
from corpus.documents import Document
from corpus.labels import labels_of
from corpus.layout import SCALE, rectangles
from corpus.spans import Span
from services.answer.answers import Note, NoteKind
from services.answer.breaks import after, before, reach
from services.answer.parts import doubts_of, in_order, joined, pages_at, quote_parts, reading_of
from services.answer.sentences import Sentence, says_something, sentences_around
from services.answer.verification.places import find_in
from services.answer.verification.signing import Signer

EXTRACTIVE = "extractive"
"""Stands for the chat model where none wrote the answer."""
_DOUBTS = {
    TextDoubtKind.READING_ORDER: (
        NoteKind.READING_ORDER,
        "The reading order of this part of the page is uncertain: compare with the original.",
    ),
    TextDoubtKind.MISSING_WORDS: (
        NoteKind.MISSING_WORDS,
        "Words of this sentence could not be read, and may turn it round: compare with the original.",
    ),
    TextDoubtKind.UNKNOWN: (
        NoteKind.DOUBTFUL_TEXT,
        "This part of the text may not be what the page shows: compare with the original.",
    ),
}


class DocumentReplaced(Conflict):
    """A document was replaced while it was quoted, and nothing is left to say."""

    reason = "DOCUMENT_CONFLICT"


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


@dataclass(frozen=True, slots=True)
class Stored:
    """A quote as the index holds it now."""

    chunk: Chunk
    span: Span
    """Where the quoted words stand."""
    level: MatchLevel
    parts: tuple[QuotePart, ...]
    """The words with what leads into them and their conditions."""
    before: Chunk | None = field(default=None, compare=False)
    """The chunk before, where it was read."""
    after: Chunk | None = field(default=None, compare=False)
    """The chunk after, where it was read."""

    @property
    def text(self) -> str:
        """All of it, as a citation quotes it."""
        return joined(self.parts)

    @property
    def without_dots(self) -> str:
        """The same as somebody copies it who leaves out the dots between its parts."""
        return " ".join(part.text for part in self.parts)

    @property
    def reading(self) -> str:
        """What it says to a reader, for comparing, see `reading_of`."""
        return reading_of(self.chunk, self.span)

    @property
    def words(self) -> str:
        """The quoted words alone."""
        part = next(part for part in self.parts if self.span in part.span)
        return part.text[self.span.start - part.span.start : self.span.end - part.span.start]

    @property
    def doubts(self) -> tuple[TextDoubtKind, ...]:
        """Why its text may not be what the file shows."""
        return doubts_in((self.before, self.chunk, self.after), self.parts)

    @property
    def boxes(self) -> tuple[QuoteBox, ...]:
        """Where all of it stands on the pages of a PDF."""
        layouts = [chunk.layout for chunk in (self.before, self.chunk, self.after) if chunk]
        return tuple(
            QuoteBox(
                place.page, place.left / SCALE, place.top / SCALE, place.right / SCALE, place.bottom / SCALE
            )
            for place in rectangles(layouts, [part.span for part in self.parts])
        )

    @property
    def says_something(self) -> bool:
        """Whether it has more words than headings and headers of tables."""
        return says_something(self.chunk, self.span)

    def whole(self) -> Stored:
        """The same from where its sentence begins to the end of the list or sentence that its words call for.

        By itself `The Vendor is not liable for:` says nothing, or too much. What the end of the chunk cuts
        goes on in the chunks beside it, as far as these hold it.
        """
        found = reach(self.chunk, self.span, self.before, self.after)
        parts = list(quote_parts(self.chunk, found.own))
        for chunk, span in ((self.before, found.before), (self.after, found.after)):
            parts += quote_parts(chunk, span) if chunk and span else ()
        return replace(self, span=found.own, parts=in_order(parts))

    def holds(self, other: Stored) -> bool:
        """Whether all words of another quote of the document are among its own, and more."""
        return self.parts != other.parts and self.covers(other)

    def covers(self, other: Stored) -> bool:
        """Whether all words of another quote of the document are among its own."""
        return self.chunk.document_id == other.chunk.document_id and all(
            any(part.span in own.span for own in self.parts) for part in other.parts
        )


def quote_in(chunk: Chunk, text: str, *, whole_sentences: bool = False) -> Quote:
    """Words that somebody says stand somewhere in a chunk."""
    return Quote(text, chunk.chunk_id, chunk.document_id, whole_sentences=whole_sentences)


def quote_of_sentence(sentence: Sentence) -> Quote:
    """A sentence as a quote."""
    chunk = sentence.chunk
    return Quote(sentence.text, chunk.chunk_id, chunk.document_id, sentence.span.start, whole_sentences=True)


def quote_of_definition(definition: Definition) -> Quote:
    """A definition's own words as a quote."""
    return Quote(
        definition.text, definition.chunk_id, definition.document_id, definition.span.start, runs_on=True
    )


def check_live(quoted: Iterable[str], stored: Mapping[str, Chunk]) -> None:
    """Raise `DocumentReplaced` unless every chunk to be quoted, by id, is among those that were read back.

    Without its words an answer would be another one, and nobody could tell: what took their place may say
    more, or the opposite.
    """
    if any(chunk_id not in stored for chunk_id in quoted):
        message = "A document that was to be quoted is being replaced; repeat the call."
        raise DocumentReplaced(message, retry_after_seconds=1.0)


class Citations:
    """The citations of one answer, numbered from 1 in order of first use. The same words get one number."""

    def __init__(
        self,
        chunks: Mapping[str, Chunk],
        documents: Mapping[str, Document],
        origin: Origin,
        signer: Signer,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """`chunks` and `documents` as they stand in the index now, by id; what is gone is absent.

        `labels`, by document id, take the place of what documents are called by themselves.
        """
        self._chunks = chunks
        self._documents = documents
        self.labels: Mapping[str, str] = {**labels_of(documents.values()), **(labels or {})}
        """What people call the documents, by id."""
        self._origin = origin
        self._signer = signer
        self._citations: dict[tuple[str, Span], Citation] = {}

    @property
    def all(self) -> tuple[Citation, ...]:
        """Every citation made so far, in order of number."""
        return tuple(self._citations.values())

    def find(self, quote: Quote) -> Stored | None:
        """What `cite` would cite; None when the stored chunk does not hold the words."""
        chunk = self._live(quote.chunk_id)
        if chunk is None:
            return None
        words = _within(chunk, quote) if quote.runs_on else quote.text
        place = find_in(chunk, words, near=quote.start)
        if place is None:
            return None
        span = sentences_around(chunk, place.span) if quote.whole_sentences else place.span
        parts = quote_parts(chunk, span)
        return Stored(chunk, span, place.level, parts, self._live(before(chunk)), self._live(after(chunk)))

    def cite(self, quote: Quote) -> Citation | None:
        """The citation of a quote; None, and nothing numbered, unless the stored chunk holds its words."""
        found = self.find(quote)
        return self.cite_stored(found) if found else None

    def cite_stored(self, found: Stored, highlights: tuple[Highlight, ...] = ()) -> Citation:
        """The citation of what `find` gave, with these highlights when it is cited for the first time."""
        place = (found.chunk.document_id, found.span)
        if place not in self._citations:
            self._citations[place] = self._citation(found, highlights)
        return self._citations[place]

    def _live(self, chunk_id: str) -> Chunk | None:
        """The chunk, if it was read and is of the version whose file the certificate names."""
        chunk = self._chunks.get(chunk_id)
        document = self._documents.get(chunk.document_id) if chunk else None
        return chunk if chunk and document and document.generation == chunk.generation else None

    def _citation(self, found: Stored, highlights: tuple[Highlight, ...]) -> Citation:
        chunk = found.chunk
        page, last_page = pages_at(chunk, found.span)
        citation = Citation(
            number=len(self._citations) + 1,
            document=chunk.document_id,
            source=chunk.source,
            title=chunk.title,
            section=chunk.section_at(found.span.start),
            page=page,
            last_page=last_page,
            quote=found.text,
            span=found.span,
            chunk_id=chunk.chunk_id,
            chunk_alias=chunk.alias,
            match_level=found.level,
            certificate=Certificate(
                document_sha256=self._documents[chunk.document_id].content_sha256,
                quote_sha256=hashlib.sha256(found.text.encode()).hexdigest(),
                generation=chunk.generation,
                model=self._origin.model,
                prompt_version=self._origin.prompt_version,
                prompt_sha256=self._origin.prompt_sha256,
                config_sha256=self._origin.config_sha256,
            ),
            parts=found.parts,
            document_label=self.labels[chunk.document_id],
            highlights=highlights,
            boxes=found.boxes,
        )
        return self._signer.sign(citation)


def _within(chunk: Chunk, quote: Quote) -> str:
    """The part of a quote that can stand in its chunk."""
    room = chunk.span.end - quote.start
    return quote.text[:room] if 0 < room < len(quote.text) else quote.text


def doubt_notes(citations: Iterable[Citation], chunks: Mapping[str, Chunk]) -> tuple[Note, ...]:
    """One note for each reason to doubt the text of quotes."""
    doubted: dict[TextDoubtKind, list[int]] = {}
    for citation in citations:
        chunk = chunks[citation.chunk_id]
        beside = chunks.get(before(chunk)), chunk, chunks.get(after(chunk))
        for kind in doubts_in(beside, citation.parts):
            doubted.setdefault(kind, []).append(citation.number)
    return tuple(doubt_note(kind, tuple(numbers)) for kind, numbers in doubted.items())


def doubts_in(chunks: Iterable[Chunk | None], parts: Sequence[QuotePart]) -> tuple[TextDoubtKind, ...]:
    """Why the text of parts of these chunks may not be what the file shows; each reason once."""
    return tuple(dict.fromkeys(kind for chunk in chunks if chunk for kind in doubts_of(chunk, parts)))


def doubt_note(kind: TextDoubtKind, numbers: tuple[int, ...]) -> Note:
    """Why the text of quotes may not be what the file shows."""
    return Note(*_DOUBTS[kind], numbers)
