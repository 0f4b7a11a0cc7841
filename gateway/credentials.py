"""Who may ask, and on whose behalf services are called: checked before anything of a request is read."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from chassis.addresses import is_loopback
from chassis.auth import AUTHORIZATION, LOCAL, set_caller, set_credential
from chassis.credentials import Credentials
from chassis.errors import InvalidInput, PermissionDenied, ServiceError
from gateway.problems import problem_response

MAX_CREDENTIAL_BYTES = 9_216
"""More than any credential has; with as much and what else a call carries its metadata stays in bounds."""


class Authentication:
    """Middleware that answers 401 without a valid credential, and lets calls of services carry the caller's.

    What the credential opens is asked by the route (`gateway.app`). Services check both again: nobody can go
    round the gateway. Without credentials configured it passes on what it is given, for them to judge, and
    answers 403 to web pages of other machines, see `check_local`.
    """

    def __init__(self, app: ASGIApp, credentials: Credentials | None, open_paths: Collection[str]) -> None:
        """`open_paths` serve everybody, and nothing there is asked on anybody's behalf."""
        self._app = app
        self._credentials = credentials
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, which has a context of its own."""
        if scope["type"] == "http" and scope["path"] not in self._open_paths:
            try:
                if self._credentials is None and scope["client"] is not None:  # None: by a Unix socket
                    check_local(Headers(scope=scope))
                await self._identify(Headers(scope=scope).getlist(AUTHORIZATION))
            except ServiceError as error:
                await problem_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _identify(self, values: list[str]) -> None:
        set_caller(LOCAL if self._credentials is None else await self._credentials.caller_of(values))
        for value in values[:1]:
            if len(value) > MAX_CREDENTIAL_BYTES:
                message = f"Must not be longer than {MAX_CREDENTIAL_BYTES:,} bytes."
                raise InvalidInput(message, field="Authorization")
            if not (value.isascii() and value.isprintable()):  # gRPC could not carry it
                raise InvalidInput("Must be printable ASCII.", field="Authorization")
            set_credential(value)


def check_local(headers: Headers) -> None:
    """Raise `PermissionDenied` unless the request was made for this machine, and not by a page of another.

    A browser on this machine reaches what listens on it for any page that it shows: by a form, or by a name
    of the page's own that is made to point here (DNS rebinding). `Origin` tells the one, `Host` the other.
    """
    named = [f"//{headers['host']}"] if "host" in headers else []
    named += headers.getlist("origin")
    if not all(map(is_of_this_machine, named)):
        raise PermissionDenied(
            "Without credentials requests are made for localhost or 127.0.0.1, by programs of this machine."
        )


def is_of_this_machine(address: str) -> bool:
    """Whether what an `Origin` names, or `//` and a `Host`, is this machine."""
    try:
        return is_loopback(urlsplit(address).hostname or "")
    except ValueError:
        return False
