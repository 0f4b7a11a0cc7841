"""ProjectService on the wire: messages to values, one call, values to messages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import grpc

from chassis.auth import current_caller
from clausegate.retrieval.v1 import project_service_pb2 as wire
from clausegate.retrieval.v1.project_service_pb2_grpc import ProjectServiceServicer
from corpus.codec import to_message
from services.retrieval import projects
from services.retrieval.indexes import Indexes
from services.retrieval.queries import MAX_PAGE, count
from services.retrieval.store.records import Records

Context = grpc.aio.ServicerContext[object, object]


class ProjectServicer(ProjectServiceServicer):
    """Serves each caller its projects."""

    def __init__(self, indexes: Indexes, now: Callable[[], datetime]) -> None:
        self._indexes = indexes
        self._now = now

    async def CreateProject(  # noqa: N802
        self, request: wire.CreateProjectRequest, context: Context
    ) -> wire.CreateProjectResponse:
        """Create a project."""
        new = projects.project(request.project_id, request.display_name, request.sources, self._now())
        created = await projects.create(await self._records(), new)
        return wire.CreateProjectResponse(project=to_message(created, wire.Project))

    async def GetProject(  # noqa: N802
        self, request: wire.GetProjectRequest, context: Context
    ) -> wire.GetProjectResponse:
        """Read one project."""
        found = await projects.read(await self._records(), request.project_id)
        return wire.GetProjectResponse(project=to_message(found, wire.Project))

    async def ListProjects(  # noqa: N802
        self, request: wire.ListProjectsRequest, context: Context
    ) -> wire.ListProjectsResponse:
        """Read a page of projects."""
        size = count(request.page_size, "page_size", default=50, limit=MAX_PAGE)
        page = await projects.list_projects(await self._records(), size, request.page_token)
        return wire.ListProjectsResponse(
            projects=[to_message(project, wire.Project) for project in page.items],
            next_page_token=page.next_token,
        )

    async def UpdateProject(  # noqa: N802
        self, request: wire.UpdateProjectRequest, context: Context
    ) -> wire.UpdateProjectResponse:
        """Replace a project."""
        changed = projects.project(request.project_id, request.display_name, request.sources, self._now())
        updated = await projects.update(await self._records(), changed)
        return wire.UpdateProjectResponse(project=to_message(updated, wire.Project))

    async def DeleteProject(  # noqa: N802
        self, request: wire.DeleteProjectRequest, context: Context
    ) -> wire.DeleteProjectResponse:
        """Delete a project."""
        await projects.delete(await self._records(), request.project_id)
        return wire.DeleteProjectResponse()

    async def _records(self) -> Records:
        index = await self._indexes.of(current_caller())
        return index.store.records
