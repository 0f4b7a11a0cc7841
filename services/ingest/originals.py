"""Gives originals back, whole or in part, with what they are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

from chassis.errors import InvalidInput
from corpus.documents import Document, DocumentFormat
from services.ingest.archive import Archive
from services.ingest.errors import DocumentNotFound
from services.ingest.index_client import IndexClient


@dataclass(frozen=True, slots=True)
class Part:
    """Which bytes of a file are wanted. One that exists is well formed."""

    offset: int = 0
    """The first, from 0; below 0 it counts from the end."""
    length: int = 0
    """How many at most; 0 for all that are left."""

    def __post_init__(self) -> None:
        """Raise `InvalidInput`, naming the field."""
        if self.length < 0:
            raise InvalidInput("Must not be negative.", field="length")

    def start_in(self, size: int) -> int:
        """Where it starts in a file of so many bytes; the end of the file where it has none of them."""
        return min(size, max(0, size + self.offset) if self.offset < 0 else self.offset)


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """What an original is, see `clausegate.ingest.v1.OriginalFile`."""

    content_sha256: str
    size_bytes: int
    file_name: str
    format: DocumentFormat
    offset: int


class Originals:
    """The archived files of the documents that the index shows to the caller."""

    def __init__(self, archive: Archive, index: IndexClient) -> None:
        self._archive = archive
        self._index = index

    async def visible(self, document_id: str) -> Document:
        """The version that the index shows to the caller. Raises `DocumentNotFound`."""
        live = await self._index.find(document_id)
        if live is None:
            raise DocumentNotFound("The document is not indexed.", field="document_id")
        return live

    async def read(self, tenant: str, document_id: str, part: Part) -> AsyncIterator[OriginalFile | bytes]:
        """Yield what the file is, then the part of it in pieces. Raises `DocumentNotFound` and, before
        anything, `OriginalDamaged`.
        """
        live = await self.visible(document_id)
        start = part.start_in(live.size_bytes)
        left = part.length or live.size_bytes
        async with aclosing(self._archive.read(tenant, live.content_sha256, start)) as pieces:
            piece = await anext(pieces, b"")
            yield OriginalFile(
                live.content_sha256, live.size_bytes, live.path.rpartition("/")[2], live.format, start
            )
            while piece and left:
                yield piece[:left]
                left -= len(piece[:left])
                piece = await anext(pieces, b"")
