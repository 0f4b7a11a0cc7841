"""The command that tells which models are in force: `models`."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from clausegate.answer.v1.model_service_pb2 import DescribeModelsResponse, TaskModel
from cli.connection import Services
from cli.output import Output
from cli.parameters import DEFAULT_DATA, Data, Json, Server
from cli.running import run
from cli.tables import print_table

app = typer.Typer()


@app.command()
def models(server: Server = None, data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """Tell which models are in force, where text goes for them, and what a thousand questions cost."""
    output = Output(json)
    run(_models(Services(server, data), output), output)


async def _models(services: Services, output: Output) -> int:
    async with services.connected() as client:
        found = await client.describe_models()
    if output.as_json:
        output.json(found)
        return 0
    if found.tasks:
        columns = ("Task", "Model", "Counted by", "$/M sent#", "$/M received#")
        print_table(output.console, columns, map(_row, found.tasks))
    for line in _told(found):
        output.console.print(line, markup=False, soft_wrap=True)
    return 0


def _row(task: TaskModel) -> tuple[str, ...]:
    prices = (f"{task.price.input_usd:.2f}", f"{task.price.output_usd:.2f}")
    return (task.task, task.model, task.token_encoding, *(prices if task.HasField("price") else ("–", "–")))


def _told(found: DescribeModelsResponse) -> Iterator[str]:
    if not found.chat_host:
        yield "Chat model: none; OPENAI_API_KEY, or OPENAI_BASE_URL for a server of yours, switches one on"
    yield f"Graded by: {found.grader}"
    yield f"Reader: {found.reader or 'none'}"
    where = f"at {found.embedding_host}" if found.embedding_host else "on the machine of the services"
    yield f"Embedding: {found.embedding_model}, {found.embedding_dimension:,} numbers, {where}"
    yield f"Tokens of texts for no model: {found.token_encoding}"
    yield f"Where text goes: {_destinations(found)}"
    yield f"A thousand questions: {_cost(found)}"


def _destinations(found: DescribeModelsResponse) -> str:
    places = []
    if found.chat_host:
        places.append(f"to {found.chat_host} questions with the passages found, and documents of articles")
    if found.embedding_host:
        places.append(f"to {found.embedding_host} all that is ingested, and each question")
    return "; ".join(places) or "nowhere, no model server is called"


def _cost(found: DescribeModelsResponse) -> str:
    if not found.tasks:
        return "$0, no chat model is asked"
    if not found.HasField("thousand_queries_usd"):
        return "not known: a model has no price (CLAUSEGATE_PRICES), or grades each passage by itself"
    return f"about ${found.thousand_queries_usd:,.2f} for chat models, as measured on the examples"
