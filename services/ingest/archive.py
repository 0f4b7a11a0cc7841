"""The original files, by SHA-256, and which documents refer to them. One folder per tenant.

A file and its reference are written before the index shows the document, and what the index no longer shows
is released after it: at any moment of a crash the original of every visible document is here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from services.ingest.errors import DocumentNotFound

PIECE_BYTES = 1 << 20
"""Size of the pieces in which an original is read."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS reference (
    document_id TEXT NOT NULL, content_sha256 TEXT NOT NULL, PRIMARY KEY (document_id, content_sha256)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS reference_by_content ON reference (content_sha256);
"""


class Archive:
    """Originals of all tenants. One process owns the folder; methods may run side by side."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._prepared: set[str] = set()

    async def holds(self, tenant: str, document_id: str, content_sha256: str) -> bool:
        """Whether these bytes are here and the document refers to them."""
        return await asyncio.to_thread(self._holds, tenant, document_id, content_sha256)

    async def keep(self, tenant: str, document_id: str, content_sha256: str, file: Path) -> None:
        """Store `file`, on disk when it returns, and let the document refer to it.

        The file gets a second name: it must lie on the archive's file system, and never change again.
        """
        await asyncio.to_thread(self._keep, tenant, document_id, content_sha256, file)

    async def release(self, tenant: str, document_id: str, but: str = "") -> None:
        """Drop the document's references, except to `but`; delete originals that nobody refers to."""
        await asyncio.to_thread(self._release, tenant, document_id, but)

    async def read(self, tenant: str, content_sha256: str) -> AsyncGenerator[bytes, None]:
        """Yield an original in pieces of at most 1 MiB; raises `DocumentNotFound`.

        The file stays readable to its end when it is released meanwhile.
        """
        try:
            file = await asyncio.to_thread(self._blob(tenant, content_sha256).open, "rb")
        except FileNotFoundError as error:
            raise DocumentNotFound(
                "its original is not archived: ingest the file again", field="document_id"
            ) from error
        with file:
            while data := await asyncio.to_thread(file.read, PIECE_BYTES):
                yield data

    def _blob(self, tenant: str, content_sha256: str) -> Path:
        return self._folder / tenant / "originals" / content_sha256[:2] / content_sha256

    @contextmanager
    def _references(self, tenant: str) -> Iterator[sqlite3.Connection]:
        folder = self._folder / tenant
        with self._lock:
            if tenant not in self._prepared:
                folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(folder / "references.sqlite")) as connection:
                if tenant not in self._prepared:
                    connection.executescript(_SCHEMA)
                    self._prepared.add(tenant)
                with connection:
                    yield connection

    def _holds(self, tenant: str, document_id: str, content_sha256: str) -> bool:
        if not self._blob(tenant, content_sha256).exists():
            return False
        with self._references(tenant) as references:
            row = references.execute(
                "SELECT 1 FROM reference WHERE document_id = ? AND content_sha256 = ?",
                (document_id, content_sha256),
            ).fetchone()
        return row is not None

    def _keep(self, tenant: str, document_id: str, content_sha256: str, file: Path) -> None:
        blob = self._blob(tenant, content_sha256)
        blob.parent.mkdir(parents=True, exist_ok=True)
        _sync(file)
        with self._references(tenant) as references:
            with contextlib.suppress(FileExistsError):
                os.link(file, blob)
            _sync(blob.parent)
            references.execute("INSERT OR IGNORE INTO reference VALUES (?, ?)", (document_id, content_sha256))

    def _release(self, tenant: str, document_id: str, but: str) -> None:
        with self._references(tenant) as references:
            dropped = references.execute(
                "DELETE FROM reference WHERE document_id = ? AND content_sha256 <> ?"
                " RETURNING content_sha256",
                (document_id, but),
            ).fetchall()
            for (content_sha256,) in dropped:
                used = references.execute(
                    "SELECT 1 FROM reference WHERE content_sha256 = ?", (content_sha256,)
                ).fetchone()
                if used is None:
                    self._blob(tenant, content_sha256).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Make a file's content, or a folder's names, survive a power loss."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
