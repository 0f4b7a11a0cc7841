"""Digests of what the index holds: ingest writes them, and retrieval checks them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from google.protobuf.message import Message

from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.corpus.v1.definition_pb2 import Definition
from clausegate.corpus.v1.document_pb2 import Document

Digested = Chunk | Definition | Document
NOT_DIGESTED = ("digest", "indexed_at", "html")
"""The digest itself, and what is set when a message leaves the index."""


def digest_of(message: Digested) -> str:
    """SHA-256 of a message, 64 lower-case hexadecimal digits.

    Every field counts but `NOT_DIGESTED`, those of later releases too: what is hashed is the serialised
    message, its fields in the order of their numbers, those that have their default value left out.
    """
    bare: Message = type(message)()
    bare.CopyFrom(message)
    for name in NOT_DIGESTED:
        if name in bare.DESCRIPTOR.fields_by_name:
            bare.ClearField(name)
    return hashlib.sha256(bare.SerializeToString(deterministic=True)).hexdigest()


def contents_digest(digests: Iterable[str]) -> str:
    """One digest for those of all chunks and definitions of a version, in any order."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()
