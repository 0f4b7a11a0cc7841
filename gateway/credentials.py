"""Who may ask, and on whose behalf services are called: checked before anything of a request is read."""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from chassis.api_keys import ApiKeys
from chassis.auth import AUTHORIZATION, set_credential
from chassis.errors import InvalidInput, ServiceError
from gateway.problems import problem_response


class Credentials:
    """Middleware that answers 401 without a valid key, and lets calls of services carry the caller's.

    Services check it again: nobody can go round the gateway. Without keys it passes on what it is given, for
    them to judge.
    """

    def __init__(self, app: ASGIApp, credentials: ApiKeys | None, open_paths: Collection[str]) -> None:
        """`open_paths` serve everybody, and nothing there is asked on anybody's behalf."""
        self._app = app
        self._credentials = credentials
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, which has a context of its own."""
        if scope["type"] == "http" and scope["path"] not in self._open_paths:
            try:
                self._identify(Headers(scope=scope).getlist(AUTHORIZATION))
            except ServiceError as error:
                await problem_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _identify(self, values: list[str]) -> None:
        if self._credentials is not None:
            self._credentials.caller_of(values)
        for value in values[:1]:
            if not (value.isascii() and value.isprintable()):  # gRPC could not carry it
                raise InvalidInput("Must be printable ASCII.", field="Authorization")
            set_credential(value)
