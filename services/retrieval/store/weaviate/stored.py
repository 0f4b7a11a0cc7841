"""What is stored of a version, compared with what its document says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus.documents import Document
from services.retrieval.store.port import IncompleteVersion


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored of a version, live or not."""

    chunks: int
    windows: int
    terms: Sequence[str]
    """The folded term of each definition."""

    def is_whole(self, document: Document) -> bool:
        """Whether it is as much as the document says."""
        return (self.chunks, len(self.terms)) == (document.chunk_count, document.definition_count)

    def check(self, document: Document) -> None:
        """Raise `IncompleteVersion` unless it is."""
        if not self.is_whole(document):
            raise IncompleteVersion(
                f"{document.document_id}: {self.chunks} of {document.chunk_count} chunks and "
                f"{len(self.terms)} of {document.definition_count} definitions are stored"
            )
