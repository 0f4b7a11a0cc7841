"""The client: one method per thing that a caller may ask of the services; it returns protobuf messages."""

from __future__ import annotations

from clausegate.connection import Addresses
from clausegate.library import Library
from clausegate.questions import Questions
from clausegate.searches import Searches
from clausegate.texts import Texts


class Client(Questions, Searches, Library, Texts):
    """See `connect`. Every method raises `ClausegateError` when its call fails."""


def connect(address: str | Addresses, *, deadline_seconds: float = 240.0) -> Client:
    """A client of the services at `address`; one address means that all of them listen there.

    Use it as an async context manager. `deadline_seconds` bounds each call that names no deadline of its own;
    the default leaves room for two calls of a model.
    """
    addresses = Addresses(address, address, address) if isinstance(address, str) else address
    return Client(addresses, deadline_seconds)
