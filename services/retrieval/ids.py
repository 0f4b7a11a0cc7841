"""Raises for chunks and definitions with the id of another: see `corpus.ids`."""

from __future__ import annotations

from collections.abc import Sequence

from chassis.errors import InvalidInput
from corpus.chunks import Chunk
from corpus.definitions import Definition
from corpus.ids import chunk_id_of, definition_id_of

FOREIGN_ID = "Must be the id that its document, generation and place make."


def check_chunk_ids(chunks: Sequence[Chunk]) -> None:
    """Raise `InvalidInput` for the first of a batch that has another id."""
    for number, chunk in enumerate(chunks):
        if chunk.chunk_id != chunk_id_of(chunk.version, chunk.ordinal):
            raise InvalidInput(FOREIGN_ID, field=f"chunks.chunks[{number}].chunk_id")


def check_definition_ids(definitions: Sequence[Definition]) -> None:
    """Raise `InvalidInput` for the first of a batch that has another id."""
    for number, definition in enumerate(definitions):
        if definition.definition_id != definition_id_of(definition.version, definition.span, definition.term):
            raise InvalidInput(FOREIGN_ID, field=f"definitions.definitions[{number}].definition_id")
