"""What a server asks of its callers: what its settings say of credentials, TLS, limits and the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from chassis.credentials import Credentials, configured_credentials
from chassis.index_key import IndexKeys
from chassis.limits.settings import LimitSettings
from chassis.settings import ProcessSettings
from chassis.tls import Tls


@dataclass(frozen=True, slots=True)
class ServerPolicy:
    """What a server asks of its callers."""

    credentials: Credentials | None = None
    """Says whose a credential is; None: everybody is `LOCAL`, and only local addresses are bound."""
    drain_seconds: float = 0.0
    """How long running calls may go on after a stop was asked for."""
    tls: Tls | None = None
    """What TCP addresses are served with; None: without TLS."""
    index_keys: IndexKeys | None = None
    """By what ingest's own calls are known, where the index is kept; None: they look as their callers' do."""
    limits: LimitSettings = field(default_factory=LimitSettings)
    """How many calls callers make, how long, large and slow."""


LOCAL_POLICY = ServerPolicy()


@asynccontextmanager
async def server_policy(settings: ProcessSettings) -> AsyncIterator[ServerPolicy]:
    """The policy of a process, kept up to date until the context ends. Raises `FileBroken`,
    `IndexKeyBroken` and `TlsBroken`.
    """
    serves_tls = settings.tls_certificate_file is not None
    # Read in any case: a file that cannot be used ends the start, though nobody may be called with it.
    tls = Tls(settings.tls_files(), serves=serves_tls)
    async with configured_credentials(settings) as credentials:
        yield ServerPolicy(
            credentials,
            settings.drain_seconds,
            tls if serves_tls else None,
            settings.index_keys(),
            settings,
        )
