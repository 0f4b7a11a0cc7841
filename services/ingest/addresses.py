"""The name of a document, checked once where it enters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chassis.errors import InvalidInput
from chassis.names import is_one_line
from corpus.documents import DocumentId
from services.ingest.parsing.formats import format_of
from services.ingest.parsing.invisible import is_readable

MAX_ID_BYTES = 1_024
"""Bytes of `{source}/{path}` in UTF-8."""
_SOURCE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class DocumentAddress:
    """A source and a path below it. One that exists is well formed, and of a format that ingest reads."""

    source: str
    path: str

    def __post_init__(self) -> None:
        """Raise `InvalidInput` or `DocumentFormatUnsupported`, naming the field."""
        if not _SOURCE.fullmatch(self.source):
            raise InvalidInput(
                "Must be 1 to 64 lower-case letters, digits, `-`, `_`, `.`, first a letter or digit.",
                field="source",
            )
        if not self.path:
            raise InvalidInput("Must not be empty.", field="path")
        if not is_one_line(self.path):
            raise InvalidInput("Must be one line without control characters.", field="path")
        if not is_readable(self.path):
            raise InvalidInput("Must not hold characters that nobody sees.", field="path")
        if any(part in ("", ".", "..") for part in self.path.split("/")):
            raise InvalidInput("Must not hold an empty part, `.` or `..`.", field="path")
        if len(self.document_id.encode()) > MAX_ID_BYTES:
            raise InvalidInput(
                f"Must not exceed {MAX_ID_BYTES:,} bytes together with the source.", field="path"
            )
        format_of(self.file_name)

    @property
    def document_id(self) -> DocumentId:
        """`{source}/{path}`."""
        return DocumentId(f"{self.source}/{self.path}")

    @property
    def file_name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]
