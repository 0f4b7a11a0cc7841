"""What lies in a folder to ingest, and how that differs from what is indexed."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from cli.errors import CommandError

LEFT_BEHIND = ("thumbs.db", "ehthumbs.db", "desktop.ini", "~$*", "*~", "*.tmp", "*.part", "*.crdownload")
LEFT_BEHIND_FOLDERS = ("__macosx", "$recycle.bin", "system volume information")
"""What systems and programs leave in folders, beside what begins with a dot; in any case of letters."""
LONGEST_SOURCE = 64


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
    renamed: Mapping[str, str]
    """Sources that are not called what their folder is, by the folder's name."""


def scan(root: Path, source: str | None = None) -> Found:
    """All files below `root` but hidden ones, those that systems leave behind, and links that lead out of it,
    which are not followed: whoever may write into the folder could have any file of this machine read.

    The source of a file is the first folder below `root`; where a file lies in none, or `source` is given,
    `root` itself is the one source's folder. Its name is made safe. Raises `FolderError` when there is no
    file, or when two folders would become one source.
    """
    inside = root.resolve()
    shown = [location for location in sorted(root.rglob("*")) if _is_shown(location.relative_to(root).parts)]
    left_out = tuple(each for each in shown if each.is_symlink() and not _stays(each, inside))
    locations = [location for location in shown if location.is_file() and _stays(location, inside)]
    if not locations:
        links = "; links that lead out of it are not followed" if left_out else ""
        raise FolderError(f"{root}: no files; put documents (pdf, docx, html, md, txt) below it{links}")
    if source is None and any(location.parent == root for location in locations):
        source = safe_source(inside.name)
        renamed = {inside.name: source}
    else:
        renamed = {} if source else _sources(location.relative_to(root).parts[0] for location in locations)
    files = sorted(_files(root, locations, source, renamed), key=lambda file: file.document_id)
    return Found(tuple(files), left_out, {name: safe for name, safe in renamed.items() if name != safe})


def _files(
    root: Path, locations: Iterable[Path], source: str | None, sources: Mapping[str, str]
) -> Iterator[LocalFile]:
    for location in locations:
        first, *rest = location.relative_to(root).parts
        path = [first, *rest] if source else rest
        yield LocalFile(location, source or sources[first], "/".join(path))


def _sources(folders: Iterable[str]) -> dict[str, str]:
    """The source of each folder. Raises `FolderError` when two would be one."""
    sources: dict[str, str] = {}
    for folder in dict.fromkeys(folders):
        safe = safe_source(folder)
        if other := next((name for name, taken in sources.items() if taken == safe), None):
            raise FolderError(
                f"the folders `{other}` and `{folder}` would both be the source `{safe}`: rename one of them"
            )
        sources[folder] = safe
    return sources


def safe_source(name: str) -> str:
    """A folder's name as a source: lower-case letters of ASCII, digits, `.`, `_` and `-`, at most 64."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9._]+", "-", plain).strip("._-")[:LONGEST_SOURCE].rstrip("._-") or "documents"


def _is_shown(parts: tuple[str, ...]) -> bool:
    """Whether a person would say that the file is there."""
    *folders, name = (part.lower() for part in parts)
    if any(part.startswith(".") for part in parts) or not set(LEFT_BEHIND_FOLDERS).isdisjoint(folders):
        return False
    return not any(fnmatchcase(name, pattern) for pattern in LEFT_BEHIND)


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
