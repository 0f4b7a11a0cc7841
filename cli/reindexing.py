"""The command that makes the index anew: for another embedding model, or for another parser and chunker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.connection import Services
from cli.documents import reported
from cli.ingestion import reindex_originals
from cli.output import Output
from cli.parameters import DEFAULT_DATA, Data, Json, Server, Sources, split
from cli.progress import Bars
from cli.running import run

app = typer.Typer()


@app.command()
def reindex(
    originals: Annotated[
        bool,
        typer.Option(
            "--originals",
            help="Read the archived files again: for another parser or chunker, not another model.",
        ),
    ] = False,
    drop_old: Annotated[
        bool,
        typer.Option("--drop-old", help="Only delete what is not the index: of the old model, or given up."),
    ] = False,
    sources: Sources = "",
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Make the index anew from what it holds, with the embedding model of the settings."""
    output = Output(json)
    if originals and drop_old:
        raise typer.BadParameter("--originals replaces document by document: nothing old is left to drop.")
    if originals:
        run(_originals(Services(server, data), split(sources), output), output)
    elif sources:
        raise typer.BadParameter("--sources needs --originals: an index has one embedding model.")
    elif server is not None:
        raise typer.BadParameter(
            "--server needs --originals. Another embedding model is set where the retrieval service runs, "
            "and there `python -m services.retrieval.reindex` makes the index anew."
        )
    else:
        run(_model(data, drop_old, output), output)


async def _originals(services: Services, sources: list[str], output: Output) -> int:
    async with services.connected() as client:
        with Bars(output.errors) as bars:
            results = await reindex_originals(client, sources, bars)
    return reported(results, output)


async def _model(data: Path, drop_old: bool, output: Output) -> int:
    # Only those who use the services load them.
    from cli.own_stack import change_over

    def say(line: str) -> None:
        output.errors.print(line, markup=False, soft_wrap=True)

    outcome = await change_over(data, drop_old, say)
    if output.as_json:
        output.json(outcome.as_json())
    else:
        output.console.print(str(outcome), markup=False, soft_wrap=True)
    return 0
