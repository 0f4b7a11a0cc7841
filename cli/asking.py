"""The command that asks: stages while it works, then the panel, plain text or the JSON of the response."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from google.protobuf.json_format import MessageToJson
from rich.markup import escape

from clausegate import EachOptions, QueryOptions
from clausegate.answer.v1.answer_pb2 import Outcome
from clausegate.answer.v1.debug_pb2 import DebugRecord
from clausegate.answer.v1.query_service_pb2 import QueryResponse, StreamQueryResponse
from cli.connection import Services
from cli.costs import model_notes, print_dry_run
from cli.each import ask_each
from cli.errors import CommandError
from cli.explaining import documents_of, print_explanation
from cli.labels import labels_for
from cli.naming import documents_named
from cli.output import Output
from cli.panels import Asked, response_panel
from cli.parameters import DEFAULT_DATA, Data, Documents, Json, MaxCost, Server, Sources, split
from cli.running import REFUSED, RELATED, run

app = typer.Typer()

STAGES = {"retrieved": "grading", "graded": "deciding", "gated": "quoting"}
EXIT_CODES = {Outcome.OUTCOME_RELATED: RELATED, Outcome.OUTCOME_REFUSED: REFUSED}
"""Of what is not answered; else 0."""


@app.command()
def ask(  # noqa: PLR0913 - the options of a command are its parameters
    question: Annotated[
        list[str], typer.Argument(metavar="QUESTION", help="With --each there may be several.")
    ],
    sources: Sources = "",
    document: Documents = None,
    each: Annotated[bool, typer.Option("--each", help="Ask every document by itself.")] = False,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", dir_okay=False, help="Write documents by questions to a file (--each)."),
    ] = None,
    gate: Annotated[bool, typer.Option("--gate/--no-gate", help="Whether weak evidence is refused.")] = True,
    grading: Annotated[
        bool, typer.Option("--grading/--no-grading", help="Whether candidates are graded before the gate.")
    ] = True,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Search beyond the documents that the question names.")
    ] = False,
    max_cost: MaxCost = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent to models; send nothing.")
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", dir_okay=False, help="Record model calls (own stack only)."),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", exists=True, dir_okay=False, help="Play model calls back (own stack only)."
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Show clauses, definitions and notes as well.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print the debug record as JSON.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print how the answer came about.")] = False,
    log_queries: Annotated[
        bool, typer.Option("--log-queries", help="Print the audit record of this query (own stack only).")
    ] = False,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Answer a question with citations, show what is only related to it, or refuse it.

    Exit codes: 0 answered, 4 only related, 3 refused. With --each 0, or 1 where a question failed.
    """
    output = Output(json)
    services = Services(server, data, log_queries=log_queries, record=record, replay=replay)
    if each:
        if not (gate and grading) or dry_run or full or debug or explain:
            raise typer.BadParameter("goes with --csv, --json and where to ask alone", param_hint="--each")
        scope = EachOptions(sources=split(sources), document_ids=document or [], max_cost_usd=max_cost)
        run(ask_each(services, question, scope, csv, output), output)
    if csv is not None or len(question) > 1:
        raise typer.BadParameter("goes with --each", param_hint="--csv" if csv else "more than one QUESTION")
    options = QueryOptions(
        sources=split(sources),
        document_ids=document or [],
        gate=gate,
        grading=grading,
        debug=debug or explain,
        max_cost_usd=max_cost,
        dry_run=dry_run,
        everywhere=everywhere,
    )
    run(_ask(services, question[0], options, Shown(full, debug, explain), output), output)


@dataclass(frozen=True, slots=True)
class Shown:
    """What to show besides the answer."""

    full: bool
    """Clauses, definitions and all notes."""
    debug: bool
    """The debug record, as JSON."""
    explain: bool
    """How it came about, for a person."""


async def _ask(services: Services, question: str, options: QueryOptions, shown: Shown, output: Output) -> int:
    """Print the answer, the refusal, or what answering would cost."""
    response, labels = await _answered(services, question, options, output)
    if output.as_json:
        output.json(response)
    elif response.HasField("dry_run"):
        print_dry_run(output.console, response.dry_run)
    elif output.console.is_terminal:
        asked = Asked(question, tuple(options["sources"]), shown.full)
        output.console.print(response_panel(response, asked))
    else:
        output.verbatim(plain(response.markdown_full if shown.full else response.markdown))
        output.notes(model_notes(response.metadata))
    if shown.explain and not output.as_json:
        print_explanation(output.console, response, labels)
    if shown.debug and not output.as_json:
        output.verbatim(_debug_json(response.debug))
    return EXIT_CODES.get(response.outcome, 0)


async def _answered(
    services: Services, question: str, options: QueryOptions, output: Output
) -> tuple[QueryResponse, Mapping[str, str]]:
    """The whole response, and the labels of the documents that its explanation speaks of.

    A line on standard error says what is being done.
    """
    event = StreamQueryResponse()
    with output.errors.status("starting" if services.server is None else "searching") as status:
        async with services.connected() as client:
            status.update("searching")
            options["document_ids"] = await documents_named(client, options["document_ids"])
            async for event in client.stream_query(question, **options):
                status.update(_stage(event))
            response = event.completed.response
            labels = await labels_for(client, documents_of(response.debug.explanation))
    if event.HasField("completed"):
        return response, labels
    raise CommandError("the answer ended before it was complete; please repeat the question")


def plain(markdown: str) -> str:
    """Markdown as text for a pipe: without the backslashes that keep words of documents from being markup."""
    return re.sub(r"\\([^\w\s]|_)", r"\1", markdown).rstrip()


def _stage(event: StreamQueryResponse) -> str:
    return escape(STAGES.get(event.WhichOneof("event") or "", "quoting"))


def _debug_json(record: DebugRecord) -> str:
    """The debug record, its fields named as in the debug log."""
    return MessageToJson(
        record,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
        ensure_ascii=False,
    )
