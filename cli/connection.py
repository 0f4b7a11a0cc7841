"""Which gateway a command talks to: one that runs already, or that of a stack of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from cli.gateway_client import TIMEOUT, GatewayClient


@dataclass(frozen=True, slots=True)
class Gateway:
    """Where the gateway is."""

    server: str | None
    """URL of a running one; None starts the embedded stack in this process."""
    data: Path
    """Data of the own stack."""

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[GatewayClient]:
        """A client for the time of a command; an own stack is stopped afterwards."""
        if self.server is not None:
            async with httpx.AsyncClient(base_url=self.server, timeout=TIMEOUT) as http:
                yield GatewayClient(http)
        else:
            from cli.own_stack import own_stack  # the services are loaded only by those who start them

            async with (
                own_stack(self.data) as socket,
                httpx.AsyncClient(
                    base_url="http://localhost",
                    timeout=TIMEOUT,
                    transport=httpx.AsyncHTTPTransport(uds=socket),
                ) as http,
            ):
                yield GatewayClient(http)
