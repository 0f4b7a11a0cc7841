"""The law that every file obeys, however hostile: it becomes sound chunks, or one typed error."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from services.ingest import definitions
from services.ingest.chunking import ChunkLimits, Origin, cut
from services.ingest.documents import ExtractedDocument
from services.ingest.errors import READING_ERRORS, DocumentError
from services.ingest.parsing.formats import format_of, parse
from services.ingest.parsing.frames import ReadingAssembler, encode, reading_to_messages
from services.ingest.parsing.invisible import is_readable
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.reading import Job, read

LIMITS = ParsingLimits(max_pages=50, max_characters=2_000_000, max_unpacked_bytes=20_000_000)
CHUNKS = ChunkLimits()


def read_lawfully(path: Path) -> str:
    """Read a file as the service's child does; the reason of its error, or `read`. Fails on a broken law."""
    origin = Origin(f"cme/{path.name}", "cme", path.name, "g1", path.name)
    try:
        reading = read(Job(path, origin, LIMITS, CHUNKS), lambda stage, done, total: None)
    except DocumentError as error:
        return _lawful(error)
    document = parse(path, format_of(path.name), LIMITS, lambda done, total: None)
    check_text(document)
    check_chunks(document, origin)
    check_frames(reading)
    return "read"


def _lawful(error: DocumentError) -> str:
    assert READING_ERRORS[error.reason] is type(error)
    assert error.message
    return error.reason


def check_text(document: ExtractedDocument) -> None:
    """Blocks in order that cover the text, pages that tile it, and nothing in it that nobody sees."""
    text = document.text
    position = 0
    for block in document.blocks:
        assert block.span.start >= position
        assert not text[position : block.span.start].strip()
        words = text[block.span.start : block.span.end]
        assert words
        assert words == words.strip()
        position = block.span.end
    assert not text[position:].strip()
    assert all(above.span.end == below.span.start for above, below in pairwise(document.pages))
    assert not document.pages or document.pages[-1].span.end == len(text)
    assert is_readable(text)
    assert document.hidden_characters >= 0


def check_chunks(document: ExtractedDocument, origin: Origin) -> None:
    """The laws of chunks, and that definitions stand in them."""
    text = document.text
    chunks = cut(document, origin, CHUNKS)
    position = 0
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.text == text[chunk.span.start : chunk.span.end]
        assert 0 < chunk.word_count <= CHUNKS.max_words
        assert chunk.span == type(chunk.span)(chunk.sentences[0].start, chunk.sentences[-1].end)
        for sentence in chunk.sentences:
            assert not text[position : sentence.start].strip()
            position = max(position, sentence.end)
    assert not text[position:].strip()
    known = {chunk.chunk_id for chunk in chunks}
    for definition in definitions.find(document, chunks, origin):
        assert definition.text == text[definition.span.start : definition.span.end]
        assert definition.chunk_id in known


def check_frames(reading) -> None:  # type: ignore[no-untyped-def]
    """What the child says arrives in the service as it was."""
    assembler = ReadingAssembler()
    again = None
    for message in reading_to_messages(reading):
        again = assembler.take(json.loads(encode(message)[4:]))
    assert again == reading
