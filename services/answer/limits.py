"""Checks that every task makes of what its caller sends. Errors are `InvalidInput` and name the field."""

from __future__ import annotations

from collections.abc import Sequence

from chassis.errors import InvalidInput
from services.answer.legible import holds_controls

MAX_SCOPE = 100
MAX_SCOPE_BYTES = 1_024
"""The longest document id there is."""


def check_text(field: str, text: str, at_most: int, *, required: bool) -> None:
    """Raise unless a text has at most so many characters, none of them a control but line breaks and tabs.

    `required`: and more than white space.
    """
    if required and not text.strip():
        raise InvalidInput("Must not be empty.", field=field)
    if len(text) > at_most:
        raise InvalidInput(f"Must not be longer than {at_most:,} characters.", field=field)
    if holds_controls(text):
        raise InvalidInput("Must not hold control characters.", field=field)


def check_scope(sources: Sequence[str], document_ids: Sequence[str]) -> None:
    """Raise unless sources and documents could exist, and are not too many."""
    for field, names in (("sources", sources), ("document_ids", document_ids)):
        if len(names) > MAX_SCOPE:
            raise InvalidInput(f"At most {MAX_SCOPE} may be given.", field=field)
        for i, name in enumerate(names):
            if not name or len(name.encode()) > MAX_SCOPE_BYTES:
                raise InvalidInput(f"Must have 1 to {MAX_SCOPE_BYTES:,} bytes.", field=f"{field}[{i}]")
