"""Runs gRPC services: traced, for known callers, our errors mapped, with health and a graceful end."""

from __future__ import annotations

import asyncio
import inspect
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio
from grpc_reflection.v1alpha import reflection
from opentelemetry.instrumentation.grpc import aio_server_interceptor

from chassis.addresses import check_bindable
from chassis.api_keys import ApiKeys
from chassis.auth import AUTHORIZATION, LOCAL, set_caller, set_credential
from chassis.deadlines import set_deadline
from chassis.errors import ServiceError, Unauthenticated, Unimplemented
from chassis.readiness import Readiness
from chassis.status import abort_of

logger = logging.getLogger(__name__)

HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
NOT_OFFERED = "This server does not offer this call; it may be of another version."
READ_ON_SECONDS = 2.0
"""How long at most a caller that is still writing keeps a call that has failed from ending."""
READ_ON_IDLE_SECONDS = 0.1
"""A caller that has written nothing for as long is not writing."""
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
LIVENESS = "liveness"
"""What health calls SERVING for as long as the process answers at all: one that waits for its store is not to
be restarted for it."""
CONNECTION_AGE_MS = 60_000
"""A client looks its server's name up again only when it loses a connection, so it would never find replicas
that were added. After this time, give or take a tenth, it is asked to connect anew; running calls go on."""
OPTIONS = [
    ("grpc.so_reuseport", 0),
    ("grpc.max_connection_age_ms", CONNECTION_AGE_MS),
    # Channels ping every 10 s while calls run; by default a server that is pinged within 5 minutes ends them.
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
]


@dataclass(frozen=True, slots=True)
class Services:
    """What one wiring offers to a server."""

    names: tuple[str, ...]
    """Full names, e.g. `clausegate.answer.v1.QueryService`, for health and reflection."""
    register: Callable[[grpc.aio.Server], None]
    """Adds the servicers to a server."""
    readiness: Readiness = field(default_factory=Readiness)
    """Whether they can do their work."""


@asynccontextmanager
async def serving(
    address: str, offered: Sequence[Services], drain_seconds: float, keys: ApiKeys | None = None
) -> AsyncIterator[str]:
    """Serve on `host:port` (port 0: any free one) or `unix:path`; yields the address as bound.

    With `keys`, every call but those of gRPC health needs one of them.

    Health follows the readiness of what is offered; the server as a whole (the empty name) is serving while
    all of it is, `liveness` always. Leaving it reports NOT_SERVING, lets running calls go on for
    `drain_seconds`, then cancels them.
    Raises `AddressRefused` unless there are keys or the address is local, and `OSError` when it is taken.
    """
    check_bindable(address, keys_configured=keys is not None)
    server = grpc.aio.server(
        interceptors=[aio_server_interceptor(), ErrorInterceptor(), CallerInterceptor(keys)],
        options=OPTIONS,
    )
    health = health_aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    names = [name for services in offered for name in services.names]
    for services in offered:
        services.register(server)
    reflection.enable_server_reflection([*names, HEALTH, reflection.SERVICE_NAME], server)
    bound = _bind(server, address)
    await server.start()
    await health.set(LIVENESS, SERVING)
    for each in offered:
        await _tell(each, offered, health)
    watching = [asyncio.create_task(_report(each, offered, health)) for each in offered]
    try:
        yield bound
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        await health.enter_graceful_shutdown()
        await server.stop(drain_seconds)


async def _report(services: Services, offered: Sequence[Services], health: health_aio.HealthServicer) -> None:
    """Let health follow the readiness of some of the services that are offered."""
    async for _ in services.readiness.states():
        await _tell(services, offered, health)


async def _tell(services: Services, offered: Sequence[Services], health: health_aio.HealthServicer) -> None:
    for name in services.names:
        await health.set(name, SERVING if services.readiness.ready else NOT_SERVING)
    everything = all(each.readiness.ready for each in offered)
    await health.set("", SERVING if everything else NOT_SERVING)


def _bind(server: grpc.aio.Server, address: str) -> str:
    try:
        port = server.add_insecure_port(address)
    except RuntimeError as failure:
        raise OSError(f"cannot bind {address}") from failure
    return address if address.startswith("unix:") else f"{address.rpartition(':')[0]}:{port}"


async def stop_requested() -> None:
    """Return when the process is asked to stop (SIGTERM or SIGINT)."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked.set)
    await asked.wait()


Handler = Any  # grpc.RpcMethodHandler of whatever messages the method has
Continuation = Callable[[grpc.HandlerCallDetails], Awaitable[Handler]]


class CallerInterceptor(grpc.aio.ServerInterceptor):
    """Finds out who calls before anything of the call is read; only gRPC health serves everybody."""

    def __init__(self, keys: ApiKeys | None) -> None:
        """Without keys everybody is `LOCAL`."""
        self._keys = keys

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler:
        """The handler of one call, or one that refuses it."""
        if not handler_call_details.method.startswith(f"/{HEALTH}/"):
            try:
                self._identify(handler_call_details)
            except Unauthenticated as error:
                return _failing(error)
        return await continuation(handler_call_details)

    def _identify(self, details: grpc.HandlerCallDetails) -> None:
        """Say whose the running call is. Only a credential that was checked goes on to other services: one
        that these would take and this one does not know must not meet what is kept here for `LOCAL`."""
        if self._keys is None:
            set_caller(LOCAL)
            return
        values = [str(value) for key, value in details.invocation_metadata or () if key == AUTHORIZATION]
        set_caller(self._keys.caller_of(values))
        set_credential(values[0])


class ErrorInterceptor(grpc.aio.ServerInterceptor):
    """Turns our errors into statuses, anything else into INTERNAL, and keeps the deadline at hand."""

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler:
        """Wrap the handler of one call."""
        handler = await continuation(handler_call_details) or _failing(Unimplemented(NOT_OFFERED))
        if handler.response_streaming:
            make, behaviour = _stream_factory(handler), _guarded_stream(_behaviour(handler))
        else:
            make, behaviour = _unary_factory(handler), _guarded_unary(_behaviour(handler))
        return make(behaviour, handler.request_deserializer, handler.response_serializer)


def _behaviour(handler: Any) -> Any:
    return handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream


def _unary_factory(handler: Any) -> Any:
    streams = handler.request_streaming
    return grpc.stream_unary_rpc_method_handler if streams else grpc.unary_unary_rpc_method_handler


def _stream_factory(handler: Any) -> Any:
    streams = handler.request_streaming
    return grpc.stream_stream_rpc_method_handler if streams else grpc.unary_stream_rpc_method_handler


def _guarded_unary(behaviour: Any) -> Any:
    async def guarded(request: Any, context: Any) -> Any:
        set_deadline(context.time_remaining())
        try:
            return await behaviour(request, context)
        except Exception as error:  # noqa: BLE001 - the one place where any error becomes a status
            await _read_on(request)
            await _abort(context, error)

    return guarded


def _guarded_stream(behaviour: Any) -> Any:
    async def guarded(request: Any, context: Any) -> AsyncIterator[Any]:
        set_deadline(context.time_remaining())
        try:
            responses = behaviour(request, context)
            if inspect.iscoroutine(responses):  # it writes to the context itself, as gRPC health does
                await responses
                return
            async for response in responses:
                yield response
        except Exception as error:  # noqa: BLE001 - the one place where any error becomes a status
            await _read_on(request)
            await _abort(context, error)

    return guarded


async def _read_on(request: Any) -> None:
    """Take what the caller of a call that takes a stream still sends, for a while.

    grpc.aio tells a caller that is writing when its call ends INTERNAL, whatever the status is (measured: in
    39 of 40 calls that wrote batches of 300 kB).
    """
    if not isinstance(request, AsyncIterator):
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(READ_ON_SECONDS):
            while await asyncio.wait_for(anext(request, None), READ_ON_IDLE_SECONDS) is not None:
                pass


def _failing(error: ServiceError) -> Handler:
    """A handler that fits a call of any kind: it reads nothing, and fails."""

    async def fail(requests: Any, context: Any) -> None:
        raise error

    return grpc.stream_unary_rpc_method_handler(fail)


async def _abort(context: Any, error: Exception) -> None:
    if isinstance(error, grpc.aio.AbortError):
        raise error
    if isinstance(error, NotImplementedError) and context.code() is grpc.StatusCode.UNIMPLEMENTED:
        # So says generated code of a call that its servicer does not have.
        error = Unimplemented(NOT_OFFERED)
    if not isinstance(error, ServiceError):
        logger.exception("unexpected error", exc_info=error)
        error = ServiceError("An internal error occurred. It is logged under the trace id of this call.")
    abort = abort_of(error)
    await context.abort(abort.code, abort.message, abort.trailing_metadata)
