"""A document with a list, cut into chunks with the contexts that ingest keeps with them."""

from __future__ import annotations

from corpus.chunks import Chunk, ContextPart, TextDoubt
from corpus.spans import PageSpan, Span
from tests.unit.nouns import a_chunk

LEAD_IN = "The Licensee shall not:"
COPY = "1. Copy the Data."
SHARE = "2. Share the Data with any third party for commercial purposes."
CONSENT = "in each case only with the prior written consent of the Licensor."
FEES = "Fees are due monthly in advance."
DOCUMENT = "\n".join([FEES, LEAD_IN, COPY, SHARE, CONSENT])
WHOLE = f"{LEAD_IN} … {SHARE}\n{CONSENT}"
"""What a quote of the second item says."""


def span_of(words: str, text: str = DOCUMENT) -> Span:
    """Where words stand first in the document."""
    start = text.index(words)
    return Span(start, start + len(words))


def context(words: str, governs: Span, page: int = 1, text: str = DOCUMENT) -> ContextPart:
    """Words that govern a part of a chunk."""
    span = span_of(words, text)
    return ContextPart(span, words, governs, (PageSpan(page, span),))


def chunk_of(*sentences: str, text: str = DOCUMENT, **told: object) -> Chunk:
    """The chunk of neighbouring sentences; `told` are more of its fields."""
    spans = tuple(span_of(sentence, text) for sentence in sentences)
    span = Span(spans[0].start, spans[-1].end)
    return a_chunk(
        text[span.start : span.end],
        chunk_id=f"chunk-{span.start}",
        alias="cme__a.md_1",
        document_id="cme/a.md",
        title="Licence",
        section="Section 1 of 1",
        span=span,
        pages=(PageSpan(2, span),),
        sentences=spans,
        **told,
    )


def items(*sentences: str, doubts: tuple[TextDoubt, ...] = ()) -> Chunk:
    """The chunk of some sentences of the list, with lead-in and condition wherever these stand."""
    governed = [span_of(one) for one in sentences if one in (COPY, SHARE)]
    governs = Span(governed[0].start, governed[-1].end)
    before, after = (context(LEAD_IN, governs),), (context(CONSENT, governs, page=3),)
    return chunk_of(*sentences, context_before=before, context_after=after, doubts=doubts)


ALL = items(FEES, LEAD_IN, COPY, SHARE, CONSENT)
"""The whole list in one chunk."""
SECOND = items(SHARE)
"""The second item in a chunk of its own."""
