"""The original files, by SHA-256, and which documents refer to them. One folder per tenant.

A file and its reference are written before the index shows the document, and what the index no longer shows
is released after it: at any moment of a crash the original of every visible document is here. A reference
says whether the index has shown its document, so that an index that lost it is found out, and filled again.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import sqlite3
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from io import BufferedReader
from pathlib import Path

from chassis.auth import names_tenant
from chassis.errors import DataLoss, StorageUnavailable
from chassis.folders import private_file, private_folder
from services.ingest.errors import DocumentNotFound
from services.ingest.spool import SPOOLED

PIECE_BYTES = 1 << 20
"""Size of the pieces in which an original is read."""
REFERENCES = "references.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS reference (
    document_id TEXT NOT NULL, content_sha256 TEXT NOT NULL, visible INTEGER,
    PRIMARY KEY (document_id, content_sha256)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS reference_by_content ON reference (content_sha256);
"""
_ADD_VISIBLE = "ALTER TABLE reference ADD COLUMN visible INTEGER"
"""1 once the index has shown the document with this file, 0 before and while it is removed; NULL of an
earlier release, which did not know."""


class OriginalDamaged(DataLoss):
    """The archived file is not the one that was uploaded."""

    reason = "ORIGINAL_DAMAGED"


class Archive:
    """Originals of all tenants. One process owns the folder; methods may run side by side."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._prepared: set[str] = set()

    async def holds(self, tenant: str, document_id: str, content_sha256: str) -> bool:
        """Whether these bytes are here, undamaged, and the document refers to them."""
        return await asyncio.to_thread(self._holds, tenant, document_id, content_sha256)

    async def keep(self, tenant: str, document_id: str, content_sha256: str, file: Path) -> None:
        """Store `file`, on disk when it returns, and let the document refer to it.

        The file gets a second name: it must lie on the archive's file system, and never change again. It
        takes the place of what was archived under this SHA-256, which may be damaged.
        """
        await asyncio.to_thread(self._keep, tenant, document_id, content_sha256, file)

    async def release(self, tenant: str, document_id: str, but: str = "") -> None:
        """Drop the document's references, except to `but`, which the index shows now; delete originals that
        nobody refers to.
        """
        await asyncio.to_thread(self._release, tenant, document_id, but)

    async def read(self, tenant: str, content_sha256: str, start: int = 0) -> AsyncGenerator[bytes, None]:
        """Yield an original from byte `start` on, in pieces of at most 1 MiB. Raises `DocumentNotFound`, and,
        before the first piece, `OriginalDamaged`.

        The file stays readable to its end when it is released meanwhile.
        """
        with await asyncio.to_thread(self._open, tenant, content_sha256) as file:
            file.seek(start)
            while data := await asyncio.to_thread(file.read, PIECE_BYTES):
                yield data

    @asynccontextmanager
    async def lent(self, tenant: str, content_sha256: str, folder: Path) -> AsyncIterator[Path]:
        """A second name of an original in `folder`, which lies on the archive's file system; gone afterwards.

        Raises `DocumentNotFound` and `OriginalDamaged`.
        """
        file = await asyncio.to_thread(self._lend, tenant, content_sha256, folder)
        try:
            yield file
        finally:
            file.unlink()

    async def tenants(self) -> Sequence[str]:
        """Tenants with an archive, by name."""
        return await asyncio.to_thread(self._tenants)

    async def set_visible(self, tenant: str, document_id: str, *, visible: bool) -> None:
        """Say whether the index is to show the document."""
        await asyncio.to_thread(self._set_visible, tenant, document_id, visible)

    async def count_visible(self, tenant: str) -> int:
        """How many documents the index is to show."""
        return len(await asyncio.to_thread(self._originals, tenant))

    async def originals(self, tenant: str) -> Mapping[str, str]:
        """The SHA-256 of the original of each document that the index is to show, by id."""
        return await asyncio.to_thread(self._originals, tenant)

    async def knows_what_is_visible(self, tenant: str) -> bool:
        """Whether no reference is of an earlier release."""
        return await asyncio.to_thread(self._knows_what_is_visible, tenant)

    async def learn_what_is_visible(self, tenant: str, shown: Mapping[str, str]) -> None:
        """Take from the index which documents of an earlier release it shows, with the SHA-256 of each.

        From an empty one nothing can be learnt: all are taken to have been visible.
        """
        await asyncio.to_thread(self._learn_what_is_visible, tenant, shown)

    def _blob(self, tenant: str, content_sha256: str) -> Path:
        return self._folder / tenant / "originals" / content_sha256[:2] / content_sha256

    def _open(self, tenant: str, content_sha256: str) -> BufferedReader:
        """An undamaged original."""
        try:
            file = self._blob(tenant, content_sha256).open("rb")
        except FileNotFoundError as error:
            message = "The original is not archived: ingest the file again."
            raise DocumentNotFound(message, field="document_id") from error
        if _sha256(file) != content_sha256:
            file.close()
            message = "The archived original is damaged: ingest the file again."
            raise OriginalDamaged(message, field="document_id")
        return file

    def _lend(self, tenant: str, content_sha256: str, folder: Path) -> Path:
        self._open(tenant, content_sha256).close()
        name = folder / f"{SPOOLED}{secrets.token_hex(8)}"
        os.link(self._blob(tenant, content_sha256), name)
        return name

    @contextmanager
    def _references(self, tenant: str) -> Iterator[sqlite3.Connection]:
        file = self._folder / tenant / REFERENCES
        with self._lock, _naming(file):
            if tenant not in self._prepared:
                private_folder(file.parent)
                private_file(file)
            with closing(sqlite3.connect(file)) as connection:
                if tenant not in self._prepared:
                    _prepare(connection)
                    self._prepared.add(tenant)
                with connection:
                    yield connection

    def _holds(self, tenant: str, document_id: str, content_sha256: str) -> bool:
        try:
            with self._blob(tenant, content_sha256).open("rb") as file:
                if _sha256(file) != content_sha256:
                    return False
        except FileNotFoundError:
            return False
        with self._references(tenant) as references:
            row = references.execute(
                "SELECT 1 FROM reference WHERE document_id = ? AND content_sha256 = ?",
                (document_id, content_sha256),
            ).fetchone()
        return row is not None

    def _keep(self, tenant: str, document_id: str, content_sha256: str, file: Path) -> None:
        blob = self._blob(tenant, content_sha256)
        private_folder(self._folder)
        for folder in (self._folder / tenant, blob.parent.parent, blob.parent):
            private_folder(folder)
        _sync(file)
        with self._references(tenant) as references:
            new = blob.with_name(f"{blob.name}.new")
            new.unlink(missing_ok=True)
            os.link(file, new)
            new.chmod(0o600)
            os.replace(new, blob)
            _sync(blob.parent)
            references.execute(
                "INSERT OR IGNORE INTO reference VALUES (?, ?, 0)", (document_id, content_sha256)
            )

    def _release(self, tenant: str, document_id: str, but: str) -> None:
        with self._references(tenant) as references:
            references.execute(
                "UPDATE reference SET visible = 1"
                " WHERE document_id = ? AND content_sha256 = ? AND visible IS NOT 1",
                (document_id, but),
            )
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

    def _tenants(self) -> Sequence[str]:
        found = (file.parent.name for file in self._folder.glob(f"*/{REFERENCES}"))
        return sorted(filter(names_tenant, found))

    def _set_visible(self, tenant: str, document_id: str, visible: bool) -> None:
        with self._references(tenant) as references:
            references.execute(
                "UPDATE reference SET visible = ? WHERE document_id = ?", (visible, document_id)
            )

    def _originals(self, tenant: str) -> dict[str, str]:
        with self._references(tenant) as references:
            found = references.execute(
                "SELECT document_id, content_sha256 FROM reference WHERE visible ORDER BY document_id"
            )
            return dict(found.fetchall())

    def _knows_what_is_visible(self, tenant: str) -> bool:
        with self._references(tenant) as references:
            query = "SELECT 1 FROM reference WHERE visible IS NULL LIMIT 1"
            return references.execute(query).fetchone() is None

    def _learn_what_is_visible(self, tenant: str, shown: Mapping[str, str]) -> None:
        with self._references(tenant) as references:
            query = "SELECT document_id, content_sha256 FROM reference WHERE visible IS NULL"
            for document_id, content_sha256 in references.execute(query).fetchall():
                references.execute(
                    "UPDATE reference SET visible = ? WHERE document_id = ? AND content_sha256 = ?",
                    (not shown or shown.get(document_id) == content_sha256, document_id, content_sha256),
                )


def _prepare(connection: sqlite3.Connection) -> None:
    connection.executescript(_SCHEMA)
    columns = {row[1] for row in connection.execute("PRAGMA table_info(reference)")}
    if "visible" not in columns:
        connection.execute(_ADD_VISIBLE)


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Within it a file that is no database any more is named, with the way out."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise
        raise StorageUnavailable(
            f"The archive's list of originals is damaged: {file}. Restore it from a back-up; or move it away "
            "and ingest the documents again."
        ) from error


def _sha256(file: BufferedReader) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Make a file's content, or a folder's names, survive a power loss."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
