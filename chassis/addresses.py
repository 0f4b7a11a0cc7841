"""Addresses a process may bind: any when callers need a credential, else loopback and Unix sockets."""

from __future__ import annotations

import ipaddress

from chassis.errors import CannotStart

UNIX_PATH_LIMIT = 107
"""Bytes of a Unix socket's path on Linux, without the terminating NUL."""


class AddressRefused(CannotStart):
    """The address is malformed, too long, or reachable by others while no credentials are configured."""


def check_bindable(address: str, *, credentials_configured: bool) -> str:
    """Return `address` (`host:port` or `unix:path`) when a process may bind it.

    Raises `AddressRefused` with what to do.
    """
    if address.startswith("unix:"):
        path = address.removeprefix("unix:")
        if not path or len(path.encode()) > UNIX_PATH_LIMIT:
            raise AddressRefused(f"{address}: a Unix socket's path has 1 to {UNIX_PATH_LIMIT} bytes")
        return address
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdecimal() or int(port) > 65535:
        raise AddressRefused(f"{address}: expected host:port or unix:path")
    if not credentials_configured and not is_loopback(host):
        raise AddressRefused(
            f"{address}: without credentials (CLAUSEGATE_API_KEYS_FILE or CLAUSEGATE_JWT_ISSUER) only "
            "loopback and Unix sockets may be bound"
        )
    return address


def is_loopback(host: str) -> bool:
    """Whether a host name or literal can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
