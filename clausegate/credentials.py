"""The caller's API key on every call.

grpc has credentials of a call, but sends them over channels with TLS only. The key goes along as metadata
therefore, over TLS as well.
"""

from __future__ import annotations

from typing import Any

import grpc.aio


class _Bearer:
    def __init__(self, api_key: str) -> None:
        self._entry = ("authorization", f"Bearer {api_key}")

    async def _call(self, continuation: Any, details: Any, request: Any) -> Any:
        metadata = grpc.aio.Metadata(*tuple(details.metadata or ()), self._entry)
        return await continuation(details._replace(metadata=metadata), request)


class _UnaryUnary(_Bearer, grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        return await self._call(continuation, details, request)


class _UnaryStream(_Bearer, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return await self._call(continuation, details, request)


class _StreamStream(_Bearer, grpc.aio.StreamStreamClientInterceptor):
    async def intercept_stream_stream(self, continuation: Any, details: Any, requests: Any) -> Any:
        return await self._call(continuation, details, requests)


def bearer(api_key: str) -> list[grpc.aio.ClientInterceptor]:
    """Interceptors that let calls carry a key; none for an empty one. The services have no call of a fourth
    kind.

    Raises `ValueError`, which does not show the key.
    """
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise ValueError("an API key is printable ASCII without spaces")
    return [kind(api_key) for kind in (_UnaryUnary, _UnaryStream, _StreamStream)] if api_key else []
