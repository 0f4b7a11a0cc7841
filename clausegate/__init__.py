"""Clausegate answers questions from documents alone, each statement with a checked quote, or refuses.

This package is what a caller of the services needs, and nothing else:

    async with clausegate.connect("127.0.0.1:7000") as client:
        response = await client.query("What is the notice period?", sources=["cme"])
        print(response.answer)
"""

from clausegate.client import Client, connect
from clausegate.connection import Addresses
from clausegate.errors import ClausegateError, InvalidField
from clausegate.options import (
    ArticleOptions,
    ContextOptions,
    DefinitionOptions,
    EachOptions,
    QueriesOptions,
    QueryOptions,
    RewriteOptions,
    Scope,
    SearchOptions,
    SnippetOptions,
)

__all__ = [
    "Addresses",
    "ArticleOptions",
    "ClausegateError",
    "Client",
    "ContextOptions",
    "DefinitionOptions",
    "EachOptions",
    "InvalidField",
    "QueriesOptions",
    "QueryOptions",
    "RewriteOptions",
    "Scope",
    "SearchOptions",
    "SnippetOptions",
    "connect",
]
