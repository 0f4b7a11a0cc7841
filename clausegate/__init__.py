"""Clausegate answers questions from documents alone, each statement with a checked quote, or refuses.

This package is what a caller of the services needs, and nothing else:

    async with clausegate.connect("127.0.0.1:7000") as client:
        answer = await client.query("What is the notice period?", sources=["cme"])
        print(answer.refusal.message if answer.refused else answer.answer)
"""

from clausegate.answers import Answer
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
    "Answer",
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
