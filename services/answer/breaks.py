"""Sentences and lists that the end of a chunk cuts: what of them the chunk before or after it holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from corpus.chunks import Chunk, ChunkId
from corpus.ids import chunk_id_of
from corpus.spans import Span
from services.answer.sentences import (
    Sentence,
    all_of,
    called_for,
    calls_for_more,
    is_item,
    is_row,
    to_its_end,
)

_FULL_STOPS = (".", "?", "!")
_CLOSING = "\"'”’)]"


@dataclass(frozen=True, slots=True)
class Reach:
    """Where words of a chunk stand with the rest of their sentence or list."""

    before: Span | None
    """In the chunk before; None for most."""
    own: Span
    after: Span | None
    """In the chunk after; None for most."""


def before(chunk: Chunk) -> ChunkId:
    """The id of the chunk before; no chunk has it where this is the first."""
    return chunk_id_of(chunk.version, chunk.ordinal - 1)


def after(chunk: Chunk) -> ChunkId:
    """The id of the chunk after; no chunk has it where this is the last."""
    return chunk_id_of(chunk.version, chunk.ordinal + 1)


def neighbours_of(chunks: Iterable[Chunk]) -> list[ChunkId]:
    """The ids of chunks that may hold the rest of what these hold a part of."""
    return [
        neighbour
        for chunk in chunks
        for neighbour, is_open in ((before(chunk), _begins_open(chunk)), (after(chunk), _ends_open(chunk)))
        if is_open
    ]


def reach(chunk: Chunk, span: Span, preceding: Chunk | None, following: Chunk | None) -> Reach:
    """`span` to the end of the list or sentence that its words call for, over the ends of the chunk.

    A sentence that an end cuts is whole, and a list is taken to its end where `span` holds what leads into
    it: as far as the chunk and those beside it, where they are known, hold them.
    """
    sentences = all_of(chunk)
    if not sentences or span not in chunk.span:
        return Reach(None, span, None)
    earlier = [one for one in all_of(preceding) if one.span.end <= chunk.span.start] if preceding else []
    own, begun = _from_its_beginning(to_its_end(chunk, span), sentences, earlier)
    own, rest = _beyond_its_end(own, sentences, following) if following else (own, [])
    return Reach(_span_of(begun), own, _span_of(rest))


def _from_its_beginning(
    span: Span, sentences: Sequence[Sentence], earlier: Sequence[Sentence]
) -> tuple[Span, list[Sentence]]:
    """The span with the whole of the sentence that the beginning of the chunk cuts, if it has some of it."""
    begun = _beginning(earlier, sentences[0])
    cut = Span(sentences[0].span.start, [sentences[0], *_rest(sentences[0], sentences[1:])][-1].span.end)
    if not begun or not span.overlap(cut):
        return span, []
    return Span(cut.start, max(span.end, cut.end)), begun


def _beyond_its_end(
    span: Span, sentences: Sequence[Sentence], following: Chunk
) -> tuple[Span, list[Sentence]]:
    """The span with what the chunk after its own holds of the sentence or list at its end."""
    last = sentences[-1]
    later = [one for one in all_of(following) if one.span.start >= last.span.end]
    rest = _rest(last, later)
    cut = Span([*_beginning(sentences[:-1], last), last][0].span.start, last.span.end)
    if rest and span.overlap(cut):
        return Span(min(span.start, cut.start), cut.end), rest
    if span.end < last.span.end:
        return span, []
    end = max((part.governs.end for part in following.context_before if part.span in span), default=0)
    return span, [one for one in later if one.span.start < end] or called_for(last, later)


def _beginning(earlier: Sequence[Sentence], sentence: Sentence) -> list[Sentence]:
    """The pieces before this one of a sentence that is cut."""
    taken: list[Sentence] = []
    for piece in reversed(earlier):
        if not _is_cut(piece, taken[0] if taken else sentence):
            break
        taken.insert(0, piece)
    return taken


def _rest(sentence: Sentence, following: Sequence[Sentence]) -> list[Sentence]:
    """The pieces after this one of a sentence that is cut."""
    taken: list[Sentence] = []
    for piece in following:
        if not _is_cut(taken[-1] if taken else sentence, piece):
            break
        taken.append(piece)
    return taken


def _is_cut(sentence: Sentence, following: Sentence) -> bool:
    """Whether `following` is the rest of `sentence`, and no item of a list below it."""
    lead_ins = [part.text for part in following.chunk.context_before if part.governs.overlap(following.span)]
    is_listed = any(text.endswith(":") for text in lead_ins) or (bool(lead_ins) and sentence.text[-1:] == ";")
    return _goes_on(sentence) and _begins_within(following) and not is_listed


def _goes_on(sentence: Sentence) -> bool:
    return not is_row(sentence) and not sentence.text.rstrip(_CLOSING).endswith(_FULL_STOPS)


def _begins_within(sentence: Sentence) -> bool:
    return sentence.text[:1].islower() and not is_item(sentence.text) and not is_row(sentence)


def _begins_open(chunk: Chunk) -> bool:
    return chunk.ordinal > 0 and any(map(_begins_within, all_of(chunk)[:1]))


def _ends_open(chunk: Chunk) -> bool:
    """Whether its last sentence, or a list that it stands in, may go on in the next chunk."""
    return any(
        _goes_on(last)
        or calls_for_more(last)
        or any(last.span.overlap(part.governs) for part in chunk.context_before)
        for last in all_of(chunk)[-1:]
    )


def _span_of(sentences: Sequence[Sentence]) -> Span | None:
    return Span(sentences[0].span.start, sentences[-1].span.end) if sentences else None
