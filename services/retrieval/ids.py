"""Ids of chunks and definitions: what makes them is in them, so that no document can take another's.

Stores tell chunks apart by id alone. Could a writer choose it, it could replace what lies in a source that it
may not write to, or learn from a collision that it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid5

from chassis.errors import InvalidInput
from corpus.chunks import Chunk, ChunkId
from corpus.definitions import Definition
from corpus.documents import Version
from corpus.spans import Span

CHUNKS = UUID("5d3c1c5e-6a53-4a0c-9b61-6b1f0b6f7f6e")
"""Namespace of chunk ids, see `clausegate.corpus.v1.Chunk.chunk_id`."""
DEFINITIONS = UUID("0f9d4a3e-7f5b-4c55-9a44-3a2c6c1d8a57")
"""Namespace of definition ids, see `clausegate.corpus.v1.Definition.definition_id`."""

FOREIGN_ID = "Must be the id that its document, generation and place make."


def chunk_id_of(version: Version, ordinal: int) -> ChunkId:
    """The id of a chunk."""
    return ChunkId(str(uuid5(CHUNKS, f"{version.document_id}\n{version.generation}\n{ordinal}")))


def definition_id_of(version: Version, span: Span, term: str) -> str:
    """The id of a definition."""
    name = f"{version.document_id}\n{version.generation}\n{span.start}-{span.end}\n{term}"
    return str(uuid5(DEFINITIONS, name))


def check_chunk_ids(chunks: Sequence[Chunk]) -> None:
    """Raise `InvalidInput` for the first of a batch that has another id."""
    for number, chunk in enumerate(chunks):
        if chunk.chunk_id != chunk_id_of(chunk.version, chunk.ordinal):
            raise InvalidInput(FOREIGN_ID, field=f"chunks.chunks[{number}].chunk_id")


def check_definition_ids(definitions: Sequence[Definition]) -> None:
    """Raise `InvalidInput` for the first of a batch that has another id."""
    for number, each in enumerate(definitions):
        if each.definition_id != definition_id_of(each.version, each.span, each.term):
            raise InvalidInput(FOREIGN_ID, field=f"definitions.definitions[{number}].definition_id")
