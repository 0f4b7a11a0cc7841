"""The `clausegate` command: its commands stand in modules by subject.

Exit codes: 0 done or answered, 1 error, 2 usage, 3 refused, nothing found or not grounded, 4 only related,
130 interrupted.
"""

from __future__ import annotations

import sys

import typer

from cli import (
    articles,
    asking,
    audit,
    checking,
    dev_certs,
    documents,
    evaluating,
    keys,
    mcp,
    models,
    process,
    projects,
    reindexing,
    searching,
    snippets,
    texts,
    traces,
)
from cli.running import USAGE

app = typer.Typer(
    name="clausegate",
    help="Answers questions from your documents alone, with checked quotes, or refuses.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="Exit codes: 0 done or answered, 1 error, 2 usage, 3 refused, nothing found or not grounded, "
    "4 only related to the question.",
)
for subject in (
    documents,
    reindexing,
    models,
    projects,
    asking,
    evaluating,
    searching,
    snippets,
    checking,
    articles,
    texts,
    keys,
    dev_certs,
    audit,
    traces,
    mcp,
    process,
):
    app.add_typer(subject.app)


def main() -> None:
    """Run the command that the arguments name."""
    if any(argument.encode("utf-8", "replace").decode() != argument for argument in sys.argv):
        typer.echo("error: the arguments are not valid UTF-8", err=True)
        sys.exit(USAGE)
    app(prog_name="clausegate")
