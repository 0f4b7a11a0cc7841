"""Which gateway a command talks to: one that runs already, or that of a stack of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from cli.errors import CommandError
from cli.gateway_client import TIMEOUT, GatewayClient


@dataclass(frozen=True, slots=True)
class Gateway:
    """Where the gateway is."""

    server: str | None
    """URL of a running one; None starts the embedded stack in this process."""
    data: Path
    """Data of the own stack."""

    @asynccontextmanager
    async def connected(self, *, log_queries: bool = False) -> AsyncIterator[GatewayClient]:
        """A client for the time of a command; an own stack is stopped afterwards.

        `log_queries` echoes audit records. Only an own stack can: they belong to the answer service.
        """
        if self.server is not None and log_queries:
            raise CommandError("--log-queries: a server keeps its audit records to itself")
        if self.server is not None:
            async with httpx.AsyncClient(base_url=_url(self.server), timeout=TIMEOUT) as http:
                yield GatewayClient(http)
        else:
            from cli.own_stack import own_stack  # the services are loaded only by those who start them

            async with (
                own_stack(self.data, log_queries) as socket,
                httpx.AsyncClient(
                    base_url="http://localhost",
                    timeout=TIMEOUT,
                    transport=httpx.AsyncHTTPTransport(uds=socket),
                ) as http,
            ):
                yield GatewayClient(http)


def _url(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise CommandError(f"--server: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise CommandError(f"--server: expected a URL such as http://127.0.0.1:8000, got {text}")
    return url
