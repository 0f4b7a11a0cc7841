"""The command that shows where the time of a call went: `trace`."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text
from rich.tree import Tree

from chassis.kept_traces import KeptSpan, read_trace
from cli.errors import CommandError
from cli.output import Output
from cli.parameters import DEFAULT_DATA, Data, Json
from cli.passages import visible
from cli.running import run

app = typer.Typer()

SHOWN = ("clausegate.", "gen_ai.", "db.operation", "http.response", "error.type")
"""What the names of attributes begin with that a reader wants to see; the others repeat the span's name."""
NEVER_SHOWN = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.operation.name",
    "gen_ai.provider.name",
)


@app.command()
def trace(
    trace_id: Annotated[
        str, typer.Argument(metavar="ID", help="`metadata.traceId` of a response, or its X-Trace-Id.")
    ],
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Show what a call did and how long each step took, from the traces kept in DIR/logs."""
    output = Output(json)
    run(_trace(trace_id.strip().lower(), data / "logs" / "traces.jsonl", output), output)


async def _trace(trace_id: str, path: Path, output: Output) -> int:
    if not re.fullmatch("[0-9a-f]{32}", trace_id):
        raise CommandError("ID: expected the 32 hexadecimal digits of a trace")
    spans = await asyncio.to_thread(read_trace, path, trace_id)
    if not spans:
        raise CommandError(
            f"{path} does not hold this trace: `make run` and commands without --server keep the latest there"
        )
    if output.as_json:
        output.json({"spans": [_as_json(span) for span in spans]})
    else:
        for root in trees(spans):
            output.console.print(root, soft_wrap=not output.console.is_terminal)
    return 0


def trees(spans: Sequence[KeptSpan]) -> list[Tree]:
    """The spans below those that called them; several when the beginning of a trace was not kept."""
    below: Mapping[str, list[KeptSpan]] = defaultdict(list)
    known = {span.span_id for span in spans}
    for span in spans:
        below[span.parent_id if span.parent_id in known else ""].append(span)

    def grown(tree: Tree, span: KeptSpan) -> Tree:
        for child in below[span.span_id]:
            grown(tree.add(_label(child)), child)
        return tree

    return [grown(Tree(_label(root)), root) for root in below[""]]


def _label(span: KeptSpan) -> Text:
    told = "  ".join(
        f"{name.rpartition('.')[2]}={_value(value)}"
        for name, value in span.attributes.items()
        if name.startswith(SHOWN) and name not in NEVER_SHOWN and value != ""
    )
    return Text.assemble(
        (f"{span.milliseconds:9,.1f} ms  ", "cyan"),
        (visible(span.name.removeprefix("clausegate.")), "bold red" if span.failed else ""),
        (f"  {visible(told)}" if told else "", "dim"),
    )


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _as_json(span: KeptSpan) -> dict[str, object]:
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,
        "name": span.name,
        "startNanoseconds": span.start_ns,
        "milliseconds": span.milliseconds,
        "failed": span.failed,
        "attributes": dict(span.attributes),
    }
