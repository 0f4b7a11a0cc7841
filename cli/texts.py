"""The commands whose result is text by a model: queries for a topic, and a rewritten text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from clausegate import QueriesOptions
from clausegate.answer.v1.rewrite_service_pb2 import RewriteResponse
from cli.connection import Services
from cli.costs import footer
from cli.files import read_text, write_text
from cli.naming import documents_named
from cli.output import Output
from cli.panels import citation_lines, section
from cli.parameters import (
    DEFAULT_DATA,
    STANDARD_INPUT,
    Data,
    Documents,
    Json,
    MaxCost,
    Server,
    TextFile,
    split,
)
from cli.passages import visible
from cli.running import run

app = typer.Typer()


@app.command()
def queries(  # noqa: PLR0913 - the options of a command are its parameters
    topic: str,
    category: Annotated[
        str, typer.Option(metavar="C", help="Its hints help the model, e.g. MARKET_DATA_FEES.")
    ] = "",
    locality: Annotated[str, typer.Option(metavar="L", help="Place or scope, e.g. Chicago.")] = "",
    count: Annotated[int | None, typer.Option(help="How many, 1 to 50; else 10.")] = None,
    to: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write them there, one a line.")
    ] = None,
    max_cost: MaxCost = None,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Generate search queries for a topic, one a line. Needs a chat model."""
    output = Output(json)
    options = QueriesOptions(category=category, locality=locality, count=count, max_cost_usd=max_cost)
    run(_queries(Services(server, data), topic, options, to, output), output)


async def _queries(
    services: Services, topic: str, options: QueriesOptions, to: Path | None, output: Output
) -> int:
    with output.errors.status("generating"):
        async with services.connected() as client:
            response = await client.generate_queries(topic, **options)
    lines = [" ".join(query.split()) for query in response.queries]
    if to is not None:
        write_text(to, "".join(f"{line}\n" for line in lines))
    if output.as_json:
        output.json(response)
    else:
        output.verbatim(f"{len(lines)} queries in {to}" if to else "\n".join(map(visible, lines)))
        output.footer(footer(response.metadata, response.usage))
    return 0


@app.command()
def rewrite(  # noqa: PLR0913 - the options of a command are its parameters
    instruction: Annotated[
        str, typer.Option(metavar="TEXT", help="What to do with it, e.g. “Make it plainer.”")
    ],
    file: TextFile = STANDARD_INPUT,
    before: Annotated[
        str, typer.Option(metavar="FILE", help="What stands before it, for the style alone.")
    ] = "",
    after: Annotated[
        str, typer.Option(metavar="FILE", help="What stands after it, for the style alone.")
    ] = "",
    sources: Annotated[str, typer.Option(metavar="A,B", help="Reference material: these sources.")] = "",
    document: Documents = None,
    max_cost: MaxCost = None,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Rewrite a text, with documents for reference only. Needs a chat model."""
    output = Output(json)

    async def work() -> int:
        given = read_text(file)
        with output.errors.status("rewriting"):
            async with Services(server, data).connected() as client:
                chosen = await documents_named(client, document or [])
                response = await client.rewrite(
                    given,
                    instruction,
                    before=read_text(before) if before else "",
                    after=read_text(after) if after else "",
                    sources=split(sources),
                    document_ids=chosen,
                    max_cost_usd=max_cost,
                )
        return _print_rewritten(response, output)

    run(work(), output)


def _print_rewritten(response: RewriteResponse, output: Output) -> int:
    text = response.text.removesuffix("\n")  # printing ends the last line
    if output.as_json:
        output.json(response)
    elif output.console.is_terminal:
        output.console.print(Text(visible(text)))
        for part in section("Rests on", citation_lines(response.citations)):
            output.console.print(part)
        output.footer(footer(response.metadata, response.usage))
    else:
        output.verbatim(text)
    return 0
