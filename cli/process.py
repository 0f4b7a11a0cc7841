"""The commands for those who run the product: serve, fetch-model, new-signing-key, new-index-key."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cli.errors import CommandError
from cli.output import Output
from cli.parameters import DEFAULT_DATA
from cli.running import run
from inference.embedding.fetch import FetchFailed, fetch_model

app = typer.Typer()

KEY_BYTES = 32


@app.command()
def serve() -> None:
    """Serve REST and gRPC until stopped; the same as `python -m embedded`."""
    # The services are loaded only by those who start them.
    from embedded.__main__ import main as serve_embedded

    serve_embedded()


@app.command("fetch-model")
def fetch(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of the model; replaced as a whole.")
    ] = DEFAULT_DATA / "model",
) -> None:
    """Fetch the local embedding model (85 MB) once; nothing is fetched when it is there."""
    output = Output(as_json=False)
    run(_fetch(folder, output), output)


async def _fetch(folder: Path, output: Output) -> int:
    try:
        with output.errors.status("fetching the embedding model"):
            place = await fetch_model(folder)
    except FetchFailed as error:
        raise CommandError(str(error)) from error
    output.console.print(f"the embedding model is in {place}", markup=False, soft_wrap=True)
    return 0


@app.command("new-signing-key")
def new_signing_key() -> None:
    """Print a new key that signs citations, as a line for the file of signing keys.

    The first line of that file signs. Keep older lines below it: they check what they signed.
    """
    made = datetime.now(UTC)
    typer.echo(f"k{made:%Y%m%dT%H%M%S}:{secrets.token_hex(KEY_BYTES)}")


@app.command("new-index-key")
def new_index_key() -> None:
    """Print a new key by which ingest alone writes to the index, as the line of the file of both services."""
    typer.echo(secrets.token_hex(KEY_BYTES))
