"""The commands that put documents in, list them and take them out: ingest, documents, sources, remove."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli.connection import Services
from cli.folders import scan
from cli.ingestion import Choices, FileResult, Outcome, ingest_folder
from cli.output import Output, as_dict
from cli.parameters import DEFAULT_DATA, Data, Json, Server, Sources, split
from cli.progress import Bars
from cli.running import FAILED, run
from cli.tables import print_documents, print_results, print_sources

app = typer.Typer()


@app.command()
def ingest(  # noqa: PLR0913 - the options of a command are its parameters
    folder: Annotated[Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, readable=True)],
    source: Annotated[str | None, typer.Option(help="DIR is this source's folder.")] = None,
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
    """Ingest a folder of documents (pdf, docx, html, md, txt); unchanged files cost nothing.

    Each folder in DIR is a source; where files lie in DIR itself, DIR is the one source. Hidden files, what
    systems leave behind (Thumbs.db, ~$…) and links that lead out of the folder are left out."""
    output = Output(json)

    async def work() -> int:
        found = await asyncio.to_thread(scan, folder, source)
        if not json:
            output.notes(
                f"the folder `{name}` is the source `{safe}`" for name, safe in found.renamed.items()
            )
        bars = Bars(output.errors)
        try:
            async with Services(server, data).connected() as client:
                with bars:
                    results = await ingest_folder(client, found.files, Choices(prune, force), bars)
        except asyncio.CancelledError:
            output.notes([bars.interrupted])
            raise
        return reported(results, output, found.left_out)

    run(work(), output)


def reported(results: Sequence[FileResult], output: Output, left_out: Sequence[Path] = ()) -> int:
    """Print what became of documents, and which links were not followed; the exit code."""
    if output.as_json:
        links = {"linksLeftOut": [str(link) for link in left_out]} if left_out else {}
        output.json({"documents": [result.as_json() for result in results], **links})
    else:
        print_results(output.console, results)
        for link in left_out:
            output.verbatim(f"left out: {link} is a link that leads out of the folder")
    return FAILED if any(result.outcome is Outcome.FAILED for result in results) else 0


@app.command()
def documents(
    sources: Sources = "", server: Server = None, data: Data = DEFAULT_DATA, json: Json = False
) -> None:
    """List what is indexed."""
    output = Output(json)
    run(_documents(Services(server, data), split(sources), output), output)


async def _documents(services: Services, sources: list[str], output: Output) -> int:
    async with services.connected() as client:
        found = [document async for document in client.documents(sources)]
    if output.as_json:
        output.json({"documents": [as_dict(document) for document in found]})
    else:
        print_documents(output.console, found)
    return 0


@app.command()
def sources(server: Server = None, data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """List the sources of what is indexed."""
    output = Output(json)
    run(_sources(Services(server, data), output), output)


async def _sources(services: Services, output: Output) -> int:
    async with services.connected() as client:
        found = [source async for source in client.sources()]
    if output.as_json:
        output.json({"sources": [as_dict(source) for source in found]})
    else:
        print_sources(output.console, found)
    return 0


@app.command()
def remove(
    document_id: Annotated[str, typer.Argument(metavar="SOURCE/PATH")],
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Remove a document from index and archive."""
    output = Output(json)
    run(_remove(Services(server, data), document_id, output), output)


async def _remove(services: Services, document_id: str, output: Output) -> int:
    async with services.connected() as client:
        await client.remove_document(document_id)
    output.removed("documentId", document_id)
    return 0
