"""`POST /slack/commands`: what a request passes before a question is asked on a workspace's behalf."""

from __future__ import annotations

import asyncio
import logging
import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chassis.limits.deadlines import TooSlow
from gateway.errors import BodyTooLarge
from gateway.limits import BodyLimits, check_content_type, read_body
from gateway.messages import to_json
from gateway.slack.answering import Answering
from gateway.slack.command import Command, parse_command, parse_question
from gateway.slack.files import SlackFiles
from gateway.slack.message import BUSY, HELP, LOOKING, UNKNOWN_WORKSPACE, told
from gateway.slack.posting import Posts
from gateway.slack.signature import SeenRequests, check_signature, refused

logger = logging.getLogger(__name__)

PATH = "/slack/commands"
MAX_BODY_BYTES = 64 * 1024
"""Slack's largest command is about 40 kB: 8,000 characters, most of them escaped."""
SSL_CHECK = b"ssl_check=1"
"""What Slack sends now and then, unsigned, to see whether the certificate is good; it wants a 200."""
BODY_SECONDS = 3.0
"""Slack waits so long for all of an answer."""


def slack_route(files: SlackFiles, posts: Posts, answering: Answering) -> Route:
    """The route. It needs no credential of ours: Slack's signature says who asks, a file with whose key."""
    seen = SeenRequests()

    async def answer(request: Request) -> Response:
        body = await _body(request)
        if SSL_CHECK in body.split(b"&"):
            return Response()
        check_signature(request.headers, body, files.signing_secrets(), time.time())
        check_content_type(request, "application/x-www-form-urlencoded")
        if not seen.first_time(body):
            logger.info(
                "slack command repeated", extra={"retry": request.headers.get("X-Slack-Retry-Num", "")[:8]}
            )
            return Response()
        command = parse_command(body)
        posts.check(command.response_url)
        outcome, words = _begin(command)
        logger.info("slack command", extra={"team": command.team, "user": command.user, "outcome": outcome})
        return Response(to_json(told(words)), media_type="application/json")

    def _begin(command: Command) -> tuple[str, str]:
        """What became of a command, for the log and for who gave it."""
        question = parse_question(command.text)
        if not question.text:
            return "help", HELP.format(name=command.name)
        authorization = files.authorization_of(command.team, command.enterprise)
        if authorization is None:
            return "unknown workspace", UNKNOWN_WORKSPACE.format(team=command.team)
        begun = answering.begin(command, question, authorization)
        return ("asked", LOOKING) if begun else ("busy", BUSY)

    return Route(PATH, answer, methods=["POST"])


async def _body(request: Request) -> bytes:
    """All of the body. Raises `NotFromSlack` for one that Slack would not send, in size or time."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await read_body(request, BodyLimits(MAX_BODY_BYTES, BODY_SECONDS, BODY_SECONDS))
    except BodyTooLarge as error:
        raise refused("body too large") from error
    except (TooSlow, TimeoutError) as error:
        raise refused("body too slow") from error
