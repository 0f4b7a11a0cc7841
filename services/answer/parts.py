"""What a quote consists of: the words, what leads into them, and the conditions that they stand under.

Ingest finds lead-ins and conditions and keeps them with the chunk, see `Chunk.context_before`; here they are
put together with the words that they govern: `2. Share the Data` under `The Licensee shall not:` is a ban.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from corpus.chunks import Chunk, ContextPart, TextDoubtKind
from corpus.citations import QuotePart
from corpus.spans import Span

JOINT = " … "
"""Stands between the parts of a quote where words of the document are left out."""


_Piece = tuple[Span, str]
MARKER = (
    r"\s*(?:(?:and|or)\s+)?"
    r"(?:\(?(?:\d{1,3}|[A-Za-z]|[ivxlIVXL]{1,5})[.)]|\d+(?:\.\d+)+\.?|[•●▪■○‣◦·*–—-])\s+"
)
"""A pattern of what an item of a list begins with."""
_MARKER = re.compile(MARKER)
_COLON = re.compile(r"\s*[:.;,–—-]*\s*\Z")
_STOP = re.compile(r"(?:\s*[.;,])?(?:\s+(?:and|or|and/or))?\s*[.;,]?\s*\Z")


def quote_parts(chunk: Chunk, span: Span) -> tuple[QuotePart, ...]:
    """The parts of a quote of the words at `span`, in the order of the document; they do not overlap.

    `span` lies in the chunk, or in a context that is kept with it. Parts with only white space between them
    are one, so an ordinary quote has one part.
    """
    governing = ((part.span, part.text) for part in contexts_of(chunk, span))
    pieces = sorted(
        [(span, _text_at(chunk, span)), *governing], key=lambda piece: (piece[0].start, piece[0].end)
    )

    def join(joined: list[_Piece], piece: _Piece) -> list[_Piece]:
        whole = _as_one(chunk, joined[-1], piece)
        return [*joined[:-1], whole] if whole else [*joined, piece]

    return tuple(part_of(chunk, where, text) for where, text in reduce(join, pieces[1:], pieces[:1]))


def in_order(parts: Iterable[QuotePart]) -> tuple[QuotePart, ...]:
    """Parts from several chunks in the order of the document, no words of it twice."""
    ordered: list[QuotePart] = []
    for part in sorted(parts, key=lambda part: (part.span.start, -part.span.end)):
        known = ordered[-1].span.end if ordered else 0
        words = part.text[max(0, known - part.span.start) :].lstrip()
        if words:
            ordered.append(replace(part, span=Span(part.span.end - len(words), part.span.end), text=words))
    return tuple(ordered)


def part_of(chunk: Chunk, span: Span, text: str) -> QuotePart:
    """A stretch of the chunk or of its contexts, with the pages that it stands on."""
    return QuotePart(span, text, *pages_at(chunk, span))


def joined(parts: Iterable[QuotePart]) -> str:
    """The parts as one text."""
    return JOINT.join(part.text for part in parts)


def quoted_text(chunk: Chunk, span: Span) -> str:
    """What a quote of the words at `span` says, see `quote_parts`."""
    return joined(quote_parts(chunk, span))


def reading_of(chunk: Chunk, span: Span) -> str:
    """What a quote says to a reader who reads each item in one go with what governs it.

    `The Licensee shall not Share the Data`: for comparing, and shown to nobody.
    """
    leading = [part.span for part in contexts_of(chunk, span)]
    held = [sentence.cut(span) for sentence in chunk.sentences if sentence.overlap(span)]
    governed = [sentence for sentence in held if not any(sentence in context for context in leading)]
    return " ".join(_in_one_go(chunk, sentence) for sentence in governed or [span])


def _in_one_go(chunk: Chunk, span: Span) -> str:
    """A sentence with its contexts as one sentence."""
    contexts = [part for part in contexts_of(chunk, span) if part.span != span]
    before = [
        _COLON.sub("", _MARKER.sub("", part.text, count=1))
        for part in contexts
        if part.span.start < span.start
    ]
    after = [part.text for part in contexts if part.span.start > span.start]
    words = _text_at(chunk, span)
    if before:
        words = _MARKER.sub("", words, count=1)
    if after:
        words = _STOP.sub("", words)
    # The way through the lists between may be longer than a negation reaches.
    chains = [before, *([lead_in] for lead_in in before[:-1])]
    return " ".join(" ".join([*chain, words, *after]) for chain in chains)


def contexts_of(chunk: Chunk, span: Span) -> tuple[ContextPart, ...]:
    """The lead-ins and conditions that govern something of `span`, lead-ins first.

    A lead-in outside the chunk is governed by those further out, and by the conditions after its list.
    """
    if chunk.span.overlap(span):
        return tuple(part for part in _all_contexts(chunk) if part.governs.overlap(span))
    own = next((part for part in chunk.context_before if part.span.overlap(span)), None)
    if own is None:
        return ()
    outer = chunk.context_before[: chunk.context_before.index(own)]
    return tuple(part for part in (*outer, *chunk.context_after) if part.governs.overlap(own.governs))


def outside(chunk: Chunk, contexts: Iterable[ContextPart]) -> tuple[QuotePart, ...]:
    """Those of `contexts` whose words do not stand in the chunk's text."""
    return tuple(part_of(chunk, part.span, part.text) for part in contexts if part.span not in chunk.span)


def doubts_of(chunk: Chunk, parts: Iterable[QuotePart]) -> tuple[TextDoubtKind, ...]:
    """Why the text of some part may not be what the file shows; each reason once, none for most quotes."""
    spans = [part.span for part in parts]
    found = (doubt.kind for doubt in chunk.doubts if any(doubt.span.overlap(span) for span in spans))
    return tuple(dict.fromkeys(found))


def around(parts: Iterable[QuotePart], span: Span) -> tuple[str, str]:
    """What stands before and after the words at `span` in a quote that has these parts."""
    before, after = list[str](), list[str]()
    for part in parts:
        before.append(part.text[: max(0, span.start - part.span.start)].strip())
        after.append(part.text[max(0, span.end - part.span.start) :].strip())
    return JOINT.join(filter(None, before)), JOINT.join(filter(None, after))


def pages_at(chunk: Chunk, span: Span) -> tuple[int | None, int | None]:
    """First and last page that holds something of `span`; None twice where the format has no pages."""
    known = [*chunk.pages, *(page for part in _all_contexts(chunk) for page in part.pages)]
    numbers = [page.page for page in known if page.span.overlap(span)]
    return (min(numbers), max(numbers)) if numbers else (None, None)


def _all_contexts(chunk: Chunk) -> tuple[ContextPart, ...]:
    return (*chunk.context_before, *chunk.context_after)


def texts_of(chunk: Chunk) -> list[tuple[Span, str]]:
    """The text of the chunk and those of its contexts, each with its place in the document."""
    return [(chunk.span, chunk.text), *((part.span, part.text) for part in _all_contexts(chunk))]


def _text_at(chunk: Chunk, span: Span) -> str:
    """The document's text at `span`, which the chunk or one of its contexts holds."""
    where, text = next(held for held in texts_of(chunk) if span in held[0])
    return text[span.start - where.start : span.end - where.start]


def _as_one(chunk: Chunk, first: _Piece, second: _Piece) -> _Piece | None:
    """Two pieces as one that overlap, touch, or have only white space of the chunk between them."""
    (before, words), (after, others) = first, second
    between = ""
    if before.end < after.start:
        if before.end < chunk.span.start or after.start > chunk.span.end:
            return None
        between = chunk.text[before.end - chunk.span.start : after.start - chunk.span.start]
        if not between.isspace():
            return None
    text = words + between + others[max(0, before.end - after.start) :]
    return Span(before.start, max(before.end, after.end)), text
