"""Writes: a new version of a document arrives in parts and becomes visible in one step."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

from chassis.errors import InvalidInput, PermissionDenied
from corpus.chunks import Chunk, ChunkId, TextDoubtKind
from corpus.definitions import Definition
from corpus.documents import Document, DocumentId, Version, source_of
from inference.embedding.model import EmbeddingModel
from services.retrieval.corpus import Vector
from services.retrieval.profiles import check_profile
from services.retrieval.queries import DocumentNotFound
from services.retrieval.store.port import Committed, Store
from services.retrieval.windows import embed_chunks, window_vectors

MAX_BATCH = 200
MAX_CHUNKS = 20_000
"""Chunks of a live version whose vectors are looked at again: about 60 MB of them."""


@dataclass(frozen=True, slots=True)
class Header:
    """Names the version that follows."""

    version: Version


@dataclass(frozen=True, slots=True)
class ChunkBatch:
    """The next chunks."""

    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class DefinitionBatch:
    """The next definitions."""

    definitions: tuple[Definition, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """Ends the version."""

    document: Document


Part = Header | ChunkBatch | DefinitionBatch | Commit


@dataclass(frozen=True, slots=True)
class StoredChunks:
    """Chunks of the version that are embedded and on disk."""

    count: int


async def replace(
    store: Store, model: EmbeddingModel, parts: AsyncIterator[Part]
) -> AsyncGenerator[StoredChunks | Committed, None]:
    """Store the version that `parts` describe; yields progress and, last, the result of the flip.

    Chunks that an earlier, broken call stored are not embedded again if they are the same, nor are windows
    whose text stands in the live version. Of a version that is live already every chunk is stored anew, which
    mends what was damaged. Raises `InvalidInput` when the parts are not header, batches, commit;
    `IncompleteVersion` when another writer of the document got in between.
    """
    header = await anext(parts, None)
    if not isinstance(header, Header):
        raise InvalidInput("The first message must be the header.", field="header")
    arriving = Arriving(header.version, await _staged(store, header.version))
    known = await _live_vectors(store, header.version.document_id)
    async for part in parts:
        match part:
            case ChunkBatch():
                new = arriving.take_chunks(part.chunks)
                if new:
                    await store.put_chunks(header.version, await embed_chunks(model, new, known))
                yield StoredChunks(arriving.chunks)
            case DefinitionBatch():
                arriving.take_definitions(part.definitions)
                await store.put_definitions(header.version, part.definitions)
            case Commit():
                arriving.check(part.document)
                await _check_end(parts)
                yield await store.commit(part.document)
                return
            case Header():
                raise InvalidInput("The header must be sent once.", field="header")
    raise InvalidInput("The last message must be the commit.", field="commit")


async def _staged(store: Store, version: Version) -> dict[ChunkId, str]:
    """Digests of what need not be stored again."""
    try:
        staged = await store.staged(version)
    except PermissionDenied as error:
        error.field = "header.document_id"
        raise
    live = await store.document(version.document_id)
    return {} if live and live.version == version else dict(staged)


async def _live_vectors(store: Store, document_id: DocumentId) -> dict[str, Vector]:
    """Vectors of the live version, so that a new one costs only the windows that changed."""
    chunks = await store.chunks_of(document_id, None, MAX_CHUNKS)
    embedded = await store.embedded_chunks([chunk.chunk_id for chunk in chunks])
    return window_vectors(embedded.values())


async def remove(store: Store, document_id: DocumentId) -> str:
    """Remove a document with all that was made of it; the new revision. Raises `DocumentNotFound`."""
    revision = await store.remove(document_id)
    if revision is None:
        raise DocumentNotFound(f"The document is not indexed: {document_id}", field="document_id")
    return revision


@dataclass(slots=True)
class Arriving:
    """A version whose parts are being received."""

    version: Version
    stored: dict[ChunkId, str]
    """Digests of the chunks that need not be stored again."""
    chunks: int = 0
    definitions: int = 0

    def take_chunks(self, chunks: tuple[Chunk, ...]) -> list[Chunk]:
        """Count the chunks, which must follow on the last ones; those that are not stored yet."""
        _check_size(len(chunks), "chunks.chunks")
        for number, chunk in enumerate(chunks):
            at = f"chunks.chunks[{number}]"
            if chunk.version != self.version:
                raise InvalidInput("The chunk belongs to another version than the header names.", field=at)
            _check_source(chunk.source, self.version, f"{at}.source")
            if chunk.ordinal != self.chunks + number:
                raise InvalidInput("Chunks must be sent in document order.", field=f"{at}.ordinal")
            if len(chunk.text) != chunk.span.end - chunk.span.start or not chunk.text:
                raise InvalidInput("The text must have the length of its span.", field=f"{at}.span")
            if any(doubt.kind is TextDoubtKind.UNKNOWN for doubt in chunk.doubts):
                raise InvalidInput("Must be a kind of doubt.", field=f"{at}.doubts.kind")
        self.chunks += len(chunks)
        return [chunk for chunk in chunks if self.stored.get(chunk.chunk_id) != chunk.digest]

    def take_definitions(self, definitions: tuple[Definition, ...]) -> None:
        """Count the definitions."""
        _check_size(len(definitions), "definitions.definitions")
        for number, definition in enumerate(definitions):
            if definition.version != self.version:
                message = "The definition belongs to another version than the header names."
                raise InvalidInput(message, field=f"definitions.definitions[{number}]")
            _check_source(definition.source, self.version, f"definitions.definitions[{number}].source")
        self.definitions += len(definitions)

    def check(self, document: Document) -> None:
        """Whether what was received is what the document says."""
        if document.version != self.version:
            message = "The document is another version than the header names."
            raise InvalidInput(message, field="commit.document")
        _check_source(document.source, self.version, "commit.document.source")
        if document.profile:
            check_profile("commit.document.profile", document.profile)
        for name, said, received in (
            ("chunk_count", document.chunk_count, self.chunks),
            ("definition_count", document.definition_count, self.definitions),
        ):
            if said != received:
                message = f"Must be the {received:,} that were sent, not {said:,}."
                raise InvalidInput(message, field=f"commit.document.{name}")


def _check_source(source: str, version: Version, field_name: str) -> None:
    """What a credential may read is told by the source: it must not differ from that of the id."""
    if source != source_of(version.document_id):
        raise InvalidInput("Must be what the document's id begins with.", field=field_name)


def _check_size(size: int, field_name: str) -> None:
    if not 1 <= size <= MAX_BATCH:
        raise InvalidInput(f"A batch has 1 to {MAX_BATCH} entries.", field=field_name)


async def _check_end(parts: AsyncIterator[Part]) -> None:
    if await anext(parts, None) is not None:
        raise InvalidInput("Nothing may follow the commit.", field="commit")
