"""What of a chunk can be stated: sentences and table rows, but no headings, captions and table headers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus.chunks import Chunk
from corpus.spans import Span
from services.answer.parts import contexts_of, quoted_text

MIN_WORDS = 4
"""Fewer words say nothing by themselves; rows of a table are exempt."""
MAX_GOING_ON = 6
"""Sentences or lines that a quote takes along because its own last one calls for them."""
CAPTION_WORDS = 10
"""A caption has fewer words."""
CELL_SEPARATOR = " | "
"""What ingest puts between the cells of a table row."""

_STOPS = tuple('.;:?!,)”"')
_CALLS_FOR_MORE = re.compile(
    r"(?::|\b(?:the|of|a|an|to|by|for|in|with|such|any|its|their|this|which|shall|will|be))\s*\d{0,3}\s*\Z",
    re.IGNORECASE,
)
"""What a sentence ends in that is not at its end: a colon, or `of the`, and perhaps a page number."""
_GOES_ON = re.compile(r"(?:[;,–—]|\b(?:and|or|and/or))$", re.IGNORECASE)
_ITEM = re.compile(r"(?:(?:and|or)\s)?(?:\(?[A-Za-z0-9]{1,5}\)|[•●▪‣◦*–—-]|\d{1,2}\.)\s")
_VALUE = re.compile(r"(?:[A-Z]{3}\s?)?[^\w\s]?\s?\d")
_YEAR = re.compile(r"(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or table row of a chunk."""

    chunk: Chunk
    span: Span
    """The place of the sentence, in code points of the document."""
    text: str


def sentences_of(chunk: Chunk) -> Iterator[Sentence]:
    """The sentences of a chunk that can stand for themselves, in order; all of them when none can."""
    everything = all_of(chunk)
    headings = {_plain(heading) for heading in (*chunk.heading_chain, chunk.section)}
    standing = [
        sentence
        for i, sentence in enumerate(everything)
        if _stands_alone(everything, i) and _plain(sentence.text) not in headings
    ]
    yield from standing or everything


def whole(chunk: Chunk) -> Sentence:
    """A chunk as if it were one sentence."""
    return Sentence(chunk, chunk.span, chunk.text)


def table_header_of(row: Sentence) -> Sentence | None:
    """The header above a table row, which says what its cells mean; None unless the chunk holds it."""
    if not is_row(row):
        return None
    everything = all_of(row.chunk)
    first = next(i for i, sentence in enumerate(everything) if sentence.span == row.span)
    while first > 0 and is_row(everything[first - 1]):
        first -= 1
    header = everything[first]
    return header if header.span != row.span and _heads_table(everything, first) else None


def sentences_around(chunk: Chunk, span: Span) -> Span:
    """The whole sentences that hold something of `span`, all in code points of the document.

    `span` itself where the chunk names no sentence.
    """
    held = [sentence for sentence in chunk.sentences if sentence.overlap(span)]
    return Span(min(span.start, held[0].start), max(span.end, held[-1].end)) if held else span


def to_its_end(chunk: Chunk, span: Span) -> Span:
    """`span` to the end of the list that its last sentence leads into, or of what it goes on with.

    A sentence that ends in a colon goes on with the next one, and with the short lines or rows that begin
    there; one that breaks off in `of the` goes on behind the break. As far as the chunk holds it; `span`
    itself where it stands in an earlier chunk.
    """
    if span not in chunk.span:
        return span
    lists = [part.governs for part in chunk.context_before if part.span in span]
    ends = [min(items.end, chunk.span.end) for items in lists if items.start >= span.end]
    return Span(span.start, max(ends)) if ends else _gone_on(chunk, span)


def _gone_on(chunk: Chunk, span: Span) -> Span:
    """`span` with the sentences behind it that its words call for."""
    everything = all_of(chunk)
    last = max((i for i, sentence in enumerate(everything) if sentence.span.overlap(span)), default=-1)
    taken = called_for(everything[last], everything[last + 1 :]) if last >= 0 else []
    return Span(span.start, taken[-1].span.end) if taken else span


def called_for(last: Sentence, following: Sequence[Sentence]) -> list[Sentence]:
    """Those of the `following` sentences that the words of `last` call for, in order; none for most."""
    if not calls_for_more(last):
        return []
    taken = list(following[:1])
    for sentence in following[1:MAX_GOING_ON]:
        if not (_is_short_line(taken[-1]) or calls_for_more(taken[-1])):
            break
        taken.append(sentence)
    return taken


def calls_for_more(sentence: Sentence) -> bool:
    """Whether it ends in a colon, or in `of the`: then it is not at its end."""
    return _CALLS_FOR_MORE.search(sentence.text) is not None


def is_item(text: str) -> bool:
    """Whether it begins with the marker of an item: `(a)`, `1.`, `•`."""
    return _ITEM.match(text) is not None


def _is_short_line(sentence: Sentence) -> bool:
    return is_row(sentence) or (
        len(sentence.text.split()) < CAPTION_WORDS and not sentence.text.endswith(_STOPS)
    )


def says_something(chunk: Chunk, span: Span) -> bool:
    """Whether `span` holds something of a sentence or row that is no heading and no header of a table."""
    everything = all_of(chunk)
    headings = {_plain(heading) for heading in (*chunk.heading_chain, chunk.section)}
    headings |= {_plain(heading) for section in chunk.sections for heading in section.heading_chain}
    held = [i for i, sentence in enumerate(everything) if sentence.span.overlap(span)]
    return not held or any(
        not (_is_caption(everything[i].text) or _plain(everything[i].text) in headings)
        and not (is_row(everything[i]) and _heads_table(everything, i))
        for i in held
    )


def begins_earlier(chunk: Chunk, span: Span) -> bool:
    """Whether `span` begins within a list, a sentence or a table whose beginning an earlier chunk holds, and
    this one does not keep.

    Then nobody can tell from it what it means: `(q) share the Data;` may be allowed, or forbidden.
    """
    sentences = all_of(chunk)
    first = next((i for i, sentence in enumerate(sentences) if sentence.span.overlap(span)), None)
    led_in = any(part.span.start < span.start for part in contexts_of(chunk, span))
    if first is None or chunk.span.start == 0 or led_in:
        return False
    if is_row(sentences[first]):
        headed = table_header_of(sentences[first]) or _heads_table(sentences, first)
        return bool(chunk.table_header) and not headed
    while first > 0 and all(_ITEM.match(sentence.text) for sentence in sentences[first - 1 : first + 1]):
        first -= 1
    text = sentences[first].text
    item = _ITEM.match(text)
    begun = text[item.end() if item else 0 :][:1].islower() or (item and _GOES_ON.search(text))
    return first == 0 and bool(begun)


def said_by(sentence: Sentence) -> str:
    """What a quote of a sentence says: an item of a list with what leads into it, and its conditions."""
    return quoted_text(sentence.chunk, sentence.span)


def read_as(sentence: Sentence) -> str:
    """What a reader takes a sentence to say: a table row says nothing without its section and its header."""
    if not is_row(sentence):
        return sentence.text
    header = table_header_of(sentence)
    above = header.text if header else sentence.chunk.table_header
    return "\n".join([sentence.chunk.section_at(sentence.span.start), above, sentence.text])


def all_of(chunk: Chunk) -> list[Sentence]:
    """Every sentence and row of a chunk, in order."""
    start = chunk.span.start
    return [
        Sentence(chunk, span, chunk.text[span.start - start : span.end - start]) for span in chunk.sentences
    ]


def _stands_alone(sentences: Sequence[Sentence], i: int) -> bool:
    if is_row(sentences[i]):
        return not _heads_table(sentences, i)
    return not _is_fragment(said_by(sentences[i]))


def is_row(sentence: Sentence) -> bool:
    """Whether it is a row of a table."""
    return CELL_SEPARATOR in sentence.text


def _heads_table(sentences: Sequence[Sentence], i: int) -> bool:
    """Whether row `i` is a header: the first of a table, without values, above a row that has some."""
    first = i == 0 or not is_row(sentences[i - 1])
    below = i + 1 < len(sentences) and is_row(sentences[i + 1])
    return first and below and not _has_value(sentences[i].text) and _has_value(sentences[i + 1].text)


def _has_value(row: str) -> bool:
    """Whether some cell begins with a number or an amount; a year may as well head a column."""
    return any(_VALUE.match(cell) and not _YEAR.match(cell) for cell in row.split(CELL_SEPARATOR))


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".:")


def _is_caption(text: str) -> bool:
    """A short line in capitals without a stop: `12. GOVERNING LAW`."""
    return len(text.split()) < CAPTION_WORDS and text.isupper() and not text.endswith(_STOPS)


def _is_fragment(text: str) -> bool:
    """A few words, or a short line in capitals or without a stop: `12. GOVERNING LAW`, `3. Permitted use`."""
    words = len(text.split())
    return words < MIN_WORDS or (words < CAPTION_WORDS and (text.isupper() or not text.endswith(_STOPS)))
