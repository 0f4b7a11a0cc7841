"""Citations: verbatim quotes, where they stand, and what it takes to check them later."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from corpus.chunks import ChunkId
from corpus.spans import Span


class MatchLevel(StrEnum):
    """How a quote was found in the stored text, strictest first."""

    UNSPECIFIED = "unspecified"
    """Not by us: only citations that a caller sends say so."""
    EXACT = "exact"
    NORMALISED = "normalised"
    FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class Certificate:
    """What anybody needs to check a citation later, see `clausegate.corpus.v1.Certificate`."""

    document_sha256: str
    quote_sha256: str
    generation: str
    model: str
    prompt_version: str
    prompt_sha256: str
    config_sha256: str
    key_id: str = ""
    signature: bytes = b""


@dataclass(frozen=True, slots=True)
class QuotePart:
    """A contiguous stretch of a document, see `clausegate.corpus.v1.QuotePart`."""

    span: Span
    text: str
    """Exactly the code points `span` of the document."""
    page: int | None = None
    last_page: int | None = None


@dataclass(frozen=True, slots=True)
class Highlight:
    """Words of a quote that answer by themselves, see `clausegate.corpus.v1.Highlight`."""

    start: int
    """In code points of the quote, as is `end`, which is exclusive."""
    end: int


@dataclass(frozen=True, slots=True)
class QuoteBox:
    """A rectangle around words on one line of a page, in points, see `clausegate.corpus.v1.QuoteBox`."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Citation:
    """A verbatim quote and where it stands, see `clausegate.corpus.v1.Citation`."""

    number: int
    document: str
    source: str
    title: str
    section: str
    page: int | None
    last_page: int | None
    quote: str
    """The texts of `parts`, joined."""
    span: Span
    """Where the quoted words stand; what leads into them, and their conditions, are other parts."""
    chunk_id: ChunkId
    chunk_alias: str
    match_level: MatchLevel
    certificate: Certificate
    parts: tuple[QuotePart, ...] = ()
    """What `quote` consists of; empty only in citations that were made before they had parts."""
    document_label: str = ""
    """What people call the document; empty only in citations that were made before documents had labels."""
    highlights: tuple[Highlight, ...] = ()
    """What of the quote answers the question; empty for most."""
    boxes: tuple[QuoteBox, ...] = ()
    """Where the words of `parts` stand on the pages of a PDF, a rectangle for each line."""
