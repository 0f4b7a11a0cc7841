"""The commands for those who run the product: serve, fetch-model, new-signing-key, new-index-key."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

import typer

from chassis.settings import SETTINGS_ERRORS, settings_problem
from cli.errors import CommandError
from cli.output import Output
from cli.running import run
from inference.fetch import FetchFailed, fetch_encodings, fetch_model

app = typer.Typer()

KEY_BYTES = 32


@app.command()
def serve() -> None:
    """Serve REST and gRPC until stopped; the same as `python -m embedded`."""
    # The services are loaded only by those who start them.
    from embedded.__main__ import main as serve_embedded

    serve_embedded()


@app.command("fetch-model")
def fetch() -> None:
    """Fetch the local embedding model (85 MB) and the encodings that count tokens (5 MB), once.

    They go to ~/.cache/clausegate, or to the folders that CLAUSEGATE_MODEL_DIR and TIKTOKEN_CACHE_DIR name.
    What is there is not fetched again.
    """
    output = Output(as_json=False)
    run(_fetch(output), output)


async def _fetch(output: Output) -> int:
    from services.retrieval.settings import RetrievalSettings

    try:
        settings = RetrievalSettings()
        with output.errors.status("fetching the embedding model"):
            model = await fetch_model(settings.model_dir.expanduser())
        with output.errors.status("fetching the encodings that count tokens"):
            encodings = await fetch_encodings(settings.tiktoken_cache_dir.expanduser())
    except FetchFailed as error:
        raise CommandError(str(error)) from error
    except SETTINGS_ERRORS as error:
        raise CommandError(settings_problem(error)) from error
    output.console.print(f"the embedding model is in {model}", markup=False, soft_wrap=True)
    output.console.print(f"the encodings that count tokens are in {encodings}", markup=False, soft_wrap=True)
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
