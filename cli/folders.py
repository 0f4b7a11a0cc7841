"""What lies in a folder to ingest, and how that differs from what is indexed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cli.errors import CommandError


class FolderError(CommandError):
    """The folder cannot be ingested as it is; the message says what to do."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file on this machine and the document it stands for."""

    location: Path
    source: str
    path: str
    """Below the source, `/` between its parts."""

    @property
    def document_id(self) -> str:
        """See `Document.document_id`. Bytes of the name that are not UTF-8 become `?`."""
        return f"{self.source}/{self.path}".encode("utf-8", "replace").decode()

    @property
    def has_sound_name(self) -> bool:
        """Whether the name is valid UTF-8: the system allows any bytes, a document's id does not."""
        return self.document_id == f"{self.source}/{self.path}"

    def sha256(self) -> str:
        """64 lower-case hexadecimal digits; empty when the file cannot be read. Reads all of it."""
        try:
            with self.location.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with a folder."""

    upload: tuple[LocalFile, ...]
    """New or with other bytes than those indexed."""
    unchanged: tuple[LocalFile, ...]
    vanished: tuple[str, ...]
    """Indexed documents of the folder's sources that are not on disk, by id."""


@dataclass(frozen=True, slots=True)
class Found:
    """What lies in a folder."""

    files: tuple[LocalFile, ...]
    """By document id."""
    left_out: tuple[Path, ...]
    """Links to what lies elsewhere."""


def scan(root: Path, source: str | None = None) -> Found:
    """All files below `root` but hidden ones, and links that lead out of it, which are not followed: whoever
    may write into the folder could have any file of this machine read.

    The source is the first folder below `root`; with `source` given, `root` itself is that source's folder.
    Raises `FolderError` when there is no file, or one that lies in no source folder.
    """
    files, left_out, inside = [], [], root.resolve()
    for location in sorted(root.rglob("*")):
        parts = location.relative_to(root).parts
        if any(part.startswith(".") for part in parts):
            continue
        if location.is_symlink() and not _stays(location, inside):
            left_out.append(location)
        if not location.is_file() or not _stays(location, inside):
            continue
        if source is not None:
            parts = (source, *parts)
        if len(parts) < 2:
            raise FolderError(
                f"{location}: move it into a folder named after its source, or name it: --source"
            )
        files.append(LocalFile(location, parts[0], "/".join(parts[1:])))
    if not files:
        links = "; links that lead out of it are not followed" if left_out else ""
        raise FolderError(f"{root}: no files; put documents (pdf, docx, html, md, txt) below it{links}")
    return Found(tuple(sorted(files, key=lambda file: file.document_id)), tuple(left_out))


def _stays(location: Path, inside: Path) -> bool:
    """Whether what a path leads to lies in a folder; a loop of links leads nowhere."""
    try:
        return location.resolve(strict=True).is_relative_to(inside)
    except (OSError, RuntimeError):
        return False


def compare(files: Iterable[LocalFile], hashes: Iterable[str], indexed: Mapping[str, str]) -> Plan:
    """Compare `files`, whose SHA-256 are `hashes`, with the SHA-256 of indexed documents by id."""
    upload: list[LocalFile] = []
    unchanged: list[LocalFile] = []
    found = set()
    for file, sha256 in zip(files, hashes, strict=True):
        found.add(file.document_id)
        (unchanged if indexed.get(file.document_id) == sha256 else upload).append(file)
    vanished = tuple(sorted(document_id for document_id in indexed if document_id not in found))
    return Plan(tuple(upload), tuple(unchanged), vanished)
