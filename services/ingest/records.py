"""What ingest tells the index about a document, and what the index tells back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from corpus.documents import Document


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document as the index shows it after a write."""

    document: Document
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
    document: Document
    index_revision: str
    guessed_encoding: str = ""
    """See `ExtractedDocument`; empty for an unchanged document, which was not read."""


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
