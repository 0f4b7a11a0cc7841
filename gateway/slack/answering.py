"""Answers commands after they were acknowledged: asks, and posts what came of it, whatever it is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from chassis.auth import set_credential
from chassis.errors import InternalError, ServiceError
from chassis.limits.concurrency import SHARE
from chassis.status import upstream_errors
from chassis.telemetry import current_trace_id, span, tracer
from clausegate.answer.v1.query_service_pb2 import QueryRequest
from gateway.calls import while_wanted
from gateway.slack.blocks import Json
from gateway.slack.command import Command, Question
from gateway.slack.message import answer_message, failure_message
from gateway.slack.posting import Posts

if TYPE_CHECKING:
    from clausegate.answer.v1.query_service_pb2_grpc import QueryServiceAsyncStub

logger = logging.getLogger(__name__)
spans = tracer(__name__)

LAST_WORDS_SECONDS = 2.0
"""Time to say that the gateway stops, when it does."""
INTERNAL = "An internal error occurred. It is logged under the trace id of this call."


class Answering:
    """Runs a bounded number of commands in the background, of one workspace's key half of them at most."""

    def __init__(
        self,
        queries: QueryServiceAsyncStub,
        posts: Posts,
        cut_off: asyncio.Event,
        *,
        max_running: int,
        deadline_seconds: float,
    ) -> None:
        """Commands that still ask when `cut_off` is set are told that the gateway stops."""
        self._queries = queries
        self._posts = posts
        self._cut_off = cut_off
        self._max_running = max_running
        self._deadline_seconds = deadline_seconds
        self._running: dict[asyncio.Task[None], str] = {}

    def begin(self, command: Command, question: Question, authorization: str) -> bool:
        """Answer a command in the background, within the trace of the request; False when too many run."""
        own = list(self._running.values()).count(authorization)
        if len(self._running) >= self._max_running or own >= max(1, self._max_running // SHARE):
            return False
        task = asyncio.create_task(self._answer(command, question, authorization))
        self._running[task] = authorization
        task.add_done_callback(self._running.pop)
        return True

    async def drained(self) -> None:
        """Return when nothing runs: all have ended, or were cut off and told."""
        cut = asyncio.create_task(self._cut_off.wait())
        while self._running and not cut.done():
            await asyncio.wait([*self._running, cut], return_when=asyncio.FIRST_COMPLETED)
        cut.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=LAST_WORDS_SECONDS)
        for late in self._running:
            late.cancel()
        await asyncio.gather(cut, *self._running, return_exceptions=True)

    async def _answer(self, command: Command, question: Question, authorization: str) -> None:
        if authorization:
            set_credential(authorization)
        with span(spans, "slack answer"):
            message = await self._message(question)
            await self._posts.post(command.response_url, message)

    async def _message(self, question: Question) -> Json:
        """What there is to say: the answer, or why there is none. Raises nothing but cancellation."""
        asking = asyncio.ensure_future(while_wanted(_for_ever, self._cut_off, self._ask(question)))
        try:
            await asyncio.wait([asking])
        finally:
            asking.cancel()
        failure = asking.exception()
        if failure is None:
            return asking.result()
        if not isinstance(failure, ServiceError):
            logger.error("unexpected error", exc_info=failure)
            failure = InternalError(INTERNAL)
        return failure_message(failure, question, current_trace_id())

    async def _ask(self, question: Question) -> Json:
        request = QueryRequest(query=question.text, sources=question.sources)
        call: Any = self._queries.Query(request, timeout=self._deadline_seconds)
        try:
            with upstream_errors():
                return answer_message(await call, question)
        finally:
            call.cancel()


async def _for_ever() -> MutableMapping[str, Any]:
    """The client of a background answer has gone long ago, and waits elsewhere."""
    await asyncio.Event().wait()
    raise AssertionError
