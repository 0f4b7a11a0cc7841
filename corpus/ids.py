"""Ids of chunks and definitions: what makes them is in them, so that no document can take another's.

Stores tell chunks apart by id alone. Could a writer choose it, it could replace what lies in a source that it
may not write to, or learn from a collision that it is there. Retrieval checks them for that.
"""

from __future__ import annotations

from uuid import UUID, uuid5

from corpus.chunks import ChunkId
from corpus.documents import Version
from corpus.spans import Span

CHUNKS = UUID("5d3c1c5e-6a53-4a0c-9b61-6b1f0b6f7f6e")
"""Namespace of chunk ids, see `clausegate.corpus.v1.Chunk.chunk_id`."""
DEFINITIONS = UUID("0f9d4a3e-7f5b-4c55-9a44-3a2c6c1d8a57")
"""Namespace of definition ids, see `clausegate.corpus.v1.Definition.definition_id`."""


def chunk_id_of(version: Version, ordinal: int) -> ChunkId:
    """The id of a chunk."""
    return ChunkId(str(uuid5(CHUNKS, f"{version.document_id}\n{version.generation}\n{ordinal}")))


def definition_id_of(version: Version, span: Span, term: str) -> str:
    """The id of a definition."""
    name = f"{version.document_id}\n{version.generation}\n{span.start}-{span.end}\n{term}"
    return str(uuid5(DEFINITIONS, name))
