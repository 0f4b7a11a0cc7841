"""The commands of projects: named sets of sources."""

from __future__ import annotations

from typing import Annotated

import typer

from clausegate.retrieval.v1.project_service_pb2 import Project
from cli.connection import Services
from cli.output import Output, as_dict
from cli.parameters import DEFAULT_DATA, Data, Json, Server, split
from cli.running import run
from cli.tables import print_projects

app = typer.Typer()
projects = typer.Typer(no_args_is_help=True, help="Name sets of sources to research in.")
app.add_typer(projects, name="projects")

Id = Annotated[str, typer.Argument(metavar="ID", help="Lower-case letters, digits and -.")]
Name = Annotated[str | None, typer.Option(metavar="TEXT", help="What people call it.")]


@projects.command("list")
def list_projects(server: Server = None, data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """List all projects."""
    output = Output(json)

    async def work() -> int:
        async with Services(server, data).connected() as client:
            found = [project async for project in client.projects()]
        if json:
            output.json({"projects": [as_dict(project) for project in found]})
        else:
            print_projects(output.console, found)
        return 0

    run(work(), output)


@projects.command()
def show(project_id: Id, server: Server = None, data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """Show one project."""
    output = Output(json)

    async def work() -> int:
        async with Services(server, data).connected() as client:
            return _shown(await client.get_project(project_id), output)

    run(work(), output)


@projects.command()
def create(
    project_id: Id,
    sources: Annotated[str, typer.Option(metavar="A,B", help="Its sources.")],
    name: Name = None,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Create a project."""
    output = Output(json)

    async def work() -> int:
        async with Services(server, data).connected() as client:
            made = await client.create_project(project_id, split(sources), display_name=name or "")
        return _shown(made, output)

    run(work(), output)


@projects.command()
def update(
    project_id: Id,
    sources: Annotated[
        str | None, typer.Option(metavar="A,B", help="Its sources, instead of those it has.")
    ] = None,
    name: Name = None,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Change a project's sources or name; what is not given stays."""
    output = Output(json)

    async def work() -> int:
        async with Services(server, data).connected() as client:
            before = await client.get_project(project_id)
            changed = await client.update_project(
                project_id,
                before.sources if sources is None else split(sources),
                display_name=before.display_name if name is None else name,
            )
        return _shown(changed, output)

    run(work(), output)


@projects.command()
def delete(project_id: Id, server: Server = None, data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """Delete a project; its documents stay."""
    output = Output(json)

    async def work() -> int:
        async with Services(server, data).connected() as client:
            await client.delete_project(project_id)
        output.removed("projectId", project_id)
        return 0

    run(work(), output)


def _shown(project: Project, output: Output) -> int:
    if output.as_json:
        output.json(project)
    else:
        print_projects(output.console, [project])
    return 0
