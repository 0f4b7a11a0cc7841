"""The commands that look things up without answering: search, define and context."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from clausegate import ContextOptions, SearchOptions
from clausegate.retrieval.v1.retrieval_service_pb2 import AssembleContextResponse, SearchMode
from cli.connection import Services
from cli.errors import CommandError
from cli.labels import labels_for
from cli.naming import documents_named
from cli.output import Output, as_dict, counted
from cli.parameters import DEFAULT_DATA, Data, Documents, Json, Server, Sources, split
from cli.passages import visible
from cli.running import REFUSED, run
from cli.tables import every_definition, print_candidates, print_definitions

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
    options = SearchOptions(
        sources=split(sources),
        document_ids=document or [],
        mode=SearchMode.Value(f"SEARCH_MODE_{mode.name}"),
        top_k=top_k,
    )
    run(_search(Services(server, data), query, options, output), output)


async def _search(services: Services, query: str, options: SearchOptions, output: Output) -> int:
    async with services.connected() as client:
        options["document_ids"] = await documents_named(client, options["document_ids"])
        response = await client.search(query, **options)
        labels = await labels_for(client, (found.chunk.document_id for found in response.candidates))
    if output.as_json:
        output.json(response)
    else:
        print_candidates(output.console, response.candidates, labels)
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
    run(_define(Services(server, data), term, split(sources), output), output)


async def _define(services: Services, term: str, sources: list[str], output: Output) -> int:
    async with services.connected() as client:
        found = [definition async for definition in client.find_definitions(terms=[term], sources=sources)]
        labels = await labels_for(client, (definition.document_id for definition in every_definition(found)))
    if output.as_json:
        output.json({"definitions": [as_dict(definition) for definition in found]})
    elif found:
        print_definitions(output.console, found, labels)
    else:
        raise CommandError(f"no document defines “{term}”")
    return 0


@app.command()
def context(  # noqa: PLR0913 - the options of a command are its parameters
    query: Annotated[
        str, typer.Argument(metavar="[QUERY]", help="What the text is for; without it, how documents begin.")
    ] = "",
    sources: Sources = "",
    document: Documents = None,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens of the text at most.")] = 8_000,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Print source text for a writer: passages in the order of their documents, within a token budget."""
    output = Output(json)
    options = ContextOptions(sources=split(sources), document_ids=document or [], token_budget=tokens)
    run(_context(Services(server, data), query, options, output), output)


async def _context(services: Services, query: str, options: ContextOptions, output: Output) -> int:
    async with services.connected() as client:
        options["document_ids"] = await documents_named(client, options["document_ids"])
        response = await client.assemble_context(query, **options)
    if output.as_json:
        output.json(response)
    elif response.passages:
        output.verbatim(visible(response.text).removesuffix("\n"))  # printing ends the last line
    output.notes([_extent(response)])
    return 0 if response.passages else REFUSED


def _extent(response: AssembleContextResponse) -> str:
    """How much of what could be shown is shown."""
    left_out = (
        f"; {counted(response.chunks_left_out, 'chunk')} did not fit" if response.chunks_left_out else ""
    )
    tokens = f"{response.token_count:,} tokens ({response.token_encoding})"
    return f"{counted(len(response.passages), 'passage')}, {tokens}{left_out}"
