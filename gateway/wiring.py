"""Builds the gateway from its settings, and serves it."""

from __future__ import annotations

import asyncio
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette

from chassis.addresses import check_bindable
from chassis.channel import open_channel
from chassis.policy import ServerPolicy, server_policy
from chassis.tls import server_context
from gateway.app import Doors, build_app
from gateway.bridge import Downstream
from gateway.connection import Connection, head_seconds
from gateway.contracts import load_contracts
from gateway.mcp.endpoint import mcp_endpoint
from gateway.settings import GatewaySettings
from gateway.slack.wiring import slack_routes

REPEATABLE_SERVICES = {
    "answer": ("clausegate.answer.v1.GroundingService",),
    "retrieval": ("clausegate.retrieval.v1.RetrievalService", "clausegate.retrieval.v1.DocumentService"),
}
"""Services whose calls may be repeated when the connection fails, by area: they neither write nor ask a chat
model. A failing model server is UNAVAILABLE too, and each repeat of a query would pay for its calls again."""

BACKLOG = 1024
"""Connections that may wait to be accepted."""
KEEP_ALIVE_SECONDS = 75
"""How long an idle connection stays open: longer than proxies keep theirs (nginx 60 s), or one sends a
request just as it is closed."""
PROBE_SECONDS = 15
"""How long a connection is silent before the system asks whether its client is there; it asks three times."""
LAST_WORDS_SECONDS = 2
"""Time that cut-off requests have to say so."""


@asynccontextmanager
async def gateway(
    settings: GatewaySettings, policy: ServerPolicy, cut_off: asyncio.Event
) -> AsyncIterator[Starlette]:
    """The ASGI application over channels to the three services, which need not be up yet.

    Requests still running when `cut_off` is set are ended. Leaving it waits for what runs in the background,
    until then at most.
    """
    addresses = {
        "ingest": settings.ingest_address,
        "retrieval": settings.retrieval_address,
        "answer": settings.answer_address,
    }
    async with AsyncExitStack() as stack:
        channels = {
            area: await stack.enter_async_context(
                open_channel(
                    address, settings.tls_files(), retried_services=REPEATABLE_SERVICES.get(area, ())
                )
            )
            for area, address in addresses.items()
        }
        slack = await stack.enter_async_context(slack_routes(settings, channels["answer"], cut_off))
        downstream = Downstream(channels, settings, cut_off)
        mcp = await stack.enter_async_context(mcp_endpoint(downstream))
        yield build_app(load_contracts(), downstream, policy, Doors(mcp, slack))


@asynccontextmanager
async def serving(settings: GatewaySettings) -> AsyncIterator[str]:
    """Serve HTTP, by TLS where the settings say so; yields the address as bound (`host:port` or `unix:path`).

    Leaving it stops accepting, lets running requests go on for `drain_seconds`, then cuts them off. Raises
    `FileBroken`, `AddressRefused` unless there are credentials or the address is local, and `OSError` when
    it is taken.
    """
    cut_off = asyncio.Event()
    async with server_policy(settings) as policy:
        check_bindable(settings.gateway_address, credentials_configured=policy.credentials is not None)
        with bound_socket(settings.gateway_address) as listener:
            _end_silence(listener, settings.client_stall_seconds)
            async with (
                gateway(settings, policy, cut_off) as app,
                _running(app, listener, policy, cut_off),
            ):
                yield _address_of(listener)


@asynccontextmanager
async def _running(
    app: Starlette, listener: socket.socket, policy: ServerPolicy, cut_off: asyncio.Event
) -> AsyncIterator[None]:
    tls = None if listener.family is socket.AF_UNIX else policy.tls
    config = uvicorn.Config(
        app,
        http=partial(Connection, policy.limits),  # type: ignore[arg-type]  # it only calls it
        h11_max_incomplete_event_size=policy.limits.max_head_bytes,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        reset_contextvars=True,  # a request sent with another's would inherit its credential and trace
        lifespan="off",
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=round(policy.drain_seconds) + LAST_WORDS_SECONDS,
        ssl_context_factory=None if tls is None else lambda config, default: server_context(tls),
    )
    server = _Server(config, head_seconds(policy.limits))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        # Answers in the background go on when the last request has ended, so it is not cancelled then.
        asyncio.get_running_loop().call_later(policy.drain_seconds, cut_off.set)
        await task


class _Server(uvicorn.Server):
    """Leaves signals to the process: uvicorn would raise them again after draining.

    And bounds the handshakes of TLS, for which uvicorn has no setting: asyncio gives them a minute.
    """

    def __init__(self, config: uvicorn.Config, handshake_seconds: float) -> None:
        super().__init__(config)
        self._handshake_seconds = handshake_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections from the one listener."""
        assert sockets is not None
        made: Any = self.config.http_protocol_class  # `Connection`, of which mypy sees a protocol's base
        connection = partial(
            made, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        seconds = None if self.config.ssl is None else self._handshake_seconds
        server = await asyncio.get_running_loop().create_server(
            connection,
            sock=sockets[0],
            backlog=self.config.backlog,
            ssl=self.config.ssl,
            ssl_handshake_timeout=seconds,
            ssl_shutdown_timeout=seconds,
        )
        self.servers = [server]
        self.started = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _end_silence(listener: socket.socket, seconds: float) -> None:
    """Let the system end connections whose client has vanished without a word, or takes nothing.

    What is set on the listener holds for what it accepts (Linux).
    """
    if listener.family is socket.AF_UNIX:  # who is at the other end vanishes with a word
        return
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, PROBE_SECONDS)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, PROBE_SECONDS)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * (seconds + PROBE_SECONDS)))


@contextmanager
def bound_socket(address: str) -> Iterator[socket.socket]:
    """A listening socket for `host:port` or `unix:path`; the path is removed at the end."""
    if address.startswith("unix:"):
        with _unix_socket(Path(address.removeprefix("unix:"))) as listener:
            yield listener
        return
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    # The protocol is named because asyncio switches off Nagle's algorithm only where it is, and without that
    # a response of two writes takes 40 ms.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bind(listener, (host, int(port)), address)
        listener.listen(BACKLOG)
        yield listener


def _bind(listener: socket.socket, place: str | tuple[str, int], address: str) -> None:
    try:
        listener.bind(place)
    except OSError as error:
        raise OSError(f"cannot bind {address}: {error.strerror}") from error


@contextmanager
def _unix_socket(path: Path) -> Iterator[socket.socket]:
    _remove_stale(path)
    with socket.socket(socket.AF_UNIX) as listener:
        _bind(listener, str(path), f"unix:{path}")
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        listener.listen(BACKLOG)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def _remove_stale(path: Path) -> None:
    """Remove a socket that nobody serves, as a killed process leaves it."""
    if not path.is_socket():
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()


def _address_of(listener: socket.socket) -> str:
    name = listener.getsockname()
    if isinstance(name, str):
        return f"unix:{name}"
    return f"[{name[0]}]:{name[1]}" if ":" in name[0] else f"{name[0]}:{name[1]}"
