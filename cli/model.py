"""The command that fetches the local embedding model."""

from __future__ import annotations

from pathlib import Path

from cli.errors import CommandError
from cli.output import Output
from inference.embedding.fetch import FetchFailed, fetch_model


async def fetch(folder: Path, output: Output) -> int:
    """Fetch the model into `folder` unless it is there."""
    try:
        with output.errors.status("fetching the embedding model"):
            place = await fetch_model(folder)
    except FetchFailed as error:
        raise CommandError(str(error)) from error
    output.console.print(f"the embedding model is in {place}", markup=False, soft_wrap=True)
    return 0
