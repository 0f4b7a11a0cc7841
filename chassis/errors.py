"""The errors a service raises on purpose. Each has a gRPC code, a reason and, where it helps, a field.

Here are the codes, and the reasons of what any server may say; others belong to the service that raises them.
"""

from __future__ import annotations


class CannotStart(ValueError):
    """What an operator configured or asked for cannot be done; the message is one line that says why."""


class ServiceError(Exception):
    """Base of every error that may reach a caller; its message is written for that caller.

    Who derives from it gives a reason, or stands for a code and gives that; a reason is never inherited.
    `field` is the path of the request field at fault (`sources[0]`), `retry_after_seconds` is set only where
    trying again can help.
    """

    code: str
    """Canonical name of the gRPC status code."""
    reason: str
    """Name of a `clausegate.rpc.v1.ErrorReason` without its prefix."""
    repeated: bool = False
    """Whether its owner has repeated what can be repeated: channels are told not to do so once more."""

    def __init_subclass__(cls) -> None:
        """Refuse a class that gives neither."""
        if vars(cls).keys().isdisjoint({"code", "reason"}):
            raise TypeError(f"{cls.__name__} gives no reason")

    def __init__(
        self, message: str, *, field: str | None = None, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.retry_after_seconds = retry_after_seconds


class InternalError(ServiceError):
    """A defect of ours; the message tells nothing of it."""

    code = "INTERNAL"
    reason = "INTERNAL"


class InvalidInput(ServiceError):
    """The request is wrong and will be wrong again."""

    code = "INVALID_ARGUMENT"
    reason = "INVALID_FIELD"


class NotFound(ServiceError):
    """What the request names does not exist."""

    code = "NOT_FOUND"


class AlreadyExists(ServiceError):
    """What the request would create is there already."""

    code = "ALREADY_EXISTS"


class Conflict(ServiceError):
    """Another call got in between; repeating is safe."""

    code = "ABORTED"


class Precondition(ServiceError):
    """The system is not in the state the request needs."""

    code = "FAILED_PRECONDITION"


class Unauthenticated(ServiceError):
    """The call carries no valid credential; the message does not say what is wrong with it."""

    code = "UNAUTHENTICATED"
    reason = "UNAUTHENTICATED"


class PermissionDenied(ServiceError):
    """The credential is valid and does not allow the call; the message says what it lacks."""

    code = "PERMISSION_DENIED"
    reason = "PERMISSION_DENIED"


class SourceNotHeld(PermissionDenied):
    """A write to a source that is not among the credential's, whether or not there is anything in it."""

    reason = "PERMISSION_DENIED"

    def __init__(self, source: str, field: str) -> None:
        super().__init__(f"This credential does not hold the source {source}.", field=field)


class IngestOnly(PermissionDenied):
    """A call that the ingest service alone may make, in its own name."""

    reason = "INGEST_ONLY"


class Exhausted(ServiceError):
    """A bounded queue or limit is full."""

    code = "RESOURCE_EXHAUSTED"
    reason = "OVERLOADED"


class Unavailable(ServiceError):
    """Something this process needs does not answer."""

    code = "UNAVAILABLE"
    reason = "UPSTREAM_UNAVAILABLE"


class StorageUnavailable(Unavailable):
    """A disk of this process is full, read-only or broken."""

    reason = "STORAGE_UNAVAILABLE"


class DataLoss(ServiceError):
    """What is stored is not what was stored; repeating does not help."""

    code = "DATA_LOSS"


class DeadlineExceeded(ServiceError):
    """The caller's deadline passed before the work was done."""

    code = "DEADLINE_EXCEEDED"
    reason = "DEADLINE_EXCEEDED"


class Unimplemented(ServiceError):
    """The server does not offer the call; it may be of another version."""

    code = "UNIMPLEMENTED"
    reason = "UNIMPLEMENTED"


class UpstreamError(ServiceError):
    """A failure of a service behind this one, passed on with its own code and reason."""

    reason = "INTERNAL"

    def __init__(
        self,
        message: str,
        *,
        code: str,
        reason: str,
        field: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message, field=field, retry_after_seconds=retry_after_seconds)
        self.code = code
        self.reason = reason
