"""What ingest tells the index about a document, and what the index tells back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from services.ingest.documents import DocumentFormat


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """See `clausegate.corpus.v1.Document`; `indexed_at` is None until the index sets it."""

    document_id: str
    source: str
    path: str
    title: str
    format: DocumentFormat
    content_sha256: str
    generation: str
    size_bytes: int
    page_count: int
    unreadable_pages: tuple[int, ...]
    chunk_count: int
    definition_count: int
    indexed_at: datetime | None = None
    hidden_characters: int = 0
    scanned_pages: tuple[int, ...] = ()
    reference_marks: int = 0
    running_lines: int = 0
    contents_sha256: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document as the index shows it after a write."""

    document: DocumentRecord
    index_revision: str
    replaced: bool
    """Whether an older version was replaced."""


class Outcome(StrEnum):
    """What one ingested file came to."""

    CREATED = "CREATED"
    UPDATED = "UPDATED"
    UNCHANGED = "UNCHANGED"


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of an upload."""

    outcome: Outcome
    document: DocumentRecord
    index_revision: str


class Stage(StrEnum):
    """What is being done with a file."""

    PARSING = "parsing"
    CHUNKING = "chunking"
    INDEXING = "indexing"


@dataclass(frozen=True, slots=True)
class Progress:
    """Units of a stage: pages or elements while parsing, chunks afterwards."""

    stage: Stage
    done: int
    total: int
    """0 while not known."""


@dataclass(frozen=True, slots=True)
class SendBytes:
    """The sender may send the file now."""


Event = SendBytes | Progress | Receipt
Report = Callable[[Progress], None]
