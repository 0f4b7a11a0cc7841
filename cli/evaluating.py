"""The command that asks a list of questions and tells how well they were answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from clausegate import ClausegateError, Client
from cli.connection import Services
from cli.files import read_text
from cli.output import Output, counted
from cli.parameters import DEFAULT_DATA, STANDARD_INPUT, Data, Json, Server
from cli.questions import Came, ExpectedAnswer, Share, came_of, read_questions, shares
from cli.running import FAILED, run
from cli.tables import print_table

app = typer.Typer()
POOL = 12
"""Candidates looked at: as many as an answer is made from."""


@app.command()
def evaluate(
    questions: Annotated[
        str, typer.Argument(metavar="QUESTIONS", help="A JSON object a line; - is standard input.")
    ],
    concurrency: Annotated[int, typer.Option(min=1, max=32, help="Questions at a time.")] = 4,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Ask questions whose answers are known, and tell how many are found, quoted and refused.

    Exit codes: 0 all were asked, 1 a call failed.
    """
    output = Output(json)
    run(_evaluate(Services(server, data), questions, concurrency, output), output)


async def _evaluate(services: Services, name: str, concurrency: int, output: Output) -> int:
    shown = "standard input" if name == STANDARD_INPUT else name
    questions = read_questions(read_text(name), shown)
    with output.errors.status("starting" if services.server is None else "asking") as status:
        async with services.connected() as client:
            slots, done = asyncio.Semaphore(concurrency), 0

            async def ask(question: ExpectedAnswer) -> Came:
                nonlocal done
                async with slots:
                    came = await _ask(client, question)
                done += 1
                status.update(f"{done:,} of {counted(len(questions), 'question')}")
                return came

            results = await asyncio.gather(*map(ask, questions))
    figures = shares(results)
    if output.as_json:
        output.json(_document(results, figures))
    else:
        _print(results, figures, output)
    return FAILED if any(came.failure for came in results) else 0


async def _ask(client: Client, question: ExpectedAnswer) -> Came:
    """A question that fails leaves the others to be asked."""
    try:
        pool = await client.search(
            question.question, sources=question.sources, document_ids=question.document_ids, top_k=POOL
        )
        response = await client.query(
            question.question, sources=question.sources, document_ids=question.document_ids
        )
    except ClausegateError as error:
        return Came(question, "failed", failure=error.reason or error.code)
    return came_of(question, pool, response)


def _print(results: Sequence[Came], figures: Sequence[Share], output: Output) -> None:
    rows = (
        (
            came.question.id,
            came.failure or came.outcome,
            *map(_mark, (came.found, came.right_document, came.right_quote, came.terms_said)),
        )
        for came in results
    )
    print_table(output.console, ("Question", "Outcome", "Found", "Document", "Quote", "Terms"), rows)
    totals = (
        (share.name, f"{share.count:,} of {share.of:,}", f"{share.count / share.of:.3f}") for share in figures
    )
    print_table(output.console, ("All", "Count#", "Share#"), totals)


def _mark(value: bool | None) -> str:
    return "–" if value is None else "yes" if value else "no"


def _document(results: Sequence[Came], figures: Sequence[Share]) -> dict[str, object]:
    return {
        "questions": [
            {
                "id": came.question.id,
                "outcome": came.outcome,
                "failure": came.failure,
                "found": came.found,
                "rightDocument": came.right_document,
                "rightQuote": came.right_quote,
                "termsSaid": came.terms_said,
            }
            for came in results
        ],
        "figures": [{**asdict(share), "share": share.count / share.of} for share in figures],
    }
