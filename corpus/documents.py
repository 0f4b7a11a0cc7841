"""Documents, and the versions that the index has of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

from corpus.profiles import DocumentProfile

DocumentId = NewType("DocumentId", str)
"""`{source}/{path}`."""
Generation = NewType("Generation", str)


def source_of(document_id: str) -> str:
    """The source of a document, which its id begins with."""
    return document_id.partition("/")[0]


class DocumentFormat(StrEnum):
    """The file formats that ingest reads."""

    UNSPECIFIED = "unspecified"
    """Ingest sends none such; an index may hold what another program wrote."""
    PDF = "pdf"
    DOCX = "docx"
    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Version:
    """One generation of one document. At most one is live, and at most one other exists."""

    document_id: DocumentId
    generation: Generation


@dataclass(frozen=True, slots=True)
class Document:
    """A version of a document, see `clausegate.corpus.v1.Document`."""

    document_id: DocumentId
    generation: Generation
    source: str
    path: str
    """Path below the source, with `/` between its parts."""
    title: str
    format: DocumentFormat
    content_sha256: str
    """Hash of the original file."""
    size_bytes: int
    page_count: int
    unreadable_pages: tuple[int, ...]
    """Numbers of pages that show something but have no text layer, ascending."""
    chunk_count: int
    definition_count: int
    indexed_at: datetime | None = None
    """When the version became visible; None until the index sets it."""
    hidden_characters: int = 0
    scanned_pages: tuple[int, ...] = ()
    reference_marks: int = 0
    running_lines: int = 0
    profile: DocumentProfile | None = None
    """The card; None for what earlier releases indexed, and where none could be made."""
    contents_sha256: str = ""
    """Digest of all chunks and definitions of the version."""
    digest: str = ""
    """Hash of all but this and `indexed_at`, as ingest made it; empty for what earlier releases indexed."""

    @property
    def version(self) -> Version:
        """Which version of the document it is."""
        return Version(self.document_id, self.generation)
