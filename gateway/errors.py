"""What the gateway itself rejects; everything else comes from a service, with its code and reason."""

from __future__ import annotations

from chassis.errors import InvalidInput, NotFound, Unavailable


class MalformedRequest(InvalidInput):
    """The body is not what the route takes: broken JSON, an unknown field, an unpaired surrogate."""

    reason = "MALFORMED_REQUEST"


class BodyTooLarge(MalformedRequest):
    """The body exceeds `GatewaySettings.max_body_bytes`."""

    reason = "MALFORMED_REQUEST"


class UploadTooLarge(InvalidInput):
    """The upload exceeds `GatewaySettings.max_upload_bytes`."""

    reason = "DOCUMENT_TOO_LARGE"


class UnsupportedContentType(InvalidInput):
    """The body is declared as something that the route does not take."""

    reason = "UNSUPPORTED_CONTENT_TYPE"


class RouteNotFound(NotFound):
    """No route has this path."""

    reason = "ROUTE_NOT_FOUND"


class MethodNotAllowed(RouteNotFound):
    """The path exists, but not with this method; `allowed` lists those it has."""

    reason = "ROUTE_NOT_FOUND"

    def __init__(self, message: str, allowed: str) -> None:
        super().__init__(message)
        self.allowed = allowed


class RangeNotSatisfiable(InvalidInput):
    """No byte of the file is within the range."""

    reason = "INVALID_FIELD"

    def __init__(self, size_bytes: int) -> None:
        super().__init__(
            f"The file has {size_bytes:,} bytes, and none of them is in the range.", field="Range"
        )
        self.size_bytes = size_bytes


class HeadTooLarge(InvalidInput):
    """The line and headers of the request exceed `GatewaySettings.max_head_bytes`."""

    reason = "INVALID_FIELD"

    def __init__(self, limit: int) -> None:
        super().__init__(f"The request's line and headers have at most {limit} bytes.")


class ShuttingDown(Unavailable):
    """The gateway stops and the time for running requests is over."""

    reason = "UPSTREAM_UNAVAILABLE"


class ClientGone(Exception):
    """The client hung up before it had its answer."""
