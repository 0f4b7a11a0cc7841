"""Messages between the service and its child: four bytes of length, big-endian, then JSON.

JSON and not pickle: the child reads files that nobody trusts, and what it says must stay data.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from services.ingest.chunking import Chunk, ChunkLimits, Origin, PageSpan
from services.ingest.definitions import Definition
from services.ingest.documents import DocumentFormat, Span
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.reading import Job, Reading

LENGTH = struct.Struct(">I")
LARGEST_FRAME = 1 << 30
"""Bytes; a child that announces more is broken."""

Message = dict[str, Any]  # the edge: every message is turned into a dataclass below


def encode(message: Message) -> bytes:
    """A message as a frame."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return LENGTH.pack(len(body)) + body


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
        "origin": asdict(job.origin),
        "limits": asdict(job.limits),
        "chunk_limits": asdict(job.chunk_limits),
    }


def job_from_message(message: Message) -> Job:
    """The job as the child got it."""
    return Job(
        Path(message["file"]),
        Origin(**message["origin"]),
        ParsingLimits(**message["limits"]),
        ChunkLimits(**message["chunk_limits"]),
    )


def reading_to_message(reading: Reading) -> Message:
    """A reading on its way to the service."""
    return asdict(reading)


def reading_from_message(message: Message) -> Reading:
    """The reading as the service got it; raises `KeyError`, `TypeError` or `ValueError` when it is none."""
    return Reading(
        format=DocumentFormat(message["format"]),
        title=message["title"],
        page_count=message["page_count"],
        unreadable_pages=tuple(message["unreadable_pages"]),
        chunks=tuple(_chunk(chunk) for chunk in message["chunks"]),
        definitions=tuple(_definition(definition) for definition in message["definitions"]),
    )


def _chunk(message: Message) -> Chunk:
    return Chunk(
        **message
        | {
            "heading_chain": tuple(message["heading_chain"]),
            "span": Span(**message["span"]),
            "pages": _pages(message["pages"]),
            "sentences": tuple(Span(**sentence) for sentence in message["sentences"]),
        }
    )


def _definition(message: Message) -> Definition:
    return Definition(**message | {"span": Span(**message["span"]), "pages": _pages(message["pages"])})


def _pages(pages: list[Message]) -> tuple[PageSpan, ...]:
    return tuple(PageSpan(page["page"], Span(**page["span"])) for page in pages)
