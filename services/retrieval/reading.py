"""Reads of the index other than search: documents, sources, chunks, and how often terms stand in them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from chassis.errors import Conflict, NotFound
from corpus.chunks import Chunk, ChunkId
from corpus.documents import Document, DocumentId
from corpus.stems import stems_of
from services.retrieval.corpus import Scope
from services.retrieval.paging import Page, page_of, page_position
from services.retrieval.queries import DocumentNotFound, check_scope
from services.retrieval.store.port import Coverage, SourceCounts, Store

MAX_PAGE_BYTES = 2 * 2**20
"""Size of the texts on a page of chunks, which repeat their headings, or of documents, which have cards: with
all else it is half a message."""
Item = TypeVar("Item", Chunk, Document)


class ChunkNotFound(NotFound):
    """No live chunk has this id."""

    reason = "CHUNK_NOT_FOUND"


class VersionReplaced(Conflict):
    """The document version that is being read is no longer live; beginning again is safe."""

    reason = "DOCUMENT_CONFLICT"


@dataclass(frozen=True, slots=True)
class TermCounts:
    """In how many live chunks each term stands, and what was searched."""

    chunks: tuple[int, ...]
    coverage: Coverage
    revision: str


@dataclass(frozen=True, slots=True)
class ReadChunks:
    """Live chunks, and what they are of."""

    chunks: tuple[Chunk, ...]
    documents: tuple[Document, ...]
    """Each once, by id."""
    revision: str


async def read_chunks(store: Store, chunk_ids: Sequence[ChunkId]) -> ReadChunks:
    """Live chunks in the order asked, with their documents. Raises `ChunkNotFound` for the first missing."""
    revision = await store.revision()
    found = await store.chunks(chunk_ids)
    for number, chunk_id in enumerate(chunk_ids):
        if chunk_id not in found:
            raise ChunkNotFound(f"No live chunk has this id: {chunk_id}", field=f"chunk_ids[{number}]")
    document_ids = tuple(dict.fromkeys(chunk.document_id for chunk in found.values()))
    documents = await store.documents(Scope(document_ids=document_ids), None, len(document_ids))
    return ReadChunks(tuple(found[chunk_id] for chunk_id in chunk_ids), tuple(documents), revision)


async def read_document(store: Store, document_id: DocumentId) -> Document:
    """The live version. Raises `DocumentNotFound`."""
    document = await store.document(document_id)
    if document is None:
        raise DocumentNotFound(f"The document is not indexed: {document_id}", field="document_id")
    return document


async def list_chunks(store: Store, document_id: DocumentId, size: int, token: str) -> Page[Chunk]:
    """A page of a document's chunks in order: at most `size`, and fewer where these are very large.

    Raises `DocumentNotFound`, `VersionReplaced` when the earlier pages are of another version, and
    `InvalidInput` for a foreign token.
    """
    generation, _, after = page_position(token, "chunks", document_id).rpartition(" ")
    chunks = await store.chunks_of(document_id, int(after) if after else None, size + 1)
    if not chunks:
        await read_document(store, document_id)
    # A token is given only where more follows: no chunks after it are another version too.
    if token and (not chunks or chunks[0].generation != generation):
        raise VersionReplaced(f"The document was replaced meanwhile: {document_id}", field="page_token")
    return page_of(chunks, _fitting(chunks[:size], _parts), _position, "chunks", document_id)


def _position(chunk: Chunk) -> str:
    return f"{chunk.generation} {chunk.ordinal}"


def _fitting(items: Sequence[Item], parts_of: Callable[[Item], Iterable[bytes]]) -> int:
    """How many of the first ones stay within `MAX_PAGE_BYTES`, at least one."""
    sizes = accumulate(sum(map(len, parts_of(item))) for item in items)
    return max(1, sum(size <= MAX_PAGE_BYTES for size in sizes))


def _parts(chunk: Chunk) -> Iterator[bytes]:
    yield from map(str.encode, _texts(chunk))
    yield chunk.layout


def _texts(chunk: Chunk) -> Iterator[str]:
    yield from (chunk.text, chunk.title, chunk.section, chunk.table_header, *chunk.heading_chain)
    for section in chunk.sections:
        yield from section.heading_chain
    for part in (*chunk.context_before, *chunk.context_after):
        yield part.text


def _parts_of_document(document: Document) -> Iterator[bytes]:
    yield from map(str.encode, (document.document_id, document.path, document.title))
    for party in document.profile.parties if document.profile else ():
        yield party.name.encode()
        yield from (other.text.encode() for other in party.other_names)


async def list_documents(store: Store, scope: Scope, size: int, token: str) -> Page[Document]:
    """A page of live documents by id: at most `size`, and fewer where their cards are very large.

    Raises `SourceNotFound`, and `InvalidInput` for a foreign token.
    """
    await check_scope(store, scope)
    after = page_position(token, "documents", scope)
    documents = await store.documents(scope, DocumentId(after) or None, size + 1)
    fitting = _fitting(documents[:size], _parts_of_document)
    return page_of(documents, fitting, lambda document: document.document_id, "documents", scope)


async def list_sources(store: Store, size: int, token: str) -> Page[SourceCounts]:
    """A page of sources by name. Raises `InvalidInput` for a foreign token."""
    after = page_position(token, "sources")
    sources = [source for source in await store.sources() if source.source > after]
    return page_of(sources, size, lambda source: source.source, "sources")


async def count_terms(store: Store, terms: Sequence[str], scope: Scope) -> TermCounts:
    """In how many live chunks each term stands, with all its words in any inflection."""
    await check_scope(store, scope)
    revision = await store.revision()
    counts = await asyncio.gather(*(_count(store, stems_of(term), scope) for term in terms))
    return TermCounts(tuple(counts), await store.coverage(scope), revision)


async def _count(store: Store, words: Sequence[str], scope: Scope) -> int:
    return await store.count_term(words, scope) if words else 0
