"""Projects: named sets of sources, which need not have documents yet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from chassis.errors import AlreadyExists, InvalidInput, NotFound
from chassis.names import is_one_line
from services.retrieval.corpus import Project, ProjectId
from services.retrieval.paging import Page, page_of, page_position
from services.retrieval.queries import at_most, visible
from services.retrieval.store.records import Records

MAX_SOURCES = 100
MAX_DISPLAY_NAME = 200
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_SOURCE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class ProjectNotFound(NotFound):
    """No project has this id."""

    reason = "PROJECT_NOT_FOUND"

    def __init__(self, project_id: str) -> None:
        super().__init__(f"There is no such project: {project_id}", field="project_id")


class ProjectExists(AlreadyExists):
    """A project with this id exists."""

    reason = "PROJECT_EXISTS"


def project(project_id: str, display_name: str, sources: Sequence[str], now: datetime) -> Project:
    """A project as it is to be written now. Raises `InvalidInput` for the first field at fault."""
    if not _ID.fullmatch(project_id):
        raise InvalidInput(
            "Must have 1 to 64 lower-case letters, digits and `-`, the first not `-`.",
            field="project_id",
        )
    return Project(ProjectId(project_id), _line(display_name) or project_id, _sources(sources), now, now)


async def create(records: Records, new: Project) -> Project:
    """Store a new project. Raises `ProjectExists`."""
    if not await records.create_project(new):
        raise ProjectExists(f"A project has this id: {new.project_id}", field="project_id")
    return new


async def update(records: Records, changed: Project) -> Project:
    """Replace a project, all but the time of its creation. Raises `ProjectNotFound`."""
    stored = await records.update_project(changed)
    if stored is None:
        raise ProjectNotFound(changed.project_id)
    return stored


async def read(records: Records, project_id: str) -> Project:
    """The project. Raises `ProjectNotFound`."""
    found = await records.project(_required(project_id))
    if found is None:
        raise ProjectNotFound(project_id)
    return found


async def list_projects(records: Records, size: int, token: str) -> Page[Project]:
    """A page of projects by id. Raises `InvalidInput` for a foreign token."""
    after = page_position(token, "projects")
    found = await records.projects(ProjectId(after) or None, size + 1)
    return page_of(found, size, lambda project: project.project_id, "projects")


async def delete(records: Records, project_id: str) -> None:
    """Delete a project. Raises `ProjectNotFound`."""
    if not await records.delete_project(_required(project_id)):
        raise ProjectNotFound(project_id)


def _required(project_id: str) -> ProjectId:
    if not project_id:
        raise InvalidInput("Must not be empty.", field="project_id")
    return ProjectId(project_id)


def _line(text: str) -> str:
    if not text:
        return ""
    visible(text, "display_name", MAX_DISPLAY_NAME)
    if not is_one_line(text):
        raise InvalidInput("Must be one line without control characters.", field="display_name")
    return text


def _sources(sources: Sequence[str]) -> tuple[str, ...]:
    for number, source in enumerate(sources):
        if not _SOURCE.fullmatch(source):
            raise InvalidInput(
                "Must have 1 to 64 of a-z, 0-9, `-`, `_` and `.`, the first a letter or digit.",
                field=f"sources[{number}]",
            )
    distinct = at_most(sorted(set(sources)), MAX_SOURCES, "sources")
    if not distinct:
        raise InvalidInput("Must not be empty.", field="sources")
    return distinct
