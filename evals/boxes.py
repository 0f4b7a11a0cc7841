"""Whether the boxes of citations are right: the words under them, read of the file again, are the quote's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import pymupdf

from clausegate.corpus.v1.citation_pb2 import Citation, QuoteBox
from evals.asking import Asker
from evals.corpora import Question
from evals.metrics import mean

Page = Sequence[tuple[float, float, str]]
"""The words of a page as it is shown: their middle in points, and their letters."""


async def measure(asker: Asker, questions: Sequence[Question]) -> Mapping[str, float]:
    """Of all quotes in PDFs that have boxes: whether the words under them are theirs, letter by letter.

    A box too many or too few, or one that is cut short or takes in a word beside the quote, is a miss.
    """
    found = {
        (citation.document, citation.span.start, citation.quote): citation
        for citation in await asker.citations([question.scoped for question in questions])
    }
    quotes = list(found.values())
    pages = {name: await _pages(asker, name) for name in {quote.document for quote in quotes}}
    boxed = [quote for quote in quotes if quote.boxes]
    return {
        "quotes": len(quotes),
        "with boxes": mean(bool(quote.boxes) for quote in quotes),
        "words right": mean(is_right(quote, pages[quote.document]) for quote in boxed),
        "boxes": mean(len(quote.boxes) for quote in boxed),
    }


def is_right(quote: Citation, pages: Sequence[Page]) -> bool:
    """Whether the letters under the boxes are those of the quote's parts."""
    return sorted(_under(quote.boxes, pages)) == sorted(_letters("".join(part.text for part in quote.parts)))


def pages_of(file: bytes) -> list[Page]:
    """The pages of a PDF, read without any code of the product."""
    with pymupdf.open(stream=file, filetype="pdf") as document:
        return [
            [
                ((word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2, _letters(text))
                for left, top, right, bottom, text, *_ in page.get_text("words")
                for word in [pymupdf.Rect(left, top, right, bottom) * page.rotation_matrix]
            ]
            for page in document
        ]


async def _pages(asker: Asker, document_id: str) -> list[Page]:
    return pages_of(b"".join([part async for part in asker.client.get_original(document_id)]))


def _under(boxes: Iterable[QuoteBox], pages: Sequence[Page]) -> str:
    return "".join(
        letters
        for box in boxes
        for across, down, letters in pages[box.page - 1]
        if box.left <= across <= box.right and box.top <= down <= box.bottom
    )


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text).casefold())
