"""Which gateway a command talks to: one that runs already, or that of a stack of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from cli.errors import CommandError
from cli.gateway_client import GatewayClient
from cli.rest import TIMEOUT
from cli.settings import CommandSettings
from cli.tls import tls_context


@dataclass(frozen=True, slots=True)
class Gateway:
    """Where the gateway is, and what only an own stack can do."""

    server: str | None
    """URL of a running one; None starts the embedded stack in this process."""
    data: Path
    """Data of the own stack."""
    log_queries: bool = False
    """Whether audit records are echoed."""
    record: Path | None = None
    """Where model calls are recorded."""
    replay: Path | None = None
    """Where model calls are played back from."""

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[GatewayClient]:
        """A client for the time of a command; an own stack is stopped afterwards."""
        if self.server is not None:
            self._check_nothing_is_for_an_own_stack()
            settings = CommandSettings()
            async with httpx.AsyncClient(
                base_url=_url(self.server),
                timeout=TIMEOUT,
                headers=_authorization(settings),
                verify=tls_context(settings),
            ) as http:
                yield GatewayClient(http)
        else:
            from cli.own_stack import own_stack  # the services are loaded only by those who start them

            async with (
                own_stack(self) as socket,
                httpx.AsyncClient(
                    base_url="http://localhost",
                    timeout=TIMEOUT,
                    transport=httpx.AsyncHTTPTransport(uds=socket),
                ) as http,
            ):
                yield GatewayClient(http)

    def _check_nothing_is_for_an_own_stack(self) -> None:
        if self.log_queries:
            raise CommandError("--log-queries: a server keeps its audit records to itself")
        if self.record or self.replay:
            option = "--record" if self.record else "--replay"
            raise CommandError(f"{option}: a server has settings of its own for that; see docs/models.md")


def _authorization(settings: CommandSettings) -> dict[str, str]:
    """What names the caller; empty without a credential."""
    credential = settings.credential.get_secret_value().strip()
    if not (credential.isascii() and credential.isprintable()):
        raise CommandError(
            "CLAUSEGATE_CREDENTIAL: expected a key as `clausegate keys create` prints it, or a token"
        )
    return {"Authorization": f"Bearer {credential}"} if credential else {}


def _url(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise CommandError(f"--server: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise CommandError(f"--server: expected a URL such as http://127.0.0.1:8000, got {text}")
    return url
