"""Builds what answers Slack, when the settings ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
from starlette.routing import Route

from clausegate.answer.v1.query_service_pb2_grpc import QueryServiceStub
from gateway.settings import GatewaySettings
from gateway.slack.answering import Answering
from gateway.slack.endpoint import slack_route
from gateway.slack.files import SlackFiles
from gateway.slack.posting import posting


@asynccontextmanager
async def slack_routes(
    settings: GatewaySettings, answer: grpc.aio.Channel, cut_off: asyncio.Event
) -> AsyncIterator[tuple[Route, ...]]:
    """The route of the slash command; none without a file of signing secrets.

    Leaving it waits for the answers under way; those that are not there when `cut_off` is set are told that
    the gateway stops. Raises `SlackFileBroken`.
    """
    secrets, workspaces = settings.slack_signing_secrets_file, settings.slack_workspaces_file
    if secrets is None or workspaces is None:
        yield ()
        return
    files = SlackFiles(secrets, workspaces)
    files.check()
    async with posting(frozenset(settings.slack_response_origins.split(",")), cut_off) as posts:
        answering = Answering(
            QueryServiceStub(answer),
            posts,
            cut_off,
            max_running=settings.slack_max_running,
            deadline_seconds=settings.slack_deadline_seconds,
        )
        try:
            yield (slack_route(files, posts, answering),)
        finally:
            await answering.drained()
