"""Certificates for tests over TLS, made by the code of `clausegate dev-certs`, once a session."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from chassis.settings import TlsFiles
from cli.authority import KeyPair, Validity, new_authority, new_client, new_server

NOW = datetime.now(UTC)
HOSTS = ("localhost", "127.0.0.1", "::1")
PAST = Validity(NOW - timedelta(days=2), NOW - timedelta(days=1))


@cache
def pairs() -> Mapping[str, KeyPair]:
    """All certificates with their keys, by name; those that begin with `foreign` are another authority's."""
    valid = Validity.of_days(1, NOW)
    ours, foreign = new_authority("ours", valid), new_authority("foreign", valid)
    return {
        "ca": ours,
        "server": new_server(ours, HOSTS, valid),
        "renewed": new_server(ours, HOSTS, valid),
        "elsewhere": new_server(ours, ["elsewhere.example"], valid),
        "expired": new_server(ours, HOSTS, PAST),
        "client": new_client(ours, "client", valid),
        "foreign-ca": foreign,
        "foreign-server": new_server(foreign, HOSTS, valid),
        "foreign-client": new_client(foreign, "client", valid),
    }


def put(folder: Path, name: str, content: str) -> None:
    """Write the certificate and the key of `content` as those of `name`: each file as a whole."""
    for suffix, pem in (
        ("key", pairs()[content].key_pem()),
        ("pem", pairs()[content].certificate_pem()),
    ):
        staged = folder / f".{name}.{suffix}"
        staged.write_bytes(pem)
        staged.replace(folder / f"{name}.{suffix}")


def files(folder: Path, own: str = "", ca: str = "", *, client_certificates: bool = False) -> TlsFiles:
    """Files in `folder` of a process with certificate `own` that trusts `ca`; neither is there when empty."""
    for name in filter(None, (own, ca)):
        put(folder, name, name)
    return TlsFiles(
        certificate=folder / f"{own}.pem" if own else None,
        key=folder / f"{own}.key" if own else None,
        ca=folder / f"{ca}.pem" if ca else None,
        client_certificates=client_certificates,
    )
