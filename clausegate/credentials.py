"""The caller's credential, an API key or a token, on every call.

grpc has credentials of a call, but sends them over channels with TLS only. Ours goes along as metadata
therefore, over TLS as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import grpc.aio


class _Bearer:
    def __init__(self, credential: str | Callable[[], str]) -> None:
        self._credential = credential

    async def _call(self, continuation: Any, details: Any, request: Any) -> Any:
        presented = self._credential if isinstance(self._credential, str) else self._credential()
        entry = ("authorization", f"Bearer {presented}")
        metadata = grpc.aio.Metadata(*tuple(details.metadata or ()), entry)
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


def bearer(credential: str | Callable[[], str]) -> list[grpc.aio.ClientInterceptor]:
    """Interceptors that let calls carry a credential, or what a function returns; none for an empty one. The
    services have no call of a fourth kind.

    Raises `ValueError`, which does not show it.
    """
    if isinstance(credential, str) and not re.fullmatch("[!-~]*", credential):
        raise ValueError("a credential is printable ASCII without spaces")
    return [kind(credential) for kind in (_UnaryUnary, _UnaryStream, _StreamStream)] if credential else []
