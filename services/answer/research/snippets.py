"""Checks the passages that somebody says chunks hold, and delivers those that do. Pure.

What is delivered are the stored words, whole sentences of them, with what leads into them and their
conditions, and with ids, title and location of the chunk.
Whoever named the passage has a say in the choice, the order and the reason, and in the reason only if it
neither guesses nor says more than the passage. The question lends it nothing: asked about Delaware, a model
may call the law of Illinois that of Delaware.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from corpus.chunks import Chunk
from corpus.citations import Citation
from services.answer.answers import Note
from services.answer.contracts.snippets import MAX_SNIPPETS, MAX_SUMMARY_SENTENCES
from services.answer.legible import legible
from services.answer.parts import around
from services.answer.research.wording import mentions, summary_of
from services.answer.verification.citing import Citations, Quote, Stored, doubt_note
from services.answer.verification.lint.tokens import Token, tokens_of
from services.answer.verification.lint.wording import names_of, stem_of
from services.answer.verification.overstatement import overstates, plain
from services.answer.verification.splitting import sentences_of

UNVERIFIED_RELEVANCE = "Not found in the stored text of one chunk."


class Unverified(StrEnum):
    """What becomes of a passage whose words do not stand in its chunk."""

    DROP = "drop"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Passage:
    """Words that a chunk is said to hold."""

    chunk: Chunk | None
    """None when the chunk that was named is none of those that were shown."""
    content: str
    relevance: str = ""
    """One sentence; empty when there is none, then code says which words of the question it holds."""
    start: int = 0
    """Where the words are expected, in code points of the document; 0 for the first place in the chunk."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage as it is delivered, see `clausegate.answer.v1.Snippet`."""

    content: str
    relevance: str
    chunk: Chunk | None
    """None for an unverified snippet of a chunk that nobody was shown."""
    citation: Citation | None
    """None when not verified."""
    context_before: str = ""
    """What leads into it."""
    context_after: str = ""
    """The conditions after it that it stands under."""
    notes: tuple[Note, ...] = ()
    """Why its text may not be what the file shows."""
    reading: str = ""
    """What it says to a reader, see `Stored.reading`; empty when not verified."""

    @property
    def location(self) -> str:
        """The headings above the snippet, or which section of how many it is; unverified: above its chunk."""
        if self.chunk is None:
            return ""
        return self.chunk.headings_at(self.citation.span.start if self.citation else self.chunk.span.start)


@dataclass(frozen=True, slots=True)
class Delivered:
    """What is left of a list of passages."""

    snippets: tuple[Snippet, ...]
    dropped: int
    """Passages whose words do not stand in their chunk, and which are not delivered for that reason."""

    @property
    def verified(self) -> tuple[Snippet, ...]:
        """The snippets whose words were found."""
        return tuple(snippet for snippet in self.snippets if snippet.citation)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller wants of the passages."""

    question: str
    stems: frozenset[str]
    """The stems of the words that carry the question."""
    at_most: int = MAX_SNIPPETS
    unverified: Unverified = Unverified.DROP


def deliver(passages: Iterable[Passage], citations: Citations, wanted: Wanted) -> Delivered:
    """The passages whose words stand in their chunk, as whole sentences, in the order given: densest first.

    Of passages of one document that overlap, as neighbouring chunks do, the first is kept. With `FLAG` the
    others are delivered as they came but for what nobody sees, without a citation.
    """
    snippets: list[Snippet] = []
    dropped = 0
    for passage in passages:
        if len(snippets) == wanted.at_most:
            break
        found = _find(passage, citations)
        if found is None and wanted.unverified is Unverified.DROP:
            dropped += 1
        elif found is None:
            snippets.append(Snippet(_shown(passage.content), UNVERIFIED_RELEVANCE, passage.chunk, None))
        elif not any(_overlap(found, snippet.citation) for snippet in snippets):
            numbered = replace(citations.cite_stored(found), number=len(snippets) + 1)
            snippets.append(_snippet(passage, found, numbered, wanted))
    return Delivered(tuple(snippets), dropped)


def checked_summary(summary: str, snippets: Sequence[Snippet], wanted: Wanted) -> str:
    """The sentences of a summary that say nothing beyond these verified snippets; else one by code."""
    quotes = [snippet.reading for snippet in snippets]
    said = sentences_of(plain(summary))[:MAX_SUMMARY_SENTENCES]
    whole = " ".join(said)
    if whole and not _says_more(whole, quotes, wanted.question):
        return whole
    if kept := [sentence for sentence in said if not _says_more(sentence, quotes, wanted.question)]:
        return " ".join(kept)
    labels = [snippet.citation.document_label for snippet in snippets if snippet.citation]
    return summary_of(quotes, labels, wanted.stems)


def _shown(content: str) -> str:
    """A model's words without control and format characters, which may steer what shows them."""
    return "".join(c for c in legible(content) if unicodedata.category(c) != "Cc" or c in "\n\t")


def _find(passage: Passage, citations: Citations) -> Stored | None:
    chunk = passage.chunk
    if chunk is None:
        return None
    quote = Quote(passage.content, chunk.chunk_id, chunk.document_id, passage.start, whole_sentences=True)
    found = citations.find(quote)
    return found.whole() if found else None


def _snippet(passage: Passage, found: Stored, citation: Citation, wanted: Wanted) -> Snippet:
    before, after = around(found.parts, found.span)
    return Snippet(
        content=found.words,
        relevance=_relevance(passage, found.reading, wanted),
        chunk=passage.chunk,
        citation=citation,
        context_before=before,
        context_after=after,
        notes=tuple(doubt_note(kind, (citation.number,)) for kind in found.doubts),
        reading=found.reading,
    )


def _overlap(stored: Stored, other: Citation | None) -> bool:
    return (
        other is not None
        and stored.chunk.document_id == other.document
        and bool(stored.span.overlap(other.span))
    )


def _says_more(text: str, quotes: Sequence[str], question: str) -> bool:
    """Whether a text says more than the quotes, a name among it that only the question has."""
    stated, asked = tokens_of(" ".join(quotes)), names_of(tokens_of(question))
    borrowed = _stems(asked) - _stems(stated)
    return overstates(text, quotes) or not borrowed.isdisjoint(_stems(tokens_of(text)))


def _stems(tokens: Iterable[Token]) -> frozenset[str]:
    return frozenset(stem_of(token.word) for token in tokens)


def _relevance(passage: Passage, reading: str, wanted: Wanted) -> str:
    said = plain(passage.relevance)
    if said and not _says_more(said, [reading], wanted.question):
        return said
    return mentions(reading, wanted.stems)
