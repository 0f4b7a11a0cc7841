"""The command that asks: stages while it works, then the panel, plain text or the JSON of the response."""

from __future__ import annotations

import re
from dataclasses import dataclass

from google.protobuf.json_format import MessageToJson
from rich.markup import escape

from clausegate.answer.v1.debug_pb2 import DebugRecord
from clausegate.answer.v1.query_service_pb2 import QueryResponse, StreamQueryRequest, StreamQueryResponse
from cli.connection import Gateway
from cli.errors import CommandError
from cli.output import Output
from cli.panels import Asked, response_panel
from cli.running import REFUSED

STAGES = {"retrieved": "grading", "graded": "deciding", "gated": "quoting"}


@dataclass(frozen=True, slots=True)
class Options:
    """What to show besides the answer."""

    full: bool
    """Supporting clauses whole rather than around their quotes."""
    debug: bool
    log_queries: bool


async def ask(connection: Gateway, request: StreamQueryRequest, options: Options, output: Output) -> int:
    """Print the answer or the refusal."""
    response = await _answered(connection, request, options, output)
    if output.as_json:
        output.json(response)
    elif output.console.is_terminal:
        asked = Asked(request.query, tuple(request.sources), options.full)
        output.console.print(response_panel(response, asked))
    else:
        output.verbatim(plain(response.markdown))
    if options.debug and not output.as_json:
        output.verbatim(_debug_json(response.debug))
    return REFUSED if response.HasField("refusal") else 0


async def _answered(
    connection: Gateway, request: StreamQueryRequest, options: Options, output: Output
) -> QueryResponse:
    """The whole response; a line on standard error says what is being done."""
    with output.errors.status("starting" if connection.server is None else "searching") as status:
        async with connection.connected(log_queries=options.log_queries) as gateway:
            status.update("searching")
            async for event in gateway.stream_query(request):
                if event.HasField("completed"):
                    return event.completed.response
                status.update(_stage(event))
    raise CommandError("the answer ended before it was complete; please repeat the question")


def plain(markdown: str) -> str:
    """Markdown as text for a pipe: without the backslashes that keep words of documents from being markup."""
    return re.sub(r"\\([^\w\s])", r"\1", markdown).rstrip()


def _stage(event: StreamQueryResponse) -> str:
    return escape(STAGES.get(event.WhichOneof("event") or "", "quoting"))


def _debug_json(record: DebugRecord) -> str:
    """The record as LI-50 names its fields."""
    return MessageToJson(
        record,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
        ensure_ascii=False,
    )
