"""Quotes of what the ends of chunks cut, of documents as ingest cuts them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.chunks import Chunk
from corpus.citations import Citation
from corpus.documents import DocumentFormat
from corpus.ids import chunk_id_of
from corpus.spans import Span
from services.answer.parts import contexts_of
from services.answer.query.composing import Draft
from services.answer.query.notes import begins_earlier_notes
from services.answer.query.stating import extracted
from services.answer.sentences import Sentence, all_of
from services.answer.verification.citing import Citations, Origin
from services.answer.verification.signing import Signer
from services.ingest import chunking
from services.ingest.chunking import ChunkLimits
from services.ingest.documents import Block, BlockKind, ExtractedDocument
from tests.unit.nouns import a_chunk, a_document

ORIGIN = chunking.Origin("cme/a.html", "cme", "a.html", "g", "a.html")
LIMITS = ChunkLimits(target_words=40, max_words=60, min_words=10, overlap_sentences=1)
FILLER = "The Parties have agreed on these terms after long talks about them and their price."
LEAD_IN = "The Licensee shall not do any of these things without prior written consent:"
TAIL = "This Agreement is governed by the laws of the State of Illinois and by no others."


def chunks_of(*paragraphs: str) -> tuple[str, tuple[Chunk, ...]]:
    """The text of a document and its chunks."""
    text, blocks = "", []
    for paragraph in paragraphs:
        text += "\n\n" if text else ""
        kind = BlockKind.LIST_ITEM if paragraph.startswith("(") else BlockKind.PARAGRAPH
        blocks.append(Block(kind, Span(len(text), len(text) + len(paragraph))))
        text += paragraph
    return text, chunking.cut(
        ExtractedDocument(DocumentFormat.HTML, None, text, tuple(blocks)), ORIGIN, LIMITS
    )


def cited(sentence: Sentence, *chunks: Chunk) -> Citation:
    """The citation of an answer that consists of this sentence, `chunks` being read."""
    read = {chunk.chunk_id: chunk for chunk in chunks}
    citations = Citations(read, {"cme/a.html": a_document("cme/a.html")}, Origin("c" * 64), Signer())
    draft = Draft("What is agreed?", kept=(), definitions=(), calibrated=True)
    extracted(draft, [sentence], citations)
    return citations.all[0]


def sentence_with(words: str, chunks: tuple[Chunk, ...]) -> Sentence:
    return next(sentence for chunk in chunks for sentence in all_of(chunk) if words in sentence.text)


def items(count: int) -> list[str]:
    return [f"({letter}) share the part {letter} of the Data with anybody;" for letter in "abcdefgh"[:count]]


@given(st.integers(0, 6), st.integers(2, 5), st.integers(0, 3))
@settings(deadline=None)
def test_a_lead_in_comes_with_the_items_that_its_chunk_and_the_next_hold(before, count, after):
    listed = items(count)
    text, chunks = chunks_of(*[FILLER] * before, LEAD_IN, *listed, *[TAIL] * after)
    sentence = sentence_with(LEAD_IN, chunks)
    citation = cited(sentence, *chunks)
    reach = next(
        (one.span.end for one in chunks if one.ordinal == sentence.chunk.ordinal + 1),
        sentence.chunk.span.end,
    )
    for item in listed:
        end = text.index(item) + len(item)
        assert (item in citation.quote) == (end <= reach)
    assert TAIL not in citation.quote
    assert_true_to(text, citation)


def assert_true_to(text: str, citation: Citation) -> None:
    """Every part is the text at its place, in order, and no word is said twice."""
    end = 0
    for part in citation.parts:
        assert part.text == text[part.span.start : part.span.end]
        assert part.span.start >= end
        end = part.span.end
    assert any(citation.span in part.span for part in citation.parts)


CLAUSES = [f"the costs of carriage to port number {number} and of its insurance" for number in range(8)]
LONG = f"The Licensee shall bear {', '.join(CLAUSES)} as well."


@pytest.mark.parametrize("words", ["The Licensee shall bear", "as well."])
def test_a_sentence_that_two_chunks_hold_is_quoted_whole_from_either(words):
    text, chunks = chunks_of(FILLER, LONG, TAIL)
    assert not any("shall bear" in chunk.text and "as well." in chunk.text for chunk in chunks)
    citation = cited(sentence_with(words, chunks), *chunks)
    assert citation.quote.replace(" … ", " ") == LONG
    assert_true_to(text, citation)


BROKEN = (
    "The Licensee shall report each Device to the Licensor within thirty days of the",
    "end of its use.",
)


@pytest.mark.parametrize("words", BROKEN)
def test_a_sentence_broken_off_by_the_end_of_a_chunk_is_told_from_its_beginning(words):
    whole = "\n\n".join([FILLER, *BROKEN])
    first, second = (replace(BETWEEN, **told) for told in halves(whole))
    sentence = sentence_with(words, (first, second))
    citation = cited(sentence, first, second)
    assert citation.quote == " … ".join(BROKEN)
    assert_true_to(whole, citation)
    read = {chunk.chunk_id: chunk for chunk in (first, second)}
    assert begins_earlier_notes([citation], read) == ()
    alone = cited(sentence, sentence.chunk)
    assert len(begins_earlier_notes([alone], read)) == (words == BROKEN[1])


BETWEEN = a_chunk(document_id="cme/a.html")


def halves(whole: str) -> list[dict[str, Any]]:
    """The fields of two chunks: a sentence and a broken one, and the end of that."""
    spans = [Span(whole.index(part), whole.index(part) + len(part)) for part in (FILLER, *BROKEN)]
    return [
        {
            "chunk_id": chunk_id_of(BETWEEN.version, ordinal),
            "ordinal": ordinal,
            "span": Span(own[0].start, own[-1].end),
            "text": whole[own[0].start : own[-1].end],
            "sentences": tuple(own),
        }
        for ordinal, own in enumerate([spans[:2], spans[2:]])
    ]


def test_an_item_at_the_end_of_a_chunk_does_not_take_the_next_one():
    _, chunks = chunks_of(FILLER, LEAD_IN, *items(8))
    last = next(all_of(chunk)[-1] for chunk in chunks if "(a)" in chunk.text)
    assert contexts_of(last.chunk, last.span)
    assert cited(last, *chunks).quote.endswith(last.text)


def test_a_full_sentence_at_the_end_of_a_chunk_stays_as_it_is():
    _, chunks = chunks_of(*[FILLER] * 9)
    assert {cited(all_of(chunk)[-1], *chunks).quote for chunk in chunks} == {FILLER}
