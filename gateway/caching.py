"""What a client may keep of a file or a picture, and whether it has it still (RFC 9110, section 13)."""

from __future__ import annotations

import re

from starlette.datastructures import Headers

REVALIDATED = "private, no-cache"
"""Kept by the caller alone, and asked for again: a key may have lost the source meanwhile."""
_TAGS = re.compile(r'(?:W/)?("[^"]*")')


def holds(headers: Headers, tag: str) -> bool:
    """Whether the client says that it has this version."""
    given = headers.get("if-none-match", "")
    return given.strip() == "*" or tag in _TAGS.findall(given)
