"""How large what is sent may be: texts, lists, names, heads, and bytes that come in pieces."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

from chassis.errors import InvalidInput

MAX_NAMES = 100
"""Sources or documents that one request names."""
MAX_NAME_BYTES = 1_024
"""The longest document id there is. An error that repeats a longer name would not fit into the metadata that
carries it, and its caller would be told to try again."""
METADATA_ENTRY_BYTES = 32
"""What an entry of metadata counts beside its key and value (RFC 9113, 6.5.2)."""


def holds_controls(text: str) -> bool:
    """Whether a text has control characters but line breaks and tabs, or halves of surrogate pairs."""
    return any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\r\t" for c in text)


def check_text(field: str, text: str, at_most: int | None = None, *, required: bool = True) -> None:
    """Raise `InvalidInput` unless a text has at most so many characters, none of them a control but line
    breaks and tabs; `required`: and more than white space.
    """
    if required and not text.strip():
        raise InvalidInput("Must not be empty.", field=field)
    if at_most is not None and len(text) > at_most:
        raise InvalidInput(f"Must not be longer than {at_most:,} characters.", field=field)
    if holds_controls(text):
        raise InvalidInput("Must not hold control characters.", field=field)


def check_count(field: str, values: Sequence[object], at_most: int) -> None:
    """Raise `InvalidInput` for a list that is longer than may be."""
    if len(values) > at_most:
        raise InvalidInput(f"At most {at_most:,} may be given.", field=field)


def check_names(field: str, names: Sequence[str], limit: int = MAX_NAMES) -> None:
    """Raise `InvalidInput` unless names could exist, and are at most `limit`."""
    check_count(field, names, limit)
    for number, name in enumerate(names):
        if not 0 < len(name.encode()) <= MAX_NAME_BYTES:
            raise InvalidInput(f"Must have 1 to {MAX_NAME_BYTES:,} bytes.", field=f"{field}[{number}]")


def metadata_bytes(metadata: Sequence[tuple[str, str | bytes]] | None) -> int:
    """The size of a call's metadata, as HTTP/2 counts it."""
    return sum(len(key) + len(value) + METADATA_ENTRY_BYTES for key, value in metadata or ())


async def at_most(pieces: AsyncIterator[bytes], limit: int, error: Exception) -> AsyncGenerator[bytes]:
    """The pieces as they come; `error` is raised when more than `limit` bytes have come."""
    received = 0
    async for data in pieces:
        received += len(data)
        if received > limit:
            raise error
        yield data
