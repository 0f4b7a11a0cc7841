"""The client: one method per thing that a caller may ask of the services; it returns protobuf messages."""

from __future__ import annotations

from collections.abc import Callable

from clausegate.connection import Addresses, Reach, open_channels
from clausegate.library import Library
from clausegate.questions import Questions
from clausegate.searches import Searches
from clausegate.texts import Texts


class Client(Questions, Searches, Library, Texts):
    """See `connect`. Every method raises `ClausegateError` when its call fails."""


def connect(
    address: str | Addresses,
    *,
    credential: str | Callable[[], str] = "",
    ca_certificates: bytes | None = None,
    client_certificate: tuple[bytes, bytes] | None = None,
    deadline_seconds: float = 240.0,
) -> Client:
    """A client of the services at `address`; one address means that all of them listen there.

    Use it as an async context manager. An address is `host:port`, `unix:/path`, or, for TLS as the entrance
    of a cluster offers it, `https://host[:port]` (443). `ca_certificates` (PEM) are trusted then in place of
    the public authorities, and `client_certificate`, a certificate and its key (PEM as well), is shown to who
    asks for one. `credential` is for services that ask who calls: an API key, as `clausegate keys create`
    prints it, or a token (JWT); a function is asked for it with every call, since tokens expire. Without TLS
    it is sent as it is: let no network carry it that others can listen to. `deadline_seconds` bounds each
    call that names no deadline of its own; the default leaves room for two calls of a model.

    Raises `ValueError` for a credential that is not printable ASCII without spaces, and for an address that
    is none of these, such as `http://…`: that is the gateway's, of REST.
    """
    addresses = Addresses(address, address, address) if isinstance(address, str) else address
    reach = Reach(addresses, credential, ca_certificates, client_certificate, deadline_seconds)
    return Client(open_channels(reach))
