"""The commands that show what is indexed: search, define, documents, sources, remove."""

from __future__ import annotations

from enum import StrEnum

from clausegate.retrieval.v1.retrieval_service_pb2 import SearchRequest
from cli.connection import Gateway
from cli.errors import CommandError
from cli.output import Output, as_dict
from cli.tables import print_candidates, print_definitions, print_documents, print_sources


class Mode(StrEnum):
    """How candidates are found, see `clausegate.retrieval.v1.SearchMode`."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    VECTOR = "vector"
    KEYWORD_FIRST = "keyword-first"


def split(names: str) -> list[str]:
    """`a,b` as a list; spaces around names are dropped."""
    return [name.strip() for name in names.split(",") if name.strip()]


async def search(connection: Gateway, request: SearchRequest, output: Output) -> int:
    """Print the clauses that best match."""
    async with connection.connected() as gateway:
        response = await gateway.search(request)
    if output.as_json:
        output.json(response)
    else:
        print_candidates(output.console, response.candidates)
    return 0


async def define(connection: Gateway, term: str, sources: list[str], output: Output) -> int:
    """Print the definitions of a term; none is an error."""
    async with connection.connected() as gateway:
        found = [definition async for definition in gateway.definitions(term, sources)]
    if output.as_json:
        output.json({"definitions": [as_dict(definition) for definition in found]})
    elif found:
        print_definitions(output.console, found)
    else:
        raise CommandError(f"no document defines “{term}”")
    return 0


async def documents(connection: Gateway, sources: list[str], output: Output) -> int:
    """Print all documents of these sources."""
    async with connection.connected() as gateway:
        found = [document async for document in gateway.documents(sources)]
    if output.as_json:
        output.json({"documents": [as_dict(document) for document in found]})
    else:
        print_documents(output.console, found)
    return 0


async def sources(connection: Gateway, output: Output) -> int:
    """Print all sources."""
    async with connection.connected() as gateway:
        found = [source async for source in gateway.sources()]
    if output.as_json:
        output.json({"sources": [as_dict(source) for source in found]})
    else:
        print_sources(output.console, found)
    return 0


async def remove(connection: Gateway, document_id: str, output: Output) -> int:
    """Remove one document."""
    async with connection.connected() as gateway:
        await gateway.remove_document(document_id)
    if output.as_json:
        output.json({"documentId": document_id, "outcome": "REMOVED"})
    else:
        output.console.print(f"removed {document_id}", markup=False)
    return 0
