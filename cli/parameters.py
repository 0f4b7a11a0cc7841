"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Server = Annotated[
    str | None,
    typer.Option(
        envvar="CLAUSEGATE_SERVER",
        metavar="ADDRESS",
        help="Services to use, e.g. 127.0.0.1:7000 or https://grpc.example.com, with a key or token in "
        "CLAUSEGATE_CREDENTIAL if they ask for one; where each has its own address, those of ingest, "
        "retrieval and answer with commas between. Without it the command starts its own stack.",
    ),
]
Data = Annotated[
    Path,
    typer.Option(envvar="CLAUSEGATE_DATA_DIR", metavar="DIR", help="Data of the own stack."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and errors as JSON on standard error.")]
Sources = Annotated[str, typer.Option(metavar="A,B", help="Only these sources.")]
Documents = Annotated[
    list[str] | None,
    typer.Option(
        "--document",
        metavar="NAME",
        help="Only this document, by its id or a part of its id or title; may be repeated.",
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", min=0, help="Stop before models could cost more than this."),
]
TextFile = Annotated[str, typer.Argument(metavar="[FILE|-]", help="Text in UTF-8; - is standard input.")]

DEFAULT_DATA = Path(".data")
STANDARD_INPUT = "-"


def split(names: str) -> list[str]:
    """`a,b` as a list; spaces around names are dropped."""
    return [name.strip() for name in names.split(",") if name.strip()]
