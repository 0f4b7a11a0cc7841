"""Holds every call of a gRPC server to the limits: how many run, how long, and how slow its client may be."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc
from google.protobuf.message import DecodeError

from chassis.access import Load, access_of
from chassis.auth import LOCAL, current_caller
from chassis.errors import DeadlineExceeded, InvalidInput
from chassis.interceptors import HEALTH, REFLECTION, Continuation, Handler
from chassis.limits.concurrency import PART, CallLimiter, FairQueue, set_in_call, set_one_more
from chassis.limits.deadlines import set_deadline
from chassis.limits.settings import LimitSettings
from chassis.requests import check_request

PLUMBING = (f"/{HEALTH}/", f"/{REFLECTION}")
MAX_WATCHES = 256
"""Streams of reflection at once: they need no scope, and never end."""
MAX_HEALTH_WATCHES = 64
"""Streams of health at once: they need no credential, so that a stranger can have all of these."""
PARTS_AT_ONCE = 64
"""Calls that services make for calls of one subject, and that run at once here, of each load."""
PARTS_WAITING = 4096
"""And those that wait: more than the calls of a subject in some replicas cause at once."""

UNLIMITED = CallLimiter()

T = TypeVar("T")


class MalformedMessage(InvalidInput):
    """The bytes of a call are not the message that it takes, or there are none."""

    reason = "MALFORMED_REQUEST"


class LimitInterceptor(grpc.aio.ServerInterceptor):
    """Counts a call against its caller's limits, ends it in time, and waits for no client for long.

    Stands behind the one that finds out who calls. Every call is read here, message by message: gRPC itself
    would wait without end for the one message of a call that takes one.
    """

    def __init__(self, limits: LimitSettings) -> None:
        self._limits = limits
        self._calls = CallLimiter.configured(limits)
        self._watches = CallLimiter(MAX_WATCHES)
        self._health_watches = CallLimiter(MAX_HEALTH_WATCHES)
        self._parts = FairQueue("parts", PARTS_AT_ONCE, PARTS_WAITING)

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler:
        """The handler of one call, held to the limits."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        call = self._call(handler, handler_call_details)
        kinds = handler.request_deserializer, handler.response_serializer
        if handler.response_streaming:
            return grpc.stream_stream_rpc_method_handler(call.stream, *kinds)
        return grpc.stream_unary_rpc_method_handler(call.unary, *kinds)

    def _call(self, handler: Handler, details: grpc.HandlerCallDetails) -> _Call:
        load = access_of(details.method).load
        marked = any(key == PART for key, _ in details.invocation_metadata or ())
        return _Call(
            handler=handler,
            load=load,
            limiter=self._limiter_of(handler, details.method),
            # No service asks a question for a caller: such calls are always the caller's own.
            parts=self._parts if marked and load is not Load.QUERY else None,
            seconds=self._limits.seconds(load),
            stall_seconds=self._limits.client_stall_seconds,
            plumbing=details.method.startswith(PLUMBING),
        )

    def _limiter_of(self, handler: Handler, method: str) -> CallLimiter:
        if not method.startswith(PLUMBING):
            return self._calls
        if not handler.response_streaming:
            return UNLIMITED
        return self._health_watches if method.startswith(f"/{HEALTH}/") else self._watches


@dataclass(frozen=True, slots=True)
class _Call:
    """One call, and what limits it."""

    handler: Handler
    load: Load
    limiter: CallLimiter
    parts: FairQueue | None
    """Of a call that a service makes for a call which has been counted; it waits for its turn."""
    seconds: float
    stall_seconds: float
    plumbing: bool
    """Health and reflection: nobody's in particular."""

    async def unary(self, requests: AsyncIterator[Any], context: Any) -> Any:
        """Answer with one message."""
        async with self._admitted(context):
            behaviour = self.handler.unary_unary or self.handler.stream_unary
            return await behaviour(await self._request(requests), context)

    async def stream(self, requests: AsyncIterator[Any], context: Any) -> AsyncGenerator[Any]:
        """Answer with messages: written from here, to wait for none longer than may be, and not yielded."""
        async with self._admitted(context):
            behaviour = self.handler.unary_stream or self.handler.stream_stream
            responses = behaviour(await self._request(requests), context)
            if inspect.iscoroutine(responses):  # it writes to the context itself, as gRPC health does
                await responses
                return
            async with aclosing(responses):
                async for response in responses:
                    await self._in_time(context.write(response), "takes")
        return
        yield

    @asynccontextmanager
    async def _admitted(self, context: Any) -> AsyncIterator[None]:
        """Count the call while it runs, and end it in time."""
        caller = LOCAL if self.plumbing else current_caller()
        set_in_call()
        set_one_more(lambda: self.limiter.one_more(caller, self.load))
        async with self._timed(context):
            if self.parts is None:
                _when_answered(self.limiter.open(caller))
                with self.limiter.running(caller, self.load):
                    yield
            elif caller.credential_id:
                async with self.parts.turn((caller.counted_as, self.load)):
                    yield
            else:
                yield

    @asynccontextmanager
    async def _timed(self, context: Any) -> AsyncIterator[None]:
        """End the call after its time; gRPC sees to the deadline of a client that set a shorter one."""
        left = context.time_remaining()
        shortened = left is None or left > self.seconds
        set_deadline(self.seconds if shortened else left)
        try:
            async with asyncio.timeout(self.seconds if shortened else None) as timer:
                yield
        except TimeoutError as error:
            if not timer.expired():
                raise
            message = f"A call of this kind is ended after {self.seconds:g} seconds."
            raise DeadlineExceeded(message) from error

    async def _request(self, requests: AsyncIterator[Any]) -> Any:
        """What the behaviour takes: the stream of requests, or the one there is."""
        if self.handler.request_streaming:
            return self._each(requests)
        request = await self._next(requests)
        if request is None:
            raise MalformedMessage("The call carries no message.")
        return request

    async def _each(self, requests: AsyncIterator[Any]) -> AsyncGenerator[Any]:
        while (request := await self._next(requests)) is not None:
            yield request

    async def _next(self, requests: AsyncIterator[Any]) -> Any:
        """The next request as soon as it has come, None at their end."""
        try:
            request = await self._in_time(anext(requests, None), "sends")
        except DecodeError as error:
            raise MalformedMessage("The bytes are not the message that the call takes.") from error
        check_request(request)
        return request

    async def _in_time(self, work: Awaitable[T], verb: str) -> T:
        """The result of reading from or writing to the client, which is not waited for without end."""
        try:
            async with asyncio.timeout(self.stall_seconds) as timer:
                return await work
        except TimeoutError as error:
            if not timer.expired():
                raise
            message = f"The client {verb} nothing for {self.stall_seconds:g} seconds."
            raise DeadlineExceeded(message) from error


def _when_answered(close: Callable[[], None]) -> None:
    """Call `close` when the running call has ended and its client has been told how.

    That is the end of its task. A context's `add_done_callback` makes a cycle of context and call, which
    grpcio then keeps until the garbage collector comes by; such calls count as open on their connection
    meanwhile, and after `grpc.max_concurrent_streams` of them it is refused every further one.
    """
    task = asyncio.current_task()
    assert task is not None
    task.add_done_callback(lambda _: close())
