"""Stands between two services and lets a test do something at the moment of a call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import grpc

from chassis.channel import open_channel

Before = Callable[[str], Awaitable[None]]


class _Relay(grpc.GenericRpcHandler):
    """Passes unary calls on as they are, errors too."""

    def __init__(self, channel: grpc.aio.Channel, before: Before) -> None:
        self._channel = channel
        self._before = before

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        async def pass_on(request: bytes, context: grpc.aio.ServicerContext) -> bytes:
            await self._before(call.method.rsplit("/", 1)[-1])
            try:
                return await self._channel.unary_unary(call.method)(request, timeout=20)
            except grpc.aio.AioRpcError as error:
                trailing = tuple(error.trailing_metadata() or ())
                return await context.abort(error.code(), error.details() or "", trailing)

        return grpc.unary_unary_rpc_method_handler(pass_on)


@asynccontextmanager
async def relay(address: str, before: Before) -> AsyncIterator[str]:
    """The address of a relay to `address`; `before` is awaited with the name of each method called."""
    async with open_channel(address) as channel:
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        server.add_generic_rpc_handlers((_Relay(channel, before),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            await server.stop(0)
