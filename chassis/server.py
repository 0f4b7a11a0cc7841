"""Runs gRPC services: traced, for known callers, our errors mapped, with health and a graceful end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio
from grpc_reflection.v1alpha import reflection

from chassis.access import Load
from chassis.addresses import check_bindable
from chassis.interceptors import HEALTH, CallerInterceptor, ErrorInterceptor
from chassis.limits.interceptor import LimitInterceptor
from chassis.limits.settings import LimitSettings
from chassis.policy import LOCAL_POLICY, ServerPolicy
from chassis.readiness import Readiness
from chassis.tls import Tls, server_credentials
from chassis.tracing import ServerTracing

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
LIVENESS = "liveness"
"""What health calls SERVING for as long as the process answers at all: one that waits for its store is not to
be restarted for it."""
CONNECTION_AGE_MS = 60_000
"""A client looks its server's name up again only when it loses a connection, so it would never find replicas
that were added. After this time, give or take a tenth, it is asked to connect anew; running calls go on."""
SILENT_CONNECTION_MS = 10_000
"""What a connection gets to begin with HTTP/2, to acknowledge our settings, and to answer a ping: one every
30 s while calls run on it."""
CANCELLING_MS = 10_000
"""What calls on an old connection get beyond their own time before it is closed under them."""


@dataclass(frozen=True, slots=True)
class Services:
    """What one wiring offers to a server."""

    names: tuple[str, ...]
    """Full names, e.g. `clausegate.answer.v1.QueryService`, for health and reflection."""
    register: Callable[[grpc.aio.Server], None]
    """Adds the servicers to a server."""
    readiness: Readiness = field(default_factory=Readiness)
    """Whether they can do their work."""
    also: Mapping[str, Readiness] = field(default_factory=dict)
    """What some of them need besides, by name."""
    before_others: Callable[[], Awaitable[object]] | None = None
    """To be called once the services reach each other, and, if that can be, before others reach them."""

    def serves(self, name: str) -> bool:
        """Whether one of them can do its work."""
        return self.readiness.ready and (name not in self.also or self.also[name].ready)

    @property
    def serves_all(self) -> bool:
        """Whether all of them can."""
        return self.readiness.ready and all(map(self.serves, self.names))


@asynccontextmanager
async def serving(
    address: str, offered: Sequence[Services], policy: ServerPolicy = LOCAL_POLICY
) -> AsyncIterator[str]:
    """Serve on `host:port` (port 0: any free one; by TLS if the policy has it) or `unix:path`; yields the
    address as bound.

    With credentials, every call but those of gRPC health needs one, of a scope that opens it.

    Health follows the readiness of what is offered; the server as a whole (the empty name) is serving while
    all of it is, `liveness` always. Leaving it reports NOT_SERVING, lets running calls go on for the
    policy's `drain_seconds`, then cancels them.
    Raises `AddressRefused` unless there are credentials or the address is local, and `OSError` when it is
    taken.
    """
    check_bindable(address, credentials_configured=policy.credentials is not None)
    health = health_aio.HealthServicer()
    server = _server(offered, policy, health)
    bound = _bind(server, address, policy.tls)
    await server.start()
    await health.set(LIVENESS, SERVING)
    for services in offered:
        await _tell(services, offered, health)
    watching = [
        asyncio.create_task(_report(readiness, services, offered, health))
        for services in offered
        for readiness in (services.readiness, *services.also.values())
    ]
    try:
        yield bound
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        await health.enter_graceful_shutdown()
        await server.stop(policy.drain_seconds)


def _server(
    offered: Sequence[Services], policy: ServerPolicy, health: health_aio.HealthServicer
) -> grpc.aio.Server:
    names = [name for services in offered for name in services.names]
    server = grpc.aio.server(
        interceptors=[
            ServerTracing(names),
            ErrorInterceptor(),
            CallerInterceptor(policy.credentials, policy.limits.max_head_bytes, policy.index_keys),
            LimitInterceptor(policy.limits),
        ],
        options=_options(policy.limits),
    )
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    for services in offered:
        services.register(server)
    reflection.enable_server_reflection([*names, HEALTH, reflection.SERVICE_NAME], server)
    return server


def _options(limits: LimitSettings) -> list[tuple[str, int]]:
    longest_ms = round(1000 * max(map(limits.seconds, Load)))
    return [
        ("grpc.so_reuseport", 0),
        ("grpc.max_connection_age_ms", CONNECTION_AGE_MS),
        ("grpc.max_connection_age_grace_ms", longest_ms + CANCELLING_MS),
        # Channels ping every 10 s while calls run; by default a server that is pinged within 5 minutes ends
        # them.
        ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", SILENT_CONNECTION_MS),
        ("grpc.server_handshake_timeout_ms", SILENT_CONNECTION_MS),
        ("grpc.http2.settings_timeout", SILENT_CONNECTION_MS),
        ("grpc.max_allowed_incoming_connections", limits.max_connections),
        ("grpc.max_concurrent_streams", limits.max_connection_streams),
        # Beyond the first some calls are refused by chance, beyond the second all, of who knows of it.
        ("grpc.max_metadata_size", limits.max_head_bytes),
        ("grpc.absolute_max_metadata_size", limits.max_head_bytes),
        ("grpc.max_receive_message_length", limits.max_message_bytes),
    ]


async def _report(
    readiness: Readiness, services: Services, offered: Sequence[Services], health: health_aio.HealthServicer
) -> None:
    """Let health follow a readiness of some of the services that are offered."""
    async for _ in readiness.states():
        await _tell(services, offered, health)


async def _tell(services: Services, offered: Sequence[Services], health: health_aio.HealthServicer) -> None:
    for name in services.names:
        await health.set(name, SERVING if services.serves(name) else NOT_SERVING)
    everything = all(service.serves_all for service in offered)
    await health.set("", SERVING if everything else NOT_SERVING)


def _bind(server: grpc.aio.Server, address: str, tls: Tls | None) -> str:
    try:
        if tls is None or address.startswith("unix:"):
            port = server.add_insecure_port(address)
        else:
            port = server.add_secure_port(address, server_credentials(tls))
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
