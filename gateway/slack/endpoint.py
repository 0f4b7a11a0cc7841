"""`POST /slack/commands`: what a request passes before a question is asked on a workspace's behalf."""

from __future__ import annotations

import asyncio
import logging
import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.bodies import BodyBounds, check_content_type, read_body
from gateway.errors import BodyTooLarge, BodyTooSlow
from gateway.messages import to_json
from gateway.slack.answering import Answering
from gateway.slack.command import parse_command, parse_question
from gateway.slack.files import SlackFiles
from gateway.slack.message import BUSY, HELP, LOOKING, UNKNOWN_WORKSPACE, told
from gateway.slack.posting import Posts
from gateway.slack.signature import SeenRequests, check_signature, refused

logger = logging.getLogger(__name__)

PATH = "/slack/commands"
MAX_BODY_BYTES = 64 * 1024
"""Slack's largest command is about 40 kB: 8,000 characters, most of them escaped."""
BODY_SECONDS = 3.0
"""As long as Slack waits for all of an answer."""


def slack_route(files: SlackFiles, posts: Posts, answering: Answering) -> Route:
    """The route. It needs no credential of ours: Slack's signature says who asks, a file with whose key."""
    seen = SeenRequests()

    async def answer(request: Request) -> Response:
        body = await _body(request)
        check_signature(request.headers, body, files.signing_secrets(), time.time())
        check_content_type(request, "application/x-www-form-urlencoded")
        if not seen.first_time(body):
            logger.info(
                "slack command repeated", extra={"retry": request.headers.get("X-Slack-Retry-Num", "")[:8]}
            )
            return Response()
        return _acknowledge(body)

    def _acknowledge(body: bytes) -> Response:
        command = parse_command(body)
        posts.check(command.response_url)
        logger.info("slack command", extra={"team": command.team, "user": command.user})
        question = parse_question(command.text)
        if not question.text:
            return _told(HELP.format(name=command.name))
        authorization = files.authorization_of(command.team, command.enterprise)
        if authorization is None:
            return _told(UNKNOWN_WORKSPACE.format(team=command.team))
        begun = answering.begin(command, question, authorization)
        return _told(LOOKING if begun else BUSY)

    return Route(PATH, answer, methods=["POST"])


async def _body(request: Request) -> bytes:
    """All of the body. Raises `NotFromSlack` for one that Slack would not send, in size or time."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await read_body(request, BodyBounds(MAX_BODY_BYTES, BODY_SECONDS, BODY_SECONDS))
    except BodyTooLarge as error:
        raise refused("body too large") from error
    except (BodyTooSlow, TimeoutError) as error:
        raise refused("body too slow") from error


def _told(text: str) -> Response:
    return Response(to_json(told(text)), media_type="application/json")
