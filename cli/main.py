"""The commands. Each reads its arguments, calls the gateway, prints; everything else is elsewhere.

Exit codes: 0 done or answered, 1 error, 2 usage, 3 refused, 130 interrupted.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from clausegate.answer.v1.query_service_pb2 import StreamQueryRequest
from clausegate.retrieval.v1.retrieval_service_pb2 import SearchMode, SearchRequest
from cli import asking, listing
from cli.connection import Gateway
from cli.folders import scan
from cli.ingestion import Choices, Outcome, ingest_folder
from cli.output import Output
from cli.progress import Bars
from cli.running import USAGE, run
from cli.tables import print_results

app = typer.Typer(
    name="clausegate",
    help="Answers questions from your documents alone, with checked quotes, or refuses.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="Exit codes: 0 done or answered, 1 error, 2 usage, 3 refused.",
)

Server = Annotated[
    str | None,
    typer.Option(
        envvar="CLAUSEGATE_SERVER",
        metavar="URL",
        help="Gateway to use, e.g. http://127.0.0.1:8000. Without it the command starts its own stack.",
    ),
]
Data = Annotated[
    Path,
    typer.Option(envvar="CLAUSEGATE_DATA_DIR", metavar="DIR", help="Data of the own stack."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and errors as JSON on standard error.")]
Sources = Annotated[str, typer.Option(metavar="A,B", help="Only these sources.")]
Documents = Annotated[
    list[str] | None, typer.Option("--document", metavar="ID", help="Only this document; may be repeated.")
]
DEFAULT_DATA = Path(".data")


@app.command()
def ingest(  # noqa: PLR0913 - the options of a command are its parameters
    folder: Annotated[Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, readable=True)],
    source: Annotated[
        str | None, typer.Option(help="DIR is this source's folder. Else each folder in DIR is a source.")
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents of these sources that are not in DIR.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Send unchanged files too, e.g. after an update of the product.")
    ] = False,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Ingest a folder {source}/**/*.{pdf,docx,html,md,txt}; unchanged files cost nothing."""
    output = Output(json)

    async def work() -> int:
        files = await asyncio.to_thread(scan, folder, source)
        async with Gateway(server, data).connected() as gateway:
            with Bars(output.errors) as bars:
                results = await ingest_folder(gateway, files, Choices(prune, force), bars)
        if json:
            output.json({"documents": [result.as_json() for result in results]})
        else:
            print_results(output.console, results)
        return 1 if any(result.outcome is Outcome.FAILED for result in results) else 0

    run(work(), output)


@app.command()
def ask(  # noqa: PLR0913 - the options of a command are its parameters
    question: str,
    sources: Sources = "",
    document: Documents = None,
    gate: Annotated[bool, typer.Option("--gate/--no-gate", help="Whether weak evidence is refused.")] = True,
    grading: Annotated[
        bool, typer.Option("--grading/--no-grading", help="Whether candidates are graded before the gate.")
    ] = True,
    full: Annotated[bool, typer.Option("--full", help="Show supporting clauses whole.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print how the answer came about.")] = False,
    log_queries: Annotated[
        bool, typer.Option("--log-queries", help="Print the audit record of this query (own stack only).")
    ] = False,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Answer a question with citations, or refuse it (exit code 3)."""
    output = Output(json)
    request = StreamQueryRequest(
        query=question,
        sources=listing.split(sources),
        document_ids=document or [],
        gate=gate,
        grading=grading,
        debug=debug,
    )
    options = asking.Options(full=full, debug=debug, log_queries=log_queries)
    run(asking.ask(Gateway(server, data), request, options, output), output)


@app.command()
def search(  # noqa: PLR0913 - the options of a command are its parameters
    query: str,
    sources: Sources = "",
    document: Documents = None,
    mode: Annotated[listing.Mode, typer.Option(help="How candidates are found.")] = listing.Mode.HYBRID,
    top_k: Annotated[int, typer.Option("--top", min=1, max=100, help="Clauses to show.")] = 12,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Show the clauses that best match, with their scores."""
    output = Output(json)
    request = SearchRequest(
        query=query,
        sources=listing.split(sources),
        document_ids=document or [],
        mode=SearchMode.Value(f"SEARCH_MODE_{mode.name}"),
        top_k=top_k,
    )
    run(listing.search(Gateway(server, data), request, output), output)


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
    run(listing.define(Gateway(server, data), term, listing.split(sources), output), output)


@app.command()
def documents(
    sources: Sources = "", server: Server = None, data: Data = DEFAULT_DATA, json: Json = False
) -> None:
    """List what is indexed."""
    output = Output(json)
    run(listing.documents(Gateway(server, data), listing.split(sources), output), output)


@app.command()
def sources(server: Server = None, data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """List the sources of what is indexed."""
    output = Output(json)
    run(listing.sources(Gateway(server, data), output), output)


@app.command()
def remove(
    document_id: Annotated[str, typer.Argument(metavar="SOURCE/PATH")],
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Remove a document from index and archive."""
    output = Output(json)
    run(listing.remove(Gateway(server, data), document_id, output), output)


@app.command()
def serve() -> None:
    """Serve REST and gRPC until stopped; the same as `python -m embedded`."""
    from embedded.__main__ import (
        main as serve_embedded,
    )  # the services are loaded only by those who start them

    serve_embedded()


@app.command(name="fetch-model")
def fetch_model(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of the model; replaced as a whole.")
    ] = DEFAULT_DATA / "model",
) -> None:
    """Fetch the local embedding model (85 MB) once; nothing is fetched when it is there."""
    from cli.model import fetch

    output = Output(as_json=False)
    run(fetch(folder, output), output)


def main() -> None:
    """Run the command that the arguments name."""
    if any(argument.encode("utf-8", "replace").decode() != argument for argument in sys.argv):
        typer.echo("error: the arguments are not valid UTF-8", err=True)
        sys.exit(USAGE)
    app()
