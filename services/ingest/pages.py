"""Pages of PDFs as pictures: drawn in a child process, and kept for who asks again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from chassis.telemetry import stage
from corpus.documents import Document, DocumentFormat
from services.ingest.archive import Archive
from services.ingest.errors import DocumentFormatUnsupported, PageNotFound
from services.ingest.originals import Originals
from services.ingest.parsing.pool import ParserPool
from services.ingest.pictures import Drawing, Look, Picture

KEPT_BYTES = 64 << 20
"""Pictures that are kept in memory, all tenants together; a page has about 150 KB."""


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page as a picture, see `clausegate.ingest.v1.RenderPageResponse`."""

    picture: Picture
    page_count: int
    content_sha256: str


class Pages:
    """Draws pages of the documents that the index shows to the caller."""

    def __init__(self, originals: Originals, archive: Archive, artists: ParserPool, folder: Path) -> None:
        """`artists` can open files below `folder`, which lies on the archive's file system."""
        self._originals = originals
        self._archive = archive
        self._artists = artists
        self._folder = folder
        self._kept = _Kept()

    async def show(self, tenant: str, document_id: str, look: Look) -> ShownPage:
        """One page. Raises `DocumentNotFound`, `PageNotFound`, `OriginalDamaged` and what drawing raises."""
        live = await self._originals.visible(document_id)
        _check(live, look)
        key = _Key(tenant, live.content_sha256, look)
        picture = self._kept.get(key)
        if picture is None:
            async with self._archive.lent(tenant, live.content_sha256, self._folder) as file:
                with stage("draw"):
                    picture = await self._artists.draw(Drawing(file, look))
            self._kept.put(key, picture)
        return ShownPage(picture, live.page_count, live.content_sha256)


def _check(document: Document, look: Look) -> None:
    if document.format is not DocumentFormat.PDF:
        message = "Only a PDF has pages that can be drawn; `GetText` shows text."
        raise DocumentFormatUnsupported(message, field="document_id")
    if look.page > document.page_count:
        raise PageNotFound(f"The document has {document.page_count:,} pages.", field="page")


@dataclass(frozen=True, slots=True)
class _Key:
    """What a picture is of. Nobody learns from the time that it takes what another tenant has looked at."""

    tenant: str
    content_sha256: str
    look: Look


class _Kept:
    """The pictures that were asked for last."""

    def __init__(self) -> None:
        self._pictures: OrderedDict[_Key, Picture] = OrderedDict()
        self._bytes = 0

    def get(self, key: _Key) -> Picture | None:
        picture = self._pictures.get(key)
        if picture is not None:
            self._pictures.move_to_end(key)
        return picture

    def put(self, key: _Key, picture: Picture) -> None:
        if key in self._pictures:
            return
        self._pictures[key] = picture
        self._bytes += len(picture.png)
        while self._bytes > KEPT_BYTES:
            _, dropped = self._pictures.popitem(last=False)
            self._bytes -= len(dropped.png)
