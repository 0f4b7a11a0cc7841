"""What `ask --each` prints: documents by questions, each cell a quote with its place, or why none."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.text import Text

from clausegate import EachOptions
from clausegate.answer.v1.answer_pb2 import Outcome
from clausegate.answer.v1.query_service_pb2 import EachBegun, EachCell, EachCompleted
from cli.connection import Services
from cli.errors import CommandError
from cli.files import write_text
from cli.naming import documents_named
from cli.output import Output, as_dict, counted
from cli.passages import reflow, visible
from cli.running import FAILED
from cli.tables import print_table

SILENT = "silent"
UNCLEAR = "unclear"
OPENS_FORMULA = ("=", "+", "-", "@")
"""With these a cell is a formula to programs for tables."""
STYLES = {Outcome.OUTCOME_ANSWERED: "green", Outcome.OUTCOME_RELATED: "yellow"}


@dataclass(slots=True)
class Asked:
    """What came of asking each document."""

    queries: Sequence[str]
    begun: EachBegun = field(default_factory=EachBegun)
    cells: dict[tuple[str, int], EachCell] = field(default_factory=dict)
    completed: EachCompleted | None = None


async def ask_each(
    services: Services, queries: Sequence[str], options: EachOptions, file: Path | None, output: Output
) -> int:
    """Ask and print, or write the table to a file; the exit code is 1 when a cell failed."""
    asked = await _asked(services, queries, options, output)
    assert asked.completed is not None
    if file is not None:
        write_text(file, _csv(asked))
    if output.as_json:
        output.json(_document(asked))
    elif file is None:
        _print(asked, output)
    output.notes([_summary(asked.completed, len(asked.begun.documents))])
    return FAILED if asked.completed.failed else 0


async def _asked(services: Services, queries: Sequence[str], options: EachOptions, output: Output) -> Asked:
    asked = Asked(queries)
    with output.errors.status("starting" if services.server is None else "asking") as status:
        async with services.connected() as client:
            options["document_ids"] = await documents_named(client, options["document_ids"])
            async for event in client.query_each(queries, **options):
                if event.HasField("begun"):
                    asked.begun = event.begun
                elif event.HasField("cell"):
                    asked.cells[event.cell.document_id, event.cell.query] = event.cell
                elif event.HasField("completed"):
                    asked.completed = event.completed
                status.update(f"{len(asked.cells):,} of {asked.begun.cells:,}")
    if asked.completed is None:
        raise CommandError("the answers ended before they were complete; please repeat the question")
    return asked


def said(cell: EachCell) -> str:
    """A cell in words: its quote and where it stands, or why there is none."""
    if cell.error_reason:
        return f"failed: {cell.error_reason}"
    if cell.outcome == Outcome.OUTCOME_REFUSED:
        return SILENT
    if cell.outcome != Outcome.OUTCOME_ANSWERED:
        return UNCLEAR
    return f"“{reflow(cell.statement.text)}” ({_place(cell)})"


def _place(cell: EachCell) -> str:
    citation = cell.citations[0]
    page = f", p. {citation.page}" if citation.HasField("page") else ""
    return f"{reflow(citation.section)}{page}"


def _rows(asked: Asked) -> Iterator[list[str]]:
    """A line for each document: its id, what it is called, and its cells."""
    for document in asked.begun.documents:
        cells = [said(asked.cells[document.document_id, number]) for number in range(len(asked.queries))]
        yield [document.document_id, reflow(document.label), *cells]


def _csv(asked: Asked) -> str:
    """The table as RFC 4180 has it; words of documents open no formula."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(["document", "title", *map(_inert, asked.queries)])
    table.writerows([_inert(visible(cell)) for cell in row] for row in _rows(asked))
    return written.getvalue()


def _inert(cell: str) -> str:
    return f"'{cell}" if cell.lstrip().startswith(OPENS_FORMULA) else cell


def _print(asked: Asked, output: Output) -> None:
    """A table of the documents for each question; in a pipe a line for each document."""
    if not output.console.is_terminal:
        print_table(output.console, (), _rows(asked))
        return
    for number, query in enumerate(asked.queries):
        output.console.print(Text(reflow(query), "bold"))
        rows = (
            (Text(reflow(document.label), "cyan"), _styled(asked.cells[document.document_id, number]))
            for document in asked.begun.documents
        )
        print_table(output.console, ("Document", "Answer"), rows)


def _styled(cell: EachCell) -> Text:
    return Text(visible(said(cell)), "bold red" if cell.error_reason else STYLES.get(cell.outcome, "dim"))


def _summary(completed: EachCompleted, documents: int) -> str:
    counts = (
        (completed.answered, "answered"),
        (completed.related, UNCLEAR),
        (completed.refused, SILENT),
        (completed.failed, "failed"),
    )
    return f"{counted(documents, 'document')}: {', '.join(f'{count:,} {what}' for count, what in counts)}"


def _document(asked: Asked) -> dict[str, object]:
    """The events as one JSON document."""
    assert asked.completed is not None
    return {
        "queries": list(asked.queries),
        "documents": [as_dict(document) for document in asked.begun.documents],
        "cells": [as_dict(cell) for cell in asked.cells.values()],
        "completed": as_dict(asked.completed),
    }
