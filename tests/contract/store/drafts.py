"""Stores to be tested, and small documents to put into them."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from corpus.chunks import Chunk, ChunkId, ContextPart, TextDoubt, TextDoubtKind
from corpus.definitions import Definition
from corpus.documents import Document, DocumentId, Generation, Version
from corpus.profiles import DocumentProfile
from corpus.spans import PageSpan, SectionSpan, Span
from corpus.stems import stems_of
from services.retrieval.corpus import EmbeddedChunk, Vector
from services.retrieval.store.embedded.stores import EmbeddedStores
from services.retrieval.store.port import Committed, Store

DIMENSION = 96
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where files need no fsync, on systems that have it; what an fsync is good for is tested elsewhere."""


@asynccontextmanager
async def open_embedded() -> AsyncIterator[Store]:
    """An empty embedded store."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        stores = EmbeddedStores(Path(folder), "model", DIMENSION)
        try:
            yield await stores.for_tenant("default")
        finally:
            await stores.close()


def vector_of(text: str) -> Vector:
    """A unit vector that only this text has."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


@dataclass(frozen=True, slots=True)
class Draft:
    """A version of a document by its texts: one chunk each, with one window for each line of it."""

    document_id: str
    texts: Sequence[str] = ()
    generation: str = "g1"
    terms: Sequence[str] = ()
    headings: tuple[str, ...] = ()
    table_header: str = ""
    pages: int = 0
    unreadable_pages: tuple[int, ...] = ()
    hidden_characters: int = 0
    scanned_pages: tuple[int, ...] = ()
    reference_marks: int = 0
    running_lines: int = 0
    profile: DocumentProfile | None = None
    lead_in: str = ""
    doubtful: bool = False
    title: str = "Agreement"
    chunks: list[EmbeddedChunk] = field(init=False)
    definitions: list[Definition] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chunks", [self._chunk(*each) for each in enumerate(self.texts)])
        object.__setattr__(self, "definitions", [self._definition(*each) for each in enumerate(self.terms)])

    @property
    def version(self) -> Version:
        return Version(DocumentId(self.document_id), Generation(self.generation))

    @property
    def source(self) -> str:
        return self.document_id.split("/", maxsplit=1)[0]

    @property
    def document(self) -> Document:
        return Document(
            document_id=DocumentId(self.document_id),
            generation=Generation(self.generation),
            source=self.source,
            path=self.document_id.split("/", maxsplit=1)[1],
            title=self.title,
            format="text",
            content_sha256="a" * 64,
            size_bytes=7,
            page_count=self.pages,
            unreadable_pages=self.unreadable_pages,
            chunk_count=len(self.texts),
            definition_count=len(self.terms),
            hidden_characters=self.hidden_characters,
            scanned_pages=self.scanned_pages,
            reference_marks=self.reference_marks,
            running_lines=self.running_lines,
            profile=self.profile,
        )

    @property
    def ids(self) -> list[ChunkId]:
        return [embedded.chunk.chunk_id for embedded in self.chunks]

    def _chunk(self, ordinal: int, text: str) -> EmbeddedChunk:
        start = 1_000 * ordinal
        lines = text.split("\n")
        ends = [start + len("\n".join(lines[: number + 1])) for number in range(len(lines))]
        windows = tuple(Span(end - len(line), end) for line, end in zip(lines, ends, strict=True))
        chunk = Chunk(
            chunk_id=ChunkId(f"{self.document_id}#{self.generation}#{ordinal}"),
            alias=f"{self.document_id.replace('/', '__')}_{ordinal}",
            document_id=DocumentId(self.document_id),
            generation=Generation(self.generation),
            source=self.source,
            title=self.title,
            heading_chain=self.headings,
            section=self.headings[-1] if self.headings else f"Section {ordinal + 1} of {len(self.texts)}",
            text=text,
            word_count=len(text.split()),
            span=Span(start, start + len(text)),
            pages=(PageSpan(ordinal + 1, Span(start, start + len(text))),) if self.pages else (),
            table_header=self.table_header,
            content_sha256="b" * 64,
            is_definitions=bool(self.terms),
            ordinal=ordinal,
            sentences=windows,
            sections=(SectionSpan(self.headings, windows[0]),) if self.headings else (),
            context_before=self._context("before", windows[0]),
            context_after=self._context("after", windows[-1]),
            doubts=tuple(TextDoubt(windows[0], kind) for kind in TextDoubtKind) if self.doubtful else (),
        )
        vectors = np.stack([vector_of(line) for line in lines])
        return EmbeddedChunk(chunk, windows, vectors, tuple(stems_of(text)))

    def _context(self, place: str, governs: Span) -> tuple[ContextPart, ...]:
        if not self.lead_in:
            return ()
        text = f"{self.lead_in} {place}"
        span = Span(900_000, 900_000 + len(text))
        pages = (PageSpan(7, span), PageSpan(8, span)) if self.pages else ()
        return (ContextPart(span, text, governs, pages), ContextPart(span, text, governs, ()))

    def _definition(self, number: int, term: str) -> Definition:
        return Definition(
            definition_id=f"{self.document_id}#{self.generation}#definition{number}",
            document_id=DocumentId(self.document_id),
            generation=Generation(self.generation),
            term=term,
            text=f'"{term}" means something.',
            span=Span(10 * number, 10 * number + 9),
            pages=(),
            chunk_id=ChunkId(f"{self.document_id}#{self.generation}#0"),
            source=self.source,
            title=self.title,
            section="Definitions",
        )


async def put(store: Store, draft: Draft) -> Committed:
    """Stage and commit a whole version."""
    await store.put_chunks(draft.version, draft.chunks)
    if draft.definitions:
        await store.put_definitions(draft.version, draft.definitions)
    return await store.commit(draft.document)


def recently(moment: datetime | None) -> bool:
    """Whether something was stamped in the last minute."""
    return moment is not None and abs((datetime.now(UTC) - moment).total_seconds()) < 60
