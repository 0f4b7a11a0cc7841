"""The command that researches: verbatim passages that bear on a question, then what they say together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from clausegate import SnippetOptions
from clausegate.answer.v1.research_service_pb2 import (
    Snippet,
    SnippetsDone,
    UnverifiedSnippets,
)
from cli.connection import Services
from cli.costs import footer
from cli.errors import CommandError
from cli.naming import documents_named
from cli.output import Output, counted
from cli.panels import framed, place, question_text, section
from cli.parameters import DEFAULT_DATA, Data, Documents, Json, MaxCost, Server, Sources, split
from cli.passages import Barred, name_of, reflow
from cli.running import REFUSED, run

app = typer.Typer()

ALL_SOURCES = "-"


@app.command()
def snippets(  # noqa: PLR0913 - the options of a command are its parameters
    question: str,
    project: Annotated[
        str, typer.Option(metavar="ID", help="Search this project's sources; - is all sources.")
    ] = ALL_SOURCES,
    sources: Sources = "",
    document: Documents = None,
    top: Annotated[int, typer.Option("--top", min=1, max=8, help="Snippets to show.")] = 8,
    flag_unverified: Annotated[
        bool, typer.Option("--flag-unverified", help="Show, marked, what a model misquoted; else drop it.")
    ] = False,
    max_cost: MaxCost = None,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Show verbatim passages that bear on a question, or none (exit code 3)."""
    output = Output(json)
    unverified = UnverifiedSnippets.UNVERIFIED_SNIPPETS_DROP
    if flag_unverified:
        unverified = UnverifiedSnippets.UNVERIFIED_SNIPPETS_FLAG
    options = SnippetOptions(
        source_ids=split(sources),
        max_snippets=top,
        unverified=unverified,
        max_cost_usd=max_cost,
    )
    asked = Asked(question, project, document or [])
    run(_snippets(Services(server, data), asked, options, output), output)


@dataclass(frozen=True, slots=True)
class Asked:
    """A research question, and where it is asked."""

    question: str
    project: str
    documents: Sequence[str]
    """Named by the user."""


async def _snippets(services: Services, asked: Asked, options: SnippetOptions, output: Output) -> int:
    with output.errors.status("searching"):
        async with services.connected() as client:
            chosen = await documents_named(client, asked.documents)
            options["source_ids"] = [*options["source_ids"], *chosen]
            stream = client.snippets(asked.question, project=asked.project, **options)
            events = [event async for event in stream]
    if not (events and events[-1].HasField("done")):
        raise CommandError("the research ended before it was complete; please repeat the question")
    done = events[-1].done
    if output.as_json:
        output.json(done)
    elif output.console.is_terminal:
        output.console.print(snippets_panel(done, asked.question))
    else:
        output.verbatim("\n".join(snippet_lines(done)))
        output.notes(_notes(done))
    return REFUSED if done.no_results else 0


def snippets_panel(done: SnippetsDone, question: str) -> RenderableType:
    """Everything that was found, for a terminal."""
    colour = "yellow" if done.no_results else "green"
    title = Text("Nothing found" if done.no_results else "Snippets", f"bold {colour}")
    content = [
        question_text(question),
        *(part for number, snippet in enumerate(done.snippets, 1) for part in _snippet(number, snippet)),
        *section("Together", [Text(reflow(done.summary))]),
        *section("The model", (Text.assemble(("! ", "bold yellow"), note) for note in _notes(done))),
    ]
    cached = " · from the cache" if done.cached else ""
    return framed(title, content, footer(done.metadata, done.usage) + cached, colour)


def _snippet(number: int, snippet: Snippet) -> Iterator[RenderableType]:
    yield Text()
    head = Text.assemble(
        (f"[{number}] ", "bold blue"), place(_document(snippet), snippet.source_location, _page(snippet))
    )
    yield head if snippet.verified else head.append(" not found in the documents", "bold red")
    yield Barred(Text(_whole(snippet)), "cyan" if snippet.verified else "red")
    for note in snippet.notes:
        yield Padding(Text.assemble(("! ", "bold yellow"), reflow(note.text)), (0, 0, 0, 2))
    if snippet.relevance:
        yield Padding(Text(reflow(snippet.relevance), "dim"), (0, 0, 0, 2))


def _whole(snippet: Snippet) -> str:
    """The snippet between what leads into it and the conditions after it: alone it may say the opposite."""
    parts = (snippet.context_before, snippet.content, snippet.context_after)
    return " … ".join(reflow(part) for part in parts if part)


def _document(snippet: Snippet) -> str:
    return name_of(snippet.citation) or snippet.source_title


def _page(snippet: Snippet) -> str:
    return f"page {snippet.citation.page}" if snippet.citation.HasField("page") else ""


def _notes(done: SnippetsDone) -> Iterator[str]:
    if done.dropped_snippets:
        snippets = counted(done.dropped_snippets, "snippet")
        yield f"{snippets} of the model left out: the words do not stand in the documents"


def snippet_lines(done: SnippetsDone) -> Iterator[str]:
    """The same for a pipe: a block of lines a snippet, and the summary last."""
    for number, snippet in enumerate(done.snippets, 1):
        page = f", {_page(snippet)}" if _page(snippet) else ""
        doubt = "" if snippet.verified else " (not found in the documents)"
        yield f"[{number}] {reflow(_document(snippet))} › {reflow(snippet.source_location)}{page}{doubt}"
        yield _whole(snippet)
        yield from (f"! {reflow(note.text)}" for note in snippet.notes)
        if snippet.relevance:
            yield f"— {reflow(snippet.relevance)}"
        yield ""
    yield reflow(done.summary)
