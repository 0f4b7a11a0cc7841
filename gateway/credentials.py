"""What a request says about its caller, passed on for the services to judge."""

from __future__ import annotations

from starlette.requests import Request

from chassis.errors import InvalidInput


def forwarded_metadata(request: Request) -> list[tuple[str, str]]:
    """The `Authorization` header as gRPC metadata. Raises `InvalidInput` when gRPC could not carry it."""
    value = request.headers.get("authorization")
    if value is None:
        return []
    if not (value.isascii() and value.isprintable()):
        raise InvalidInput("Must be printable ASCII.", field="Authorization")
    return [("authorization", value)]
