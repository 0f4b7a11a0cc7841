"""A part of a document's text with some words around it, put together from its chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chassis.errors import InvalidInput
from corpus.chunks import Chunk
from corpus.documents import DocumentId, Generation
from corpus.spans import SectionSpan, Span
from services.retrieval.reading import VersionReplaced, read_document
from services.retrieval.store.port import Store

MOST_CHARACTERS = 20_000
"""Code points of what is asked for; a section is cut to as many."""
USUAL_AROUND, MOST_AROUND = 500, 5_000
CHUNKS_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part of a text is asked for. One that exists is well formed."""

    span: Span
    around: int = USUAL_AROUND
    """Code points on each side, at most."""
    whole_section: bool = False
    """Whether the section that holds the beginning of the span is wanted, and not the span alone."""

    def __post_init__(self) -> None:
        """Raise `InvalidInput`, naming the field."""
        if not 0 <= self.span.start < self.span.end:
            raise InvalidInput("Must begin at 0 or later, and end beyond its beginning.", field="end")
        if self.span.end - self.span.start > MOST_CHARACTERS:
            raise InvalidInput(f"Must not span more than {MOST_CHARACTERS:,} characters.", field="end")
        if not 0 <= self.around <= MOST_AROUND:
            raise InvalidInput(f"Must be 0 to {MOST_AROUND:,} characters.", field="around")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text, see `clausegate.retrieval.v1.GetTextResponse`."""

    text: str
    span: Span
    """Where `text` stands."""
    wanted: Span
    """What was asked for, within it."""
    section: str
    generation: Generation


async def read_chunks_of(store: Store, document_id: DocumentId, wanted: Wanted) -> list[Chunk]:
    """The chunks that an excerpt is made of, in order. Raises `DocumentNotFound`, `VersionReplaced`, and
    `InvalidInput` where the text ends before what is asked for.
    """
    far = wanted.span.end + wanted.around
    found: list[Chunk] = []
    after: int | None = None
    while page := await store.chunks_of(document_id, after, CHUNKS_AT_ONCE):
        found += [chunk for chunk in page if chunk.span.end > wanted.span.start - _reach_back(wanted)]
        after = page[-1].ordinal
        if page[-1].span.start >= far and not _goes_on(found, wanted):
            break
    if not found:
        await read_document(store, document_id)
    if any(chunk.generation != found[0].generation for chunk in found):
        raise VersionReplaced(f"The document was replaced meanwhile: {document_id}")
    if not any(chunk.span.overlap(wanted.span) for chunk in found):
        raise InvalidInput("The text has no words there.", field="start")
    return found


def _reach_back(wanted: Wanted) -> int:
    """How far before the span what is asked for may begin."""
    return MOST_CHARACTERS + MOST_AROUND if wanted.whole_section else wanted.around


def _goes_on(chunks: Sequence[Chunk], wanted: Wanted) -> bool:
    """Whether the section that is wanted may go on behind these chunks."""
    return wanted.whole_section and chunks[-1].span.end < wanted.span.start + MOST_CHARACTERS + MOST_AROUND


def excerpt_of(chunks: Sequence[Chunk], wanted: Wanted) -> Excerpt:
    """The excerpt. White space between chunks is given as line feeds."""
    text, start = _joined(chunks)
    whole = Span(start, start + len(text))
    own = wanted.span.cut(whole)
    if wanted.whole_section:
        own = _section(chunks, own.start).cut(whole)
    near = max(whole.start, own.start - wanted.around)
    far = min(whole.end, own.end + wanted.around)
    before, after = text[near - start : own.start - start], text[own.end - start : far - start]
    if near > whole.start:
        near += _first_word(before)
    if far < whole.end:
        far -= _first_word(after[::-1])
    section = next(chunk.section_at(own.start) for chunk in chunks if chunk.span.end > own.start)
    text = text[near - start : far - start]
    return Excerpt(text, Span(near, far), own, section, chunks[0].generation)


def _first_word(text: str) -> int:
    """Where the first whole word of a text begins that may begin within one; its end where there is none."""
    rest = text.lstrip()
    cut = len(text) - len(rest)
    if not cut:
        word = len(text.split(maxsplit=1)[0]) if text else 0
        cut = len(text) - len(text[word:].lstrip())
    return cut


def _joined(chunks: Sequence[Chunk]) -> tuple[str, int]:
    """The text of chunks, sentences that two of them hold once, and where it begins."""
    start = position = chunks[0].span.start
    pieces: list[str] = []
    for chunk in chunks:
        pieces.append("\n" * (chunk.span.start - position))
        pieces.append(chunk.text[max(0, position - chunk.span.start) :])
        position = max(position, chunk.span.end)
    return "".join(pieces), start


def _section(chunks: Iterable[Chunk], position: int) -> Span:
    """The section around a position; of a longer one the `MOST_CHARACTERS` around it."""
    sections = list(_sections(chunks))
    index = max(
        (number for number, section in enumerate(sections) if section.span.start <= position), default=0
    )
    chain = sections[index].heading_chain
    first = last = index
    while first > 0 and sections[first - 1].heading_chain == chain:
        first -= 1
    while last + 1 < len(sections) and sections[last + 1].heading_chain == chain:
        last += 1
    start = max(sections[first].span.start, position - MOST_CHARACTERS // 2)
    return Span(start, min(sections[last].span.end, start + MOST_CHARACTERS))


def _sections(chunks: Iterable[Chunk]) -> Iterator[SectionSpan]:
    """The sections that chunks run through, in order; what an earlier release indexed is one a chunk."""
    for chunk in chunks:
        yield from chunk.sections or (SectionSpan(chunk.heading_chain, chunk.span),)
