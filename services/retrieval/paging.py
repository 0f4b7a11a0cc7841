"""Lists, a page at a time: a token says where the next page begins, and of which list."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from chassis.errors import InvalidInput

Item = TypeVar("Item")

DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A part of a list, and the token of the next one, empty at the end."""

    items: tuple[Item, ...]
    next_token: str


def page_of(
    found: Sequence[Item], size: int, position: Callable[[Item], str], *request: object
) -> Page[Item]:
    """The first `size` of what was found, at least 1, with a token when there is more.

    `position` names an item within the list that `request` asks for; the next page begins after the last one.
    """
    items = tuple(found[:size])
    return Page(items, page_token(position(items[-1]), *request) if len(found) > size else "")


def page_token(position: str, *request: object) -> str:
    """An opaque token for the page after `position`, never empty, of the list that `request` asks for."""
    return base64.urlsafe_b64encode(_digest((position, *request)) + position.encode()).decode()


def page_position(token: str, *request: object) -> str:
    """The position in a token that was made for the same request; empty for an empty token.

    Raises `InvalidInput` for any other.
    """
    if not token:
        return ""
    try:
        decoded = base64.b64decode(token, altchars=b"-_", validate=True)
        position = decoded[DIGEST_BYTES:].decode()
    except ValueError as error:
        raise _bad_token() from error
    if decoded[:DIGEST_BYTES] != _digest((position, *request)):
        raise _bad_token()
    return position


def _bad_token() -> InvalidInput:
    return InvalidInput("Must come from the previous page of the same list.", field="page_token")


def _digest(request: object) -> bytes:
    return hashlib.sha256(repr(request).encode()).digest()[:DIGEST_BYTES]
