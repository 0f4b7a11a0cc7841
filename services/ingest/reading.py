"""From a file to what the index is to hold of it: parse, cut, find definitions, make the card.

Runs in the child process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb

from corpus.chunks import Chunk
from corpus.definitions import Definition
from corpus.documents import DocumentFormat
from corpus.profiles import DocumentProfile
from services.ingest import chunking, definitions
from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.documents import ExtractedDocument
from services.ingest.errors import DocumentEmpty
from services.ingest.parsing.formats import format_of, parse
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.profile import profile_of

Progress = Callable[[str, int, int], None]
"""Called with the stage (`parsing` or `chunking`), units done and units in all (0 while not known)."""
ProfileOf = Callable[[ExtractedDocument, str], DocumentProfile]


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read."""

    file: Path
    origin: Origin
    limits: ParsingLimits
    chunk_limits: ChunkLimits


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a file."""

    format: DocumentFormat
    title: str
    page_count: int
    unreadable_pages: tuple[int, ...]
    scanned_pages: tuple[int, ...]
    hidden_characters: int
    reference_marks: int
    running_lines: int
    guessed_encoding: str
    """See `ExtractedDocument`."""
    chunks: tuple[Chunk, ...]
    definitions: tuple[Definition, ...]
    profile: DocumentProfile | None = None
    profile_failure: str = ""
    """Which rule failed where there is no card; nothing of the document stands in it."""


def read(job: Job, progress: Progress, make_profile: ProfileOf = profile_of) -> Reading:
    """Read a file; raises the errors of `READING_ERRORS`."""
    document = parse(
        job.file,
        format_of(job.origin.file_name),
        job.limits,
        lambda done, total: progress("parsing", done, total),
    )
    progress("chunking", 0, 0)
    chunks = chunking.cut(document, job.origin, job.chunk_limits)
    if not chunks:
        raise DocumentEmpty("The file holds no words.", field="path")
    found = definitions.find(document, chunks, job.origin)
    profile, failure = _profile(document, job.origin.path, make_profile)
    progress("chunking", len(chunks), len(chunks))
    return Reading(
        format=document.format,
        title=chunking.title_of(document, job.origin.path),
        page_count=len(document.pages),
        unreadable_pages=document.unreadable_pages,
        scanned_pages=document.scanned_pages,
        hidden_characters=document.hidden_characters,
        reference_marks=document.reference_marks,
        running_lines=document.running_lines,
        guessed_encoding=document.guessed_encoding,
        chunks=chunks,
        definitions=found,
        profile=profile,
        profile_failure=failure,
    )


def _profile(
    document: ExtractedDocument, path: str, make_profile: ProfileOf
) -> tuple[DocumentProfile | None, str]:
    """The card of a document, or why there is none."""
    try:
        return make_profile(document, path), ""
    except Exception as error:  # noqa: BLE001 - whatever its rules trip over, the document can still be cited
        last = extract_tb(error.__traceback__)[-1]
        return None, f"{type(error).__name__} in {last.name}, line {last.lineno}"
