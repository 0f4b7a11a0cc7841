"""What leaves the index is what ingest put there: every chunk, definition and document is checked.

The digest is of the whole message, so that a new field cannot be forgotten. Whoever may write the index's
files may write digests as well: this finds what was damaged, or changed by who does not know of them.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncIterator, Sequence

from chassis.errors import DataLoss, InvalidInput
from clausegate.corpus.v1 import chunk_pb2, definition_pb2, document_pb2
from clausegate.digests import Digested, contents_digest, digest_of
from corpus.chunks import Chunk
from corpus.codec import to_message
from corpus.definitions import Definition
from corpus.documents import Document, DocumentId
from services.retrieval.corpus import Scope
from services.retrieval.store.port import Store

CHUNKS_AT_ONCE = 200
logger = logging.getLogger(__name__)


class IndexDamaged(DataLoss):
    """The index holds something else of a document than was indexed."""

    reason = "INDEX_DAMAGED"

    def __init__(self, document_id: DocumentId) -> None:
        super().__init__(
            f"The index does not hold {document_id} as it was indexed. Run `clausegate reindex --originals`, "
            "or ingest the document again."
        )


def chunk_to_wire(chunk: Chunk) -> chunk_pb2.Chunk:
    """A chunk as callers see it. Raises `IndexDamaged`."""
    message = to_message(chunk, chunk_pb2.Chunk)
    if not _is_chunk(message):
        _damaged(chunk.document_id, chunk=chunk.chunk_id)
    return message


def definition_to_wire(definition: Definition) -> definition_pb2.Definition:
    """A definition as callers see it. Raises `IndexDamaged`."""
    message = to_message(definition, definition_pb2.Definition)
    if not _is_as_written(message):
        _damaged(definition.document_id, definition=definition.definition_id)
    return message


def document_to_wire(document: Document) -> document_pb2.Document:
    """A document as callers see it. Raises `IndexDamaged`."""
    message = to_message(document, document_pb2.Document)
    if not _is_as_written(message):
        _damaged(document.document_id)
    return message


def _damaged(document_id: DocumentId, **part: str) -> None:
    logger.error("the index is damaged", extra={"document": document_id, **part})
    raise IndexDamaged(document_id)


def _is_chunk(message: chunk_pb2.Chunk) -> bool:
    """Of chunks that earlier releases indexed the text alone can be checked."""
    if message.digest:
        return _is_as_written(message)
    return _has_its_text(message)


def _has_its_text(message: chunk_pb2.Chunk) -> bool:
    return hashlib.sha256(message.text.encode()).hexdigest() == message.content_sha256


def _is_as_written(message: Digested) -> bool:
    return not message.digest or digest_of(message) == message.digest


async def is_intact(store: Store, document: Document) -> bool:
    """Whether a live document is there with all its chunks and definitions, each as it was indexed."""
    parts = [part async for part in _parts(store, document)]
    if not all(
        _is_chunk(part) if isinstance(part, chunk_pb2.Chunk) else _is_as_written(part) for part in parts
    ):
        return False
    if len(parts) != document.chunk_count + document.definition_count:
        return False
    recorded = document.contents_sha256
    whole = not recorded or contents_digest(part.digest for part in parts) == recorded
    return whole and _is_as_written(to_message(document, document_pb2.Document))


async def _parts(
    store: Store, document: Document
) -> AsyncIterator[chunk_pb2.Chunk | definition_pb2.Definition]:
    document_id, after = document.document_id, None
    while page := await store.chunks_of(document_id, after, CHUNKS_AT_ONCE):
        for chunk in page:
            yield to_message(chunk, chunk_pb2.Chunk)
        after = page[-1].ordinal
    scope = Scope(document_ids=(document_id,))
    for definition in await store.definitions(await store.defined_terms(scope), scope):
        yield to_message(definition, definition_pb2.Definition)


class Arrived:
    """Checks what ingest sends of a version, message by message, against the digests that it sends."""

    def __init__(self) -> None:
        self._digests: list[str] = []

    def check_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Raise `InvalidInput` for the first chunk whose text or digest is not what it says."""
        for number, chunk in enumerate(chunks):
            message, at = to_message(chunk, chunk_pb2.Chunk), f"chunks.chunks[{number}]"
            if not _has_its_text(message):
                raise InvalidInput("Must be the SHA-256 of the text.", field=f"{at}.content_sha256")
            _check_digest(message, f"{at}.digest")
        self._digests += [chunk.digest for chunk in chunks]

    def check_definitions(self, definitions: Sequence[Definition]) -> None:
        """Raise `InvalidInput` for the first whose digest is not its own."""
        for number, definition in enumerate(definitions):
            _check_digest(
                to_message(definition, definition_pb2.Definition), f"definitions.definitions[{number}].digest"
            )
        self._digests += [definition.digest for definition in definitions]

    def check_document(self, document: Document) -> None:
        """Raise `InvalidInput` unless it is the document of all that was checked before."""
        _check_digest(to_message(document, document_pb2.Document), "commit.document.digest")
        if document.contents_sha256 != contents_digest(self._digests):
            message = "Must be the digest of the chunks and definitions that were sent."
            raise InvalidInput(message, field="commit.document.contents_sha256")


def _check_digest(message: Digested, field: str) -> None:
    if digest_of(message) != message.digest:
        raise InvalidInput("Must be the digest of the message; another release makes others.", field=field)
