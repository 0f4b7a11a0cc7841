"""A channel by TLS that takes new certificates: gRPC keeps those that a channel was made with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc

from chassis.tls import Pem, Tls, channel_credentials

Open = Callable[[grpc.ChannelCredentials], grpc.aio.Channel]


class TlsChannel(grpc.aio.Channel):
    """Calls go over a channel made with the certificates of their moment."""

    def __init__(self, tls: Tls, open_with: Open) -> None:
        self._tls = tls
        self._open = open_with
        self._pem: Pem | None = None
        self._former: grpc.aio.Channel | None = None
        self._current = self.latest()

    def latest(self) -> grpc.aio.Channel:
        """The channel for a call that begins now.

        Calls that run while certificates change go on over the former one, kept until the next change.
        """
        pem = self._tls.pem()
        if pem is not self._pem:
            if self._pem is not None:
                self._former = self._current
            self._current, self._pem = self._open(channel_credentials(pem)), pem
        return self._current

    async def __aenter__(self) -> TlsChannel:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Cancel what runs after `grace` seconds."""
        if self._former is not None:
            await self._former.close(grace)
        await self._current.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """State of the latest channel."""
        return self.latest().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait until the state of the latest channel changes."""
        await self.latest().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait until the latest channel is connected."""
        await self.latest().channel_ready()

    def unary_unary(self, *arguments: Any, **named: Any) -> Any:
        """Make a callable for an RPC, as every channel does."""
        return _Method(self, "unary_unary", arguments, named)

    def unary_stream(self, *arguments: Any, **named: Any) -> Any:
        """Make a callable for an RPC, as every channel does."""
        return _Method(self, "unary_stream", arguments, named)

    def stream_unary(self, *arguments: Any, **named: Any) -> Any:
        """Make a callable for an RPC, as every channel does."""
        return _Method(self, "stream_unary", arguments, named)

    def stream_stream(self, *arguments: Any, **named: Any) -> Any:
        """Make a callable for an RPC, as every channel does."""
        return _Method(self, "stream_stream", arguments, named)


class _Method:
    """What stubs call; it follows the channel."""

    def __init__(self, channel: TlsChannel, kind: str, arguments: Any, named: Any) -> None:
        self._channel = channel
        self._description = kind, arguments, named
        self._made_by: grpc.aio.Channel | None = None
        self._call: Any = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        channel = self._channel.latest()
        if channel is not self._made_by:
            kind, described, options = self._description
            self._call, self._made_by = getattr(channel, kind)(*described, **options), channel
        return self._call(*arguments, **named)
