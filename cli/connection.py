"""Which services a command calls: those of a server that runs already, or of a stack of its own."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chassis.certificates import check_authorities, check_chain, check_key
from chassis.watched_file import read_regular
from clausegate import Addresses, ClausegateError, Client, connect
from cli.errors import CallFailed, CommandError
from cli.settings import CommandSettings

CALL_SECONDS = 630.0
"""Somebody waits as long as services allow, 600 s unless set otherwise: their own limit is to come first,
since it says what was waited for."""
CA = "CLAUSEGATE_CA_FILE"
CERTIFICATE = "CLAUSEGATE_CLIENT_CERTIFICATE_FILE"
KEY = "CLAUSEGATE_CLIENT_KEY_FILE"


@dataclass(frozen=True, slots=True)
class Services:
    """Where the services are, and what only an own stack can do."""

    server: str | None
    """Address of running ones, or three with commas; None starts the embedded stack in this process."""
    data: Path
    """Data of the own stack."""
    log_queries: bool = False
    """Whether audit records are echoed."""
    record: Path | None = None
    """Where model calls are recorded."""
    replay: Path | None = None
    """Where model calls are played back from."""

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Client]:
        """A client for the time of a command; an own stack is stopped afterwards.

        Calls that fail within it end it with `CallFailed`.
        """
        try:
            if self.server is not None:
                self._check_nothing_is_for_an_own_stack()
                async with client_of(self.server, CommandSettings()) as client:
                    yield client
            else:
                from cli.own_stack import own_stack  # the services are loaded only by those who start them

                async with (
                    own_stack(
                        self.data, log_queries=self.log_queries, record=self.record, replay=self.replay
                    ) as address,
                    connect(address, deadline_seconds=CALL_SECONDS) as client,
                ):
                    yield client
        except ClausegateError as error:
            raise CallFailed(error, self.server) from error

    def _check_nothing_is_for_an_own_stack(self) -> None:
        if self.log_queries:
            raise CommandError("--log-queries: a server keeps its audit records to itself")
        if self.record or self.replay:
            option = "--record" if self.record else "--replay"
            raise CommandError(f"{option}: a server has settings of its own for that; see docs/models.md")


def client_of(server: str, settings: CommandSettings) -> Client:
    """A client of running services, with what names the caller and whom it trusts. Raises `CommandError`."""
    credential = settings.credential.get_secret_value().strip()
    if not re.fullmatch("[!-~]*", credential):
        raise CommandError(
            "CLAUSEGATE_CREDENTIAL: expected a key as `clausegate keys create` prints it, or a token"
        )
    authorities, certificate = _authorities(settings), _client_certificate(settings)
    try:
        return connect(
            _addresses(server),
            credential=credential,
            ca_certificates=authorities,
            client_certificate=certificate,
            deadline_seconds=CALL_SECONDS,
        )
    except ValueError as error:
        raise CommandError(f"--server: {error}") from error


def _addresses(server: str) -> Addresses:
    if server.startswith("http://"):
        raise CommandError(
            f"--server: {server} is an address of REST, and commands call the services by gRPC: give "
            "host:port, such as 127.0.0.1:7000, or https://host[:port] for TLS"
        )
    addresses = server.split(",")
    if len(addresses) not in (1, 3):
        raise CommandError("--server: expected one address, or those of ingest, retrieval and answer")
    return Addresses(*(addresses if len(addresses) == 3 else addresses * 3))


def _authorities(settings: CommandSettings) -> bytes | None:
    """Whom TLS trusts; None for the public authorities."""
    if settings.ca_file is None:
        return None
    with _naming(CA, settings.ca_file):
        pem = read_regular(settings.ca_file)
        check_authorities(pem, datetime.now(UTC))
    return pem


def _client_certificate(settings: CommandSettings) -> tuple[bytes, bytes] | None:
    """What is shown to who asks for a certificate, and its key."""
    certificate, key = settings.client_certificate_file, settings.client_key_file
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise CommandError(f"{CERTIFICATE} and {KEY} go together, and one is missing")
    with _naming(CERTIFICATE, certificate):
        chain = read_regular(certificate)
        own = check_chain(chain, datetime.now(UTC))
    with _naming(KEY, key):
        private = read_regular(key)
        check_key(private, own)
    return chain, private


@contextmanager
def _naming(setting: str, file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CommandError(f"{setting}: {file}: {error.strerror}") from error
    except ValueError as error:
        raise CommandError(f"{setting}: {file}: {error}") from error
