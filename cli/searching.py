"""The commands that look things up without answering: search and define."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from clausegate.retrieval.v1.retrieval_service_pb2 import SearchMode, SearchRequest
from cli.connection import Gateway
from cli.errors import CommandError
from cli.output import Output, as_dict
from cli.parameters import DEFAULT_DATA, Data, Documents, Json, Server, Sources, split
from cli.running import run
from cli.tables import print_candidates, print_definitions

app = typer.Typer()


class Mode(StrEnum):
    """How candidates are found, see `clausegate.retrieval.v1.SearchMode`."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    VECTOR = "vector"
    KEYWORD_FIRST = "keyword-first"


@app.command()
def search(  # noqa: PLR0913 - the options of a command are its parameters
    query: str,
    sources: Sources = "",
    document: Documents = None,
    mode: Annotated[Mode, typer.Option(help="How candidates are found.")] = Mode.HYBRID,
    top_k: Annotated[int, typer.Option("--top", min=1, max=100, help="Clauses to show.")] = 12,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Show the clauses that best match, with their scores."""
    output = Output(json)
    request = SearchRequest(
        query=query,
        sources=split(sources),
        document_ids=document or [],
        mode=SearchMode.Value(f"SEARCH_MODE_{mode.name}"),
        top_k=top_k,
    )
    run(_search(Gateway(server, data), request, output), output)


async def _search(connection: Gateway, request: SearchRequest, output: Output) -> int:
    async with connection.connected() as gateway:
        response = await gateway.search(request)
    if output.as_json:
        output.json(response)
    else:
        print_candidates(output.console, response.candidates)
    return 0


@app.command()
def define(
    term: str,
    sources: Sources = "",
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Show how the documents define a term."""
    output = Output(json)
    run(_define(Gateway(server, data), term, split(sources), output), output)


async def _define(connection: Gateway, term: str, sources: list[str], output: Output) -> int:
    async with connection.connected() as gateway:
        found = [definition async for definition in gateway.definitions(term, sources)]
    if output.as_json:
        output.json({"definitions": [as_dict(definition) for definition in found]})
    elif found:
        print_definitions(output.console, found)
    else:
        raise CommandError(f"no document defines “{term}”")
    return 0
