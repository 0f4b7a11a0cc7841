"""Clausegate answers questions from documents alone, each statement with a checked quote, or refuses.

This package is what a caller of the services needs, and nothing else:

    async with clausegate.connect("127.0.0.1:7000") as client:
        response = await client.query("What is the notice period?", sources=["cme"])
        print(response.answer)
"""

from clausegate.client import Addresses, Client, connect
from clausegate.errors import ClausegateError, InvalidField
from clausegate.options import DefinitionOptions, QueryOptions, Scope, SearchOptions

__all__ = [
    "Addresses",
    "ClausegateError",
    "Client",
    "DefinitionOptions",
    "InvalidField",
    "QueryOptions",
    "Scope",
    "SearchOptions",
    "connect",
]
