"""A document with a list whose items, lead-in and condition stand in chunks of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clausegate.corpus.v1 import chunk_pb2, span_pb2
from tests.contract.retrieval_index import Text, with_digest

LEAD_IN = "The Licensee shall not:"
COPY = "1. Copy the Data."
SHARE = "2. Share the Data with any third party for commercial purposes."
CONSENT = "in each case only with the prior written consent of the Licensor."
WHOLE = f"{LEAD_IN} … {SHARE} … {CONSENT}"
"""What a quote of the second item says."""


@dataclass(frozen=True)
class Listed(Text):
    """The first paragraph leads into a list, the last is its condition, those between are its items."""

    doubts: Sequence[chunk_pb2.TextDoubtKind.ValueType] = ()
    """Of every item."""

    def chunk(self, number):
        chunk, last = super().chunk(number), len(self.paragraphs) - 1
        if 0 < number < last:
            chunk.context_before.append(self._context(0, chunk.span))
            chunk.context_after.append(self._context(last, chunk.span))
            chunk.doubts.extend(chunk_pb2.TextDoubt(span=chunk.span, kind=kind) for kind in self.doubts)
        return with_digest(chunk)

    def _context(self, number, governs):
        pages = [span_pb2.PageSpan(page=1, span=self.span(number))] if self.pages else []
        return chunk_pb2.ContextPart(
            span=self.span(number), text=self.paragraphs[number], governs=governs, pages=pages
        )


LIST = Listed("cme/a.md", (LEAD_IN, COPY, SHARE, CONSENT))
