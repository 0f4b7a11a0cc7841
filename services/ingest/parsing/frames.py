"""Messages between the service and its child: four bytes of length, big-endian, then JSON.

JSON and not pickle: the child reads files that nobody trusts, and what it says must stay data.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from corpus.chunks import Chunk, ContextPart, TextDoubt, TextDoubtKind
from corpus.definitions import Definition
from corpus.documents import DocumentFormat
from corpus.plain import from_plain
from corpus.profiles import DocumentProfile
from corpus.spans import PageSpan, SectionSpan, Span
from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.pictures import Drawing, Look, Picture
from services.ingest.reading import Job, Reading

LENGTH = struct.Struct(">I")
LARGEST_FRAME = 256 << 20
"""Bytes; a child that announces more is broken."""
BATCH = 200
"""Chunks or definitions a message: neither side ever holds a whole document twice."""
Item = TypeVar("Item")

Message = dict[str, Any]  # the edge: every message is turned into a dataclass below


def encode(message: Message) -> bytes:
    """A message as a frame."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), default=_fields)
    body = text.encode("utf-8", "replace")
    return LENGTH.pack(len(body)) + body


def _fields(value: Any) -> Message | str:
    """Bytes as text; the fields of a slotted dataclass, for which `asdict` takes three times as long."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return {name: getattr(value, name) for name in value.__slots__}


def read_frame(stream: IO[bytes]) -> Message | None:
    """The next message of a blocking stream; None at its end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    message: Message = json.loads(stream.read(LENGTH.unpack(head)[0]))
    return message


def job_to_message(job: Job) -> Message:
    """A job on its way to the child."""
    return {
        "file": str(job.file),
        "origin": job.origin,
        "limits": job.limits,
        "chunk_limits": job.chunk_limits,
    }


def job_from_message(message: Message) -> Job:
    """The job as the child got it."""
    return Job(
        Path(message["file"]),
        Origin(**message["origin"]),
        ParsingLimits(**message["limits"]),
        ChunkLimits(**message["chunk_limits"]),
    )


def drawing_to_message(drawing: Drawing) -> Message:
    """A page to draw on its way to the child."""
    return {"drawing": {"file": str(drawing.file), "look": drawing.look}}


def drawing_from_message(message: Message) -> Drawing:
    """The page to draw as the child got it."""
    look = message["drawing"]["look"]
    marks = tuple((left, top, right, bottom) for left, top, right, bottom in look["marks"])
    return Drawing(Path(message["drawing"]["file"]), Look(look["page"], look["width"], marks))


def picture_from_message(message: Message) -> Picture:
    """The picture; raises what a malformed message makes it raise."""
    picture = message["picture"]
    return Picture(**picture | {"png": base64.b64decode(picture["png"], validate=True)})


def reading_to_messages(reading: Reading) -> Iterator[Message]:
    """A reading on its way to the service: its chunks and definitions in batches, then the rest."""
    for chunks in _batches(reading.chunks):
        yield {"chunks": chunks}
    for definitions in _batches(reading.definitions):
        yield {"definitions": definitions}
    yield {
        "reading": {
            "format": reading.format,
            "title": reading.title,
            "page_count": reading.page_count,
            "unreadable_pages": reading.unreadable_pages,
            "scanned_pages": reading.scanned_pages,
            "hidden_characters": reading.hidden_characters,
            "reference_marks": reading.reference_marks,
            "running_lines": reading.running_lines,
            "guessed_encoding": reading.guessed_encoding,
            "profile": reading.profile,
            "profile_failure": reading.profile_failure,
        }
    }


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


class ReadingAssembler:
    """Puts a reading together again; its methods raise what a malformed message makes them raise."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        self._definitions: list[Definition] = []

    def take(self, message: Message) -> Reading | None:
        """Take the next message; the reading, once it is complete."""
        self._chunks += map(_chunk, message.get("chunks", ()))
        self._definitions += map(_definition, message.get("definitions", ()))
        if "reading" not in message:
            return None
        rest = message["reading"]
        return Reading(
            format=DocumentFormat(rest["format"]),
            title=rest["title"],
            page_count=rest["page_count"],
            unreadable_pages=tuple(rest["unreadable_pages"]),
            scanned_pages=tuple(rest["scanned_pages"]),
            hidden_characters=rest["hidden_characters"],
            reference_marks=rest["reference_marks"],
            running_lines=rest["running_lines"],
            guessed_encoding=rest["guessed_encoding"],
            profile=from_plain(rest["profile"], DocumentProfile) if rest["profile"] else None,
            profile_failure=rest["profile_failure"],
            chunks=tuple(self._chunks),
            definitions=tuple(self._definitions),
        )


def _chunk(message: Message) -> Chunk:
    return Chunk(
        **message
        | {
            "heading_chain": tuple(message["heading_chain"]),
            "span": Span(**message["span"]),
            "pages": _pages(message["pages"]),
            "sentences": tuple(Span(**sentence) for sentence in message["sentences"]),
            "sections": tuple(
                SectionSpan(tuple(section["heading_chain"]), Span(**section["span"]))
                for section in message["sections"]
            ),
            "context_before": tuple(map(_context, message["context_before"])),
            "context_after": tuple(map(_context, message["context_after"])),
            "layout": base64.b64decode(message["layout"], validate=True),
            "doubts": tuple(
                TextDoubt(Span(**doubt["span"]), TextDoubtKind(doubt["kind"])) for doubt in message["doubts"]
            ),
        }
    )


def _context(message: Message) -> ContextPart:
    return ContextPart(
        Span(**message["span"]), message["text"], Span(**message["governs"]), _pages(message["pages"])
    )


def _definition(message: Message) -> Definition:
    return Definition(**message | {"span": Span(**message["span"]), "pages": _pages(message["pages"])})


def _pages(pages: list[Message]) -> tuple[PageSpan, ...]:
    return tuple(PageSpan(page["page"], Span(**page["span"])) for page in pages)
